import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { ListToolbar } from './list-toolbar.tsx'

const searchProps = { searchLabel: 'Search users', search: '', onSearch: () => {} }
const onFilter = vi.fn<(values: Record<string, string | number | undefined>) => void>()
const balance = page.getByRole('textbox', { name: 'Balance from' })

async function openFilters() {
  render(
    <ListToolbar
      {...searchProps}
      filters={[
        { name: 'balanceFrom', label: 'Balance from', kind: 'number' },
        { name: 'balanceTo', label: 'Balance to', kind: 'number' },
      ]}
      onFilter={onFilter}
    />,
  )
  await page.getByRole('button', { name: 'Filters' }).click()
}

test('a number filter reads 1e3 as 1000, not as 13', async () => {
  await openFilters()
  await balance.fill('1e3')
  await userEvent.keyboard('{Enter}')
  expect(onFilter).toHaveBeenCalledExactlyOnceWith({ balanceFrom: 1000 })
})

test('a number filter applies on blur, also by a click elsewhere; 1,000,000 is a million', async () => {
  await openFilters()
  await balance.fill('1,000,000')
  await userEvent.tab()
  expect(onFilter).toHaveBeenCalledExactlyOnceWith({ balanceFrom: 1_000_000 })
  await balance.fill('7')
  await userEvent.click(document.body)
  await expect.poll(() => onFilter.mock.lastCall).toEqual([{ balanceFrom: 7 }])
})

test('Escape applies what was typed and closes the pane', async () => {
  await openFilters()
  await balance.fill('7')
  await userEvent.keyboard('{Escape}')
  await expect.element(balance).not.toBeInTheDocument()
  expect(onFilter).toHaveBeenCalledExactlyOnceWith({ balanceFrom: 7 })
})

test('a number filter with other text shows an error and is not applied', async () => {
  await openFilters()
  await balance.fill('1o3')
  await userEvent.keyboard('{Enter}')
  await expect.element(balance).toHaveValue('1o3')
  await expect.element(balance).toHaveAccessibleDescription('Balance from must be a number')
  expect(onFilter).not.toHaveBeenCalled()
})

test.each([
  ['numbers', 'number', 20, 3, 'Amount to is below Amount from'],
  ['days', 'day', '2026-02-01', '2026-01-31', 'Amount to is before Amount from'],
] as const)('a range of %s that ends before it begins says so', async (_what, kind, from, to, problem) => {
  const beginning = { name: 'from', label: 'Amount from' }
  const ends = { name: 'to', label: 'Amount to', kind, beginning }
  const Toolbar = ({ last }: { last: string | number }) => (
    <ListToolbar {...searchProps} filters={[{ ...beginning, kind }, ends]} values={{ from, to: last }} onFilter={onFilter} />
  )
  const rerender = render(<Toolbar last={to} />)
  await page.getByRole('button', { name: /^Filters/ }).click()
  await expect.element(page.getByLabelText('Amount to')).toHaveAccessibleDescription(problem)
  rerender(<Toolbar last={from} />)
  await expect.element(page.getByLabelText('Amount to')).toHaveAccessibleDescription('')
})

test('a hint about the search stands below its box, in a live region', async () => {
  render(<ListToolbar searchLabel="Search users" search="oo" onSearch={() => {}} hint="Two letters are few." />)
  await expect.element(page.getByRole('status')).toHaveTextContent('Two letters are few.')
})

test('a day filter applies once the whole year is typed, not after its first digits', async () => {
  const Filtered = () => {
    const [values, setValues] = useState<Record<string, string | number | undefined>>({})
    const handleFilter = (changed: Record<string, string | number | undefined>) => {
      onFilter(changed)
      setValues(changed)
    }
    return (
      <ListToolbar
        {...searchProps}
        filters={[{ name: 'joinedFrom', label: 'Joined from', kind: 'day' }]}
        values={values}
        onFilter={handleFilter}
      />
    )
  }
  render(<Filtered />)
  await page.getByRole('button', { name: 'Filters' }).click()
  ;(page.getByLabelText('Joined from').element() as HTMLElement).focus()
  await userEvent.keyboard('01022026')
  await expect.element(page.getByLabelText('Joined from')).toHaveValue('2026-01-02')
  expect(onFilter.mock.calls).toEqual([[{ joinedFrom: '2026-01-02' }]])
})

test('chips of filters format days and minutes like all other dates', async () => {
  render(
    <ListToolbar
      {...searchProps}
      filters={[
        { name: 'joinedFrom', label: 'Joined from', kind: 'day' },
        { name: 'doneFrom', label: 'Done from', kind: 'minute' },
      ]}
      values={{ joinedFrom: '2026-11-01', doneFrom: '2026-11-02T00:05' }}
    />,
  )
  await expect.element(page.getByText('Joined from: 11/01/2026', { exact: true })).toBeVisible()
  await expect.element(page.getByText('Done from: 11/02/2026 12:05 AM', { exact: true })).toBeVisible()
})

test('a search has at most 100 characters, counted in code points as the server counts them', async () => {
  const onSearch = vi.fn<(search: string) => void>()
  const Searched = () => {
    const [text, setText] = useState('')
    const handleSearch = (next: string) => {
      onSearch(next)
      setText(next)
    }
    return <ListToolbar {...searchProps} search={text} onSearch={handleSearch} />
  }
  render(<Searched />)
  const search = page.getByRole('searchbox', { name: 'Search users' })
  await search.fill('😀'.repeat(101))
  await expect.element(search).toHaveValue('😀'.repeat(100))
  await userEvent.keyboard('{Enter}')
  await expect.poll(() => onSearch.mock.calls).toEqual([['😀'.repeat(100)]])
})
