import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { SearchSelect } from './search-select.tsx'

const onChange = vi.fn<(value: string | undefined) => void>()
const field = page.getByRole('combobox', { name: 'Item' })
const options = [
  { value: '1', label: 'Follow us on X', detail: 'Social Task' },
  { value: '2', label: 'Spin the wheel', detail: 'Daily Task' },
  { value: '3', label: 'Señor Arcade', detail: 'Announcement' },
]

function Example({ initial }: { initial?: string }) {
  const [value, setValue] = useState(initial)
  const handleChange = (next: string | undefined) => {
    onChange(next)
    setValue(next)
  }
  return (
    <SearchSelect
      label="Item"
      value={value}
      options={options}
      onChange={handleChange}
      placeholder="Any item"
      emptyText="No item matches."
    />
  )
}

test('a text narrows the options down, also by the detail and without accents; Enter chooses', async () => {
  render(<Example />)
  await userEvent.click(field)
  await expect.element(page.getByRole('option')).toHaveLength(3)
  await userEvent.keyboard('senor ann')
  await expect.element(page.getByRole('option')).toHaveLength(1)
  await userEvent.keyboard('{Enter}')
  expect(onChange).toHaveBeenCalledExactlyOnceWith('3')
  await expect.element(field).toHaveValue('Señor Arcade')
  await expect.element(page.getByRole('option')).not.toBeInTheDocument()
})

test('arrows move through the options, which the field names to assistive technology; a click chooses', async () => {
  render(<Example />)
  await userEvent.tab()
  await userEvent.keyboard('{ArrowDown}{ArrowDown}{ArrowUp}{ArrowUp}')
  const last = page.getByRole('option', { name: 'Señor Arcade Announcement' })
  expect(field.element().getAttribute('aria-activedescendant')).toBe(last.element().id)
  await userEvent.click(page.getByRole('option', { name: 'Spin the wheel Daily Task' }))
  expect(onChange).toHaveBeenLastCalledWith('2')
  await expect.element(field).toHaveFocus()
})

test('Escape closes the list and leaves the choice; the event does not reach the pane around it', async () => {
  const onKey = vi.fn<(key: string) => void>()
  render(
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- stands for a pane that Escape closes
    <div onKeyDown={({ key }) => onKey(key)}>
      <Example initial="1" />
    </div>,
  )
  await userEvent.click(field)
  await userEvent.keyboard('whe{Escape}')
  await expect.element(field).toHaveValue('Follow us on X')
  expect(onKey).not.toHaveBeenCalledWith('Escape')
  await userEvent.keyboard('{Escape}')
  expect(onKey).toHaveBeenCalledWith('Escape')
})

test('an emptied field chooses nothing, by Enter and by leaving it', async () => {
  render(<Example initial="1" />)
  await field.fill('')
  await userEvent.keyboard('{Enter}')
  expect(onChange).toHaveBeenLastCalledWith(undefined)
  await userEvent.keyboard('wheel{Enter}')
  expect(onChange).toHaveBeenLastCalledWith('2')
  await field.fill('')
  await userEvent.tab()
  expect(onChange).toHaveBeenLastCalledWith(undefined)
})

test('without a match it says so, and Enter changes nothing', async () => {
  render(<Example initial="1" />)
  await field.fill('nothing like it')
  await expect.element(page.getByText('No item matches.')).toBeVisible()
  onChange.mockClear()
  await userEvent.keyboard('{Enter}')
  expect(onChange).not.toHaveBeenCalled()
  await expect.element(field).toHaveValue('Follow us on X')
})
