import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { Pager } from './pager.tsx'

const position = page.getByText(/^Page /)

test('§2 the pager shows the page and the number of pages', async () => {
  render(<Pager pager="prev-next" paging={{ page: 3, pageSize: 5, pageCount: 2000 }} onPageChange={() => {}} />)
  await expect.element(position).toMatchTextContent(/^Page 3 of 2,000$/)
})

test('Lists: a list that was not counted to its end offers pages beyond the counted ones', async () => {
  const paging = { page: 2001, pageSize: 5, pageCount: 2000, isMore: true }
  render(<Pager pager="prev-next" paging={paging} onPageChange={() => {}} />)
  await expect.element(position).toMatchTextContent(/^Page 2,001 of more than 2,000$/)
})
