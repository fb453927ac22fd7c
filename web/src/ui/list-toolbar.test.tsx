import { expect, test, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { ListToolbar } from './list-toolbar.tsx'

const onFilter = vi.fn<(values: Record<string, string | number | undefined>) => void>()
const balance = page.getByRole('textbox', { name: 'Balance from' })

async function openFilters() {
  render(
    <ListToolbar
      searchLabel="Search users"
      search=""
      onSearch={() => {}}
      filters={[{ name: 'balanceFrom', label: 'Balance from', kind: 'number' }]}
      onFilter={onFilter}
    />,
  )
  await page.getByRole('button', { name: 'Filters' }).click()
}

test('a filter by a number takes what is typed: 1e3 is 1000 and not 13', async () => {
  await openFilters()
  await balance.fill('1e3')
  await userEvent.keyboard('{Enter}')
  expect(onFilter).toHaveBeenCalledExactlyOnceWith({ balanceFrom: 1000 })
})

test('a filter by what is no number says so and asks for nothing', async () => {
  await openFilters()
  await balance.fill('1o3')
  await userEvent.keyboard('{Enter}')
  await expect.element(balance).toHaveValue('1o3')
  await expect.element(balance).toHaveAccessibleDescription('Balance from must be a number')
  expect(onFilter).not.toHaveBeenCalled()
})

test('what is worth knowing about a search stands below its box and is told', async () => {
  render(<ListToolbar searchLabel="Search users" search="oo" onSearch={() => {}} hint="Two letters are few." />)
  await expect.element(page.getByRole('status')).toHaveTextContent('Two letters are few.')
})
