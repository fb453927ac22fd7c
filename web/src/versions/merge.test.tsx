/** Merging two versions: a field changed on one side needs no choice; a field changed on both starts with the user’s own value. */
import { expect, test, vi } from 'vitest'
import { page } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { MergeVersions } from './merge.tsx'

const base = { title: 'First', reward: 5, link: '', type: 'twitter' }
const newer = {
  base,
  record: { id: '1', version: 2 },
  by: { name: 'Bo Boss', at: '2026-11-22T10:00:00.000Z' },
  otherChanges: {},
  theirs: { title: 'Theirs', reward: 8, link: null, type: 'moreLink' },
}

function open(typed: Record<string, unknown>, otherChanges: Record<string, [unknown, unknown]> = {}) {
  const form = { ...typed }
  const onChoose = vi.fn<(name: string, value: unknown) => void>((name, value) => {
    form[name] = value
  })
  const merge = { kind: 'socialTask', decides: { type: ['link'] }, newer: { ...newer, otherChanges } } as const
  render(<MergeVersions merge={merge} formValues={() => ({ ...form })} onChoose={onChoose} />)
  return { form, onChoose }
}

const choice = (field: string, name: string) => page.getByRole('group', { name: field }).getByRole('radio', { name })
const part = (name: string) => page.getByRole('region', { name }).element().textContent

test('a field changed on one side takes that value and is listed; one changed on both starts with mine', async () => {
  const { form } = open({ ...base, title: 'Mine', verifiedByBot: true })
  await expect.element(page.getByRole('heading', { name: 'Two versions' })).toHaveFocus()
  await expect.poll(() => part('Bo Boss changed')).toBe('Bo Boss changedTypeTwitter→WebsiteReward5→8')
  await expect.poll(() => part('You changed')).toBe('You changedVerified by the botYes')
  expect(page.getByRole('group').elements()).toHaveLength(1)
  await expect.element(choice('Title', 'Mine Mine')).toBeChecked()
  expect(form).toEqual({ ...base, title: 'Mine', reward: 8, type: 'moreLink', verifiedByBot: true })
})

test('a choice changes the form at once, is shown in the field’s words, and can be undone', async () => {
  const { form } = open({ ...base, title: 'Mine', type: 'instagram' })
  await choice('Title', 'Theirs Theirs').click()
  await choice('Type', 'Theirs Website').click()
  expect(form).toMatchObject({ title: 'Theirs', reward: 8, type: 'moreLink' })
  await choice('Title', 'Mine Mine').click()
  await choice('Type', 'Mine Instagram').click()
  expect(form).toMatchObject({ title: 'Mine', reward: 8, type: 'instagram' })
})

test('a field that the other type does not use is restored with its type', async () => {
  const { form, onChoose } = open({ ...base, type: 'email', link: 'https://x.com' })
  await choice('Type', 'Theirs Website').click()
  expect(form).toMatchObject({ type: 'moreLink', link: 'https://x.com' })
  form['link'] = ''
  await choice('Type', 'Mine Email').click()
  expect(onChoose).toHaveBeenLastCalledWith('link', 'https://x.com')
})

test('a field that I have cleared stays empty when another one is chosen', async () => {
  const { form } = open({ ...base, title: 'Mine', type: 'instagram' })
  form['title'] = ''
  await choice('Type', 'Theirs Website').click()
  expect(form).toMatchObject({ title: '', type: 'moreLink' })
})

test('a field that I changed is not lost when somebody else changes the type: I choose', async () => {
  open({ ...base, link: 'https://x.com' })
  await expect.element(choice('Type', 'Theirs Website')).toBeChecked()
  await expect.element(choice('Link', 'Mine https://x.com')).toBeChecked()
  expect(page.getByRole('group').elements()).toHaveLength(2)
})

test('changes of fields outside the form are listed', async () => {
  open({ title: 'Theirs', reward: 8, type: 'moreLink' }, { priority: [1, 2] })
  await expect.poll(() => part('Bo Boss changed')).toBe('Bo Boss changedPriority1→2')
  await expect.element(page.getByText(/Both say the same/)).not.toBeInTheDocument()
})

test('two equal versions leave nothing to choose', async () => {
  open({ title: 'Theirs', reward: 8, type: 'moreLink' })
  await expect.element(page.getByText(/Both say the same/)).toBeVisible()
  expect(page.getByRole('group').elements()).toHaveLength(0)
})
