/** Two versions of a record side by side: what one has not touched is theirs, what one has is one's own, until one chooses. */
import { expect, test, vi } from 'vitest'
import { page } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { MergeVersions } from './merge.tsx'

const base = { title: 'First', reward: 5, link: '', type: 'twitter' }
const theirs = {
  base,
  record: { id: '1', version: 2 },
  by: { name: 'Bo Boss', at: '2026-11-22T10:00:00.000Z' },
  values: { title: 'Theirs', reward: 8, link: null, type: 'moreLink' },
}

function open(typed: Record<string, unknown>) {
  const form = { ...typed }
  const onChoose = vi.fn<(name: string, value: unknown) => void>((name, value) => {
    form[name] = value
  })
  render(<MergeVersions merge={{ kind: 'socialTask', theirs }} mine={() => ({ ...form })} onChoose={onChoose} />)
  return { form, onChoose }
}

const choice = (field: string, name: string) => page.getByRole('group', { name: field }).getByRole('radio', { name })

test('only fields that differ are there; each begins with the side that changed it, one’s own where both did', async () => {
  const { form } = open({ ...base, title: 'Mine', type: 'moreLink' })
  await expect.element(page.getByRole('heading', { name: 'Two versions' })).toHaveFocus()
  await expect.element(page.getByText('Bo Boss')).toBeVisible()
  expect(page.getByRole('group').elements()).toHaveLength(2)
  await expect.element(choice('Title', 'Mine Mine')).toBeChecked()
  await expect.element(choice('Reward', 'Theirs 8')).toBeChecked()
  expect(form).toEqual({ ...base, title: 'Mine', reward: 8, type: 'moreLink' })
})

test('what is chosen stands in the form at once, in the words of the field beside the choice, and can be taken back', async () => {
  const { form } = open({ ...base, title: 'Mine' })
  await expect.element(choice('Type', 'Theirs Website')).toBeChecked()
  await choice('Title', 'Theirs Theirs').click()
  expect(form).toMatchObject({ title: 'Theirs', type: 'moreLink' })
  await choice('Title', 'Mine Mine').click()
  await choice('Type', 'Mine Twitter').click()
  expect(form).toMatchObject({ title: 'Mine', reward: 8, type: 'twitter' })
})

test('a field that the other type has no use for comes back with its type', async () => {
  const { form, onChoose } = open({ ...base, type: 'email', link: 'https://x.com' })
  await choice('Type', 'Theirs Website').click()
  expect(form).toMatchObject({ type: 'moreLink', link: 'https://x.com' })
  form['link'] = ''
  await choice('Type', 'Mine Email').click()
  expect(onChoose).toHaveBeenLastCalledWith('link', 'https://x.com')
})

test('where both say the same there is nothing to choose', async () => {
  open({ title: 'Theirs', reward: 8, type: 'moreLink' })
  await expect.element(page.getByText(/Both say the same/)).toBeVisible()
  expect(page.getByRole('group').elements()).toHaveLength(0)
})
