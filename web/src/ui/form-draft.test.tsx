import { expect, test, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { z } from 'zod'
import { render, unmountAll } from '#src/testing/render.tsx'
import { DraftOwner, dropPersonsDrafts } from './drafts.ts'
import { DraftOffer, useDraftForm } from './form-draft.tsx'
import { NumberField } from './form-number.tsx'
import { Form, PasswordField, SelectField, SubmitButton, TextField } from './form.tsx'
import { hasUnsavedWork } from './unsaved.ts'

const schema = z.object({
  title: z.string(),
  type: z.string().optional(),
  reward: z.number().optional().or(z.literal('')),
  password: z.string().optional(),
})

interface SampleProps {
  name?: string
  basis?: number
  values?: z.input<typeof schema>
}

function Sample({ name = 'task new', basis, values = { title: '' } }: SampleProps) {
  const form = useDraftForm(async () => schema, values, { name, basis })
  const handleSubmit = async () => form.finish()
  return (
    <>
      <DraftOffer offer={form.offer} />
      <Form form={form} onSubmit={handleSubmit} label="Task">
        <TextField control={form.control} name="title" label="Title" />
        <SelectField
          control={form.control}
          name="type"
          label="Type"
          placeholder="Select a type"
          options={[{ value: 'link', label: 'Link' }]}
        />
        <NumberField control={form.control} name="reward" label="Reward" />
        <PasswordField control={form.control} name="password" label="Password" autoComplete="new-password" />
        <SubmitButton>Save</SubmitButton>
      </Form>
    </>
  )
}

/** Remounts the form, as when the user returns to it. */
function visit(props: SampleProps = {}, owner = 'ada'): void {
  unmountAll()
  render(
    <DraftOwner value={owner}>
      <Sample {...props} />
    </DraftOwner>,
  )
}

const title = page.getByLabelText('Title')
const reward = page.getByLabelText('Reward')
const offer = page.getByText(/^Unsaved draft/)
const savedNow = page.getByText(/Somebody else has changed this, too/)
const useDraft = page.getByRole('button', { name: 'Use Draft' })
const discardDraft = page.getByRole('button', { name: 'Discard Draft' })

test('a form without a draft offers none and has no unsaved work', async () => {
  visit()
  await expect.element(title).toBeVisible()
  await expect.element(offer).not.toBeInTheDocument()
  expect(hasUnsavedWork()).toBe(false)
})

test('input is offered as a draft when the form is opened again, and filled in only on request', async () => {
  visit()
  await title.fill('Follow us')
  await page.getByLabelText('Type').selectOptions('link')
  await reward.fill('12.5')
  visit()
  await expect.element(offer).toBeVisible()
  await expect.element(title).toHaveValue('')
  expect(hasUnsavedWork()).toBe(false)
  await useDraft.click()
  await expect.element(title).toHaveValue('Follow us')
  await expect.element(title).toHaveFocus()
  await expect.element(page.getByLabelText('Type')).toHaveValue('link')
  await expect.element(reward).toHaveValue('12.5')
  await expect.element(offer).not.toBeInTheDocument()
  expect(hasUnsavedWork()).toBe(true)
})

test('a discarded draft is deleted', async () => {
  visit()
  await title.fill('Follow us')
  visit()
  await discardDraft.click()
  await expect.element(offer).not.toBeInTheDocument()
  visit()
  await expect.element(title).toBeVisible()
  await expect.element(offer).not.toBeInTheDocument()
})

test('saving deletes the draft', async () => {
  visit()
  await title.fill('Follow us')
  expect(hasUnsavedWork()).toBe(true)
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.element(title).toHaveValue('')
  expect(hasUnsavedWork()).toBe(false)
  expect(localStorage).toHaveLength(0)
})

test('input that was undone leaves no draft and no unsaved work', async () => {
  visit({ name: 'task 7', values: { title: 'Follow us', reward: 5 } })
  await title.fill('Follow them')
  await reward.fill('')
  await expect.element(reward).toHaveValue('')
  expect(hasUnsavedWork()).toBe(true)
  await title.fill('Follow us')
  await reward.fill('5')
  expect(hasUnsavedWork()).toBe(false)
  expect(localStorage).toHaveLength(0)
})

test('a cleared field is empty in the draft', async () => {
  const task = { name: 'task 7', values: { title: 'Follow us', type: 'link', reward: 5 } }
  visit(task)
  await title.fill('')
  await reward.fill('')
  visit(task)
  await expect.element(title).toHaveValue('Follow us')
  await useDraft.click()
  await expect.element(title).toHaveValue('')
  await expect.element(reward).toHaveValue('')
  await expect.element(page.getByLabelText('Type')).toHaveValue('link')
})

test('using a draft keeps the current input as another draft, so that the two can be swapped', async () => {
  visit()
  await title.fill('The first')
  visit()
  await title.fill('The second')
  await useDraft.click()
  await expect.element(title).toHaveValue('The first')
  await expect.element(offer).toBeVisible()
  await useDraft.click()
  await expect.element(title).toHaveValue('The second')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.element(title).toHaveValue('')
  // The draft still on offer was neither used nor discarded.
  await useDraft.click()
  await expect.element(title).toHaveValue('The first')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.element(title).toHaveValue('')
  expect(localStorage).toHaveLength(0)
})

test('two drafts are offered one after the other, newest first', async () => {
  visit()
  await title.fill('The first')
  visit()
  await title.fill('The second')
  visit()
  await useDraft.click()
  await expect.element(title).toHaveValue('The second')
  await useDraft.click()
  await expect.element(title).toHaveValue('The first')
})

test('a draft of an older version says so', async () => {
  visit({ name: 'task 7', basis: 1 })
  await title.fill('Follow us')
  visit({ name: 'task 7', basis: 1 })
  await expect.element(offer).not.toMatchTextContent('changed')
  visit({ name: 'task 7', basis: 2 })
  await expect.element(offer).toMatchTextContent('The saved version has changed since.')
})

test('a draft restores only the fields changed in it; other fields keep what somebody else saved', async () => {
  visit({ name: 'task 7', basis: 1, values: { title: 'Follow us', type: 'link', reward: 5 } })
  await title.fill('Follow them')
  visit({ name: 'task 7', basis: 2, values: { title: 'Follow us', reward: 8 } })
  await useDraft.click()
  await expect.element(title).toHaveValue('Follow them')
  await expect.element(reward).toHaveValue('8')
  await expect.element(page.getByLabelText('Type')).toHaveValue('')
  await expect.element(savedNow).not.toBeInTheDocument()
})

test('a field changed on both sides shows the saved value, also after another visit', async () => {
  visit({ name: 'task 7', basis: 1, values: { title: 'Follow us', reward: 5 } })
  await title.fill('Follow them')
  for (const visits of [1, 2]) {
    visit({ name: 'task 7', basis: 2, values: { title: 'Follow all', reward: 8 } })
    await useDraft.click()
    await expect.element(title).toHaveValue('Follow them')
    await expect.element(savedNow).toMatchTextContent('Saved now: Follow all')
    await expect.element(reward).toHaveValue('8')
    await reward.fill(String(10 + visits))
    await reward.fill('8')
  }
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.element(savedNow).not.toBeInTheDocument()
})

test('a draft without its initial values restores all fields', async () => {
  const values = { title: 'Follow them', type: 'link', reward: 5 }
  const draft = { id: '1', at: '2026-11-22T10:00:00.000Z', basis: 1, values }
  localStorage.setItem('draft ada task 7', JSON.stringify([draft]))
  visit({ name: 'task 7', basis: 2, values: { title: 'Follow us', reward: 8 } })
  await useDraft.click()
  await expect.element(title).toHaveValue('Follow them')
  await expect.element(reward).toHaveValue('5')
})

test('drafts belong to one user and one item', async () => {
  visit({ name: 'task 7' })
  await title.fill('Follow us')
  visit({ name: 'task 8' })
  await expect.element(title).toBeVisible()
  await expect.element(offer).not.toBeInTheDocument()
  visit({ name: 'task 7' }, 'bob')
  await expect.element(title).toBeVisible()
  await expect.element(offer).not.toBeInTheDocument()
  visit({ name: 'task 7' })
  await expect.element(offer).toBeVisible()
})

test('signing out deletes only that user’s drafts', async () => {
  visit()
  await title.fill('Of Ada')
  visit({}, 'bob')
  await title.fill('Of Bob')
  unmountAll()
  dropPersonsDrafts('ada')
  visit()
  await expect.element(title).toBeVisible()
  await expect.element(offer).not.toBeInTheDocument()
  visit({}, 'bob')
  await expect.element(offer).toBeVisible()
})

test('a password counts as unsaved work but is in no draft', async () => {
  visit()
  await page.getByLabelText('Password').fill('secret1')
  expect(hasUnsavedWork()).toBe(true)
  expect(localStorage).toHaveLength(0)
  await title.fill('Follow us')
  expect(JSON.stringify(localStorage)).not.toContain('secret1')
})

test('an unmounted form has no unsaved work', async () => {
  visit()
  await title.fill('Follow us')
  expect(hasUnsavedWork()).toBe(true)
  unmountAll()
  expect(hasUnsavedWork()).toBe(false)
})

test('without storage there are no drafts, and the form works', async () => {
  vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
    throw new DOMException('no room', 'QuotaExceededError')
  })
  visit()
  await title.fill('Follow us')
  await userEvent.tab()
  await expect.element(title).toHaveValue('Follow us')
  expect(hasUnsavedWork()).toBe(true)
})
