import { playerList } from '@arcade/contract/players/fields'
import { readGroups } from '@arcade/contract/filter-values'
import { useEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import { expect, test, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { FilterGroups } from './filter-groups.tsx'
import type { FilterValue, GroupsFilter } from './filter-words.ts'
import { toolbarFilters } from './toolbar-filters.ts'

const filter = toolbarFilters(playerList).find((one): one is GroupsFilter => one.kind === 'groups')!
const onChange = vi.fn<(value: FilterValue) => void>()
const group = (number: number) => page.getByRole('group', { name: `Group ${number}`, exact: true })
const reported = () => JSON.parse(String(onChange.mock.lastCall?.[0])) as unknown

/** Returns a function that changes the filter from outside. */
function renderGroups(initial?: string) {
  const setter: { current: (value: FilterValue) => void } = { current: () => {} }
  function Example() {
    const [value, setValue] = useState<FilterValue>(initial)
    useEffect(() => {
      setter.current = setValue
    }, [])
    const handleChange = (next: FilterValue) => {
      onChange(next)
      // The address keeps the groups as the contract writes them.
      setValue(next === undefined ? undefined : JSON.stringify(readGroups(playerList, String(next))))
    }
    return <FilterGroups filter={filter} value={value} onChange={handleChange} />
  }
  render(<Example />)
  return (value: FilterValue) => flushSync(() => setter.current(value))
}

test('a group is built by keyboard: its first condition gets the focus, and only complete conditions are reported', async () => {
  renderGroups()
  await userEvent.click(page.getByRole('button', { name: 'Add a group' }))
  const add = group(1).getByRole('combobox', { name: 'Add a condition to Group 1' })
  await expect.element(add).toHaveFocus()
  expect(onChange).not.toHaveBeenCalled()
  await userEvent.selectOptions(add, 'Seen within days')
  await expect.element(group(1).getByRole('textbox', { name: 'Seen within days' })).toHaveFocus()
  expect(onChange).not.toHaveBeenCalled()
  await userEvent.keyboard('30{Enter}')
  expect(reported()).toEqual([{ seenDays: 30 }])
  await userEvent.selectOptions(add, 'Balance from')
  await userEvent.keyboard('1,000{Enter}')
  expect(reported()).toEqual([{ balanceMin: 1000, seenDays: 30 }])
})

test('an unfinished group stays while another one is completed', async () => {
  renderGroups('[{"has":"wallet"}]')
  await userEvent.click(page.getByRole('button', { name: 'Or another group' }))
  await userEvent.click(group(1).getByRole('checkbox', { name: 'Email' }))
  expect(reported()).toEqual([{ has: 'email,wallet' }])
  await expect.element(group(2)).toBeVisible()
  await userEvent.selectOptions(group(2).getByRole('combobox', { name: 'Add a condition to Group 2' }), 'Status')
  await userEvent.selectOptions(group(2).getByRole('combobox', { name: 'Status' }), 'Not blocked')
  expect(reported()).toEqual([{ has: 'email,wallet' }, { status: 'unblocked' }])
})

test('conditions and groups are removed; without any the filter is gone', async () => {
  renderGroups('[{"balanceMin":5,"wallet":"ton"},{"joinedDays":7}]')
  await userEvent.click(group(1).getByRole('button', { name: 'Remove Balance from of Group 1' }))
  expect(reported()).toEqual([{ wallet: 'ton' }, { joinedDays: 7 }])
  await userEvent.click(page.getByRole('button', { name: 'Remove Group 1' }))
  expect(reported()).toEqual([{ joinedDays: 7 }])
  await userEvent.click(page.getByRole('button', { name: 'Remove Group 1' }))
  expect(onChange).toHaveBeenLastCalledWith(undefined)
})

test('a filter that is changed elsewhere replaces what is shown', async () => {
  const set = renderGroups('[{"balanceMin":5}]')
  set('[{"status":"blocked"}]')
  await expect.element(group(1).getByRole('combobox', { name: 'Status' })).toHaveValue('blocked')
  set(undefined)
  await expect.element(page.getByRole('group', { name: 'Group 1', exact: true })).not.toBeInTheDocument()
})

test('a wrong number of days is not reported', async () => {
  renderGroups('[{"seenDays":30}]')
  const days = group(1).getByRole('textbox', { name: 'Seen within days' })
  await days.fill('0')
  await userEvent.keyboard('{Enter}')
  await expect.element(days).toHaveAccessibleDescription('1 to 3,650 days')
  expect(onChange).not.toHaveBeenCalled()
})

test('eight groups are the most', async () => {
  renderGroups(JSON.stringify(Array.from({ length: 8 }, (_, index) => ({ balanceMin: index }))))
  await expect.element(group(8)).toBeVisible()
  await expect.element(page.getByRole('button', { name: 'Or another group' })).not.toBeInTheDocument()
})
