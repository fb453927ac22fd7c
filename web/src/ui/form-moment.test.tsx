import { expect, test, vi } from 'vitest'
import { page } from 'vitest/browser'
import { z } from 'zod'
import { render } from '#src/testing/render.tsx'
import { MomentField } from './form-moment.tsx'
import { Form, SubmitButton, useForm } from './form.tsx'

const schema = z.object({ startsAt: z.union([z.literal(''), z.iso.datetime('Starts At must be a time')]) })

type OnSubmit = (values: { startsAt: string }) => Promise<void>

interface SampleProps {
  onSubmit?: OnSubmit
  first?: string
  zone?: string
}

function Sample({ onSubmit = async () => {}, first = '', zone = 'Europe/Berlin' }: SampleProps) {
  const form = useForm(async () => schema, { startsAt: first })
  return (
    <Form form={form} onSubmit={onSubmit} label="Task">
      <MomentField
        control={form.control}
        name="startsAt"
        label="Starts At"
        zone={zone}
        note={(at) => (at < Date.parse('2026-01-01T00:00:00Z') ? 'in the past' : undefined)}
      />
      <SubmitButton>Save</SubmitButton>
    </Form>
  )
}

const field = page.getByLabelText('Starts At')
const save = page.getByRole('button', { name: 'Save' })

async function saved(onSubmit: ReturnType<typeof vi.fn<OnSubmit>>): Promise<unknown> {
  await save.click()
  await expect.poll(() => onSubmit.mock.calls.length).toBe(1)
  return onSubmit.mock.calls[0]
}

test('a moment is entered in the zone, which is named, with the same in UTC beside', async () => {
  const onSubmit = vi.fn<OnSubmit>(async () => {})
  render(<Sample onSubmit={onSubmit} />)
  await expect.element(field).toHaveAccessibleDescription('Europe/Berlin')
  await field.fill('2026-11-27T18:00')
  await expect.element(field).toHaveAccessibleDescription('Europe/Berlin (UTC+1) · 11/27/2026 05:00 PM UTC')
  await field.fill('2026-07-01T00:30')
  await expect.element(field).toHaveAccessibleDescription('Europe/Berlin (UTC+2) · 06/30/2026 10:30 PM UTC')
  expect(await saved(onSubmit)).toEqual([{ startsAt: '2026-06-30T22:30:00.000Z' }])
})

test('a zone that is UTC is named once, and a note follows', async () => {
  render(<Sample zone="UTC" first="2025-11-27T18:00:00.000Z" />)
  await expect.element(field).toHaveValue('2025-11-27T18:00')
  await expect.element(field).toHaveAccessibleDescription('UTC · in the past')
})

test('a moment that is not changed keeps its seconds, and an empty field is none', async () => {
  const onSubmit = vi.fn<OnSubmit>(async () => {})
  render(<Sample onSubmit={onSubmit} first="2026-11-27T17:00:12.345Z" />)
  await expect.element(field).toHaveValue('2026-11-27T18:00')
  expect(await saved(onSubmit)).toEqual([{ startsAt: '2026-11-27T17:00:12.345Z' }])
  await field.fill('')
  await save.click()
  await expect.poll(() => onSubmit.mock.calls.at(-1)).toEqual([{ startsAt: '' }])
})

test('a time that a clock change leaves out is said and not saved', async () => {
  const onSubmit = vi.fn<OnSubmit>(async () => {})
  render(<Sample onSubmit={onSubmit} />)
  await field.fill('2026-03-29T02:30')
  await expect.element(page.getByText('There is no such time')).toBeVisible()
  await expect
    .element(field)
    .toHaveAccessibleDescription(/On this day the clock goes from 02:00 AM to 03:00 AM, so there is no 02:30 AM\./)
  await expect.element(field).toHaveValue('2026-03-29T02:30')
  await save.click()
  await expect.element(field).toHaveFocus()
  expect(onSubmit).not.toHaveBeenCalled()
  await field.fill('2026-03-29T03:30')
  await expect.element(page.getByText('There is no such time')).not.toBeInTheDocument()
  expect(await saved(onSubmit)).toEqual([{ startsAt: '2026-03-29T01:30:00.000Z' }])
})

test('of a time that comes twice, the operator chooses one; the first is the default', async () => {
  const onSubmit = vi.fn<OnSubmit>(async () => {})
  render(<Sample onSubmit={onSubmit} />)
  await field.fill('2026-10-25T02:30')
  const choice = page.getByRole('group', { name: 'On this day the clock goes back, so 02:30 AM comes twice.' })
  await expect.element(choice.getByRole('radio', { name: 'The first (UTC+2)' })).toBeChecked()
  await expect.element(field).toHaveAccessibleDescription(/12:30 AM UTC/)
  await choice.getByRole('radio', { name: 'The second (UTC+1)' }).click()
  await expect.element(field).toHaveAccessibleDescription(/01:30 AM UTC/)
  await expect.element(field).toHaveValue('2026-10-25T02:30')
  expect(await saved(onSubmit)).toEqual([{ startsAt: '2026-10-25T01:30:00.000Z' }])
})

test('a saved moment that comes twice shows which of the two it is', async () => {
  render(<Sample first="2026-10-25T01:30:00.000Z" />)
  await expect.element(page.getByRole('radio', { name: 'The second (UTC+1)' })).toBeChecked()
})
