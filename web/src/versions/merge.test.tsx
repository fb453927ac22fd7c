/** Two versions of a record side by side: what one has not touched is theirs, what one has is one's own, until one chooses. */
import { expect, test, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { MergeVersions } from './merge.tsx'

const base = { title: 'First', reward: 5, link: '', type: 'twitter' }
const theirs = {
  record: { id: '1', version: 2 },
  by: { name: 'Bo Boss', at: '2026-11-22T10:00:00.000Z' },
  values: { title: 'Theirs', reward: 8, link: null, type: 'moreLink' },
}

function open(mine: Record<string, unknown>) {
  const calls = {
    onChoose: vi.fn<(name: string, value: unknown) => void>(),
    onSave: vi.fn<() => void>(),
    accept: vi.fn<() => void>(),
  }
  const { onChoose, onSave, accept } = calls
  const merge = { kind: 'socialTask', theirs, base: () => base, accept } as const
  render(<MergeVersions merge={merge} mine={() => mine} onChoose={onChoose} onSave={onSave} />)
  return calls
}

const choice = (field: string, name: string) => page.getByRole('group', { name: field }).getByRole('radio', { name })

test('only fields that differ are there; each begins with the side that changed it, one’s own where both did', async () => {
  const { onChoose, onSave, accept } = open({ ...base, title: 'Mine', type: 'moreLink' })
  await expect.element(page.getByRole('heading', { name: 'Two versions' })).toHaveFocus()
  await expect.element(page.getByText('Bo Boss')).toBeVisible()
  expect(page.getByRole('group').elements()).toHaveLength(2)
  await expect.element(choice('Title', 'Mine Mine')).toBeChecked()
  await expect.element(choice('Reward', 'Theirs 8')).toBeChecked()
  await choice('Title', 'Theirs Theirs').click()
  await page.getByRole('button', { name: 'Save merged' }).click()
  expect(onChoose.mock.calls).toEqual([
    ['title', 'Theirs'],
    ['reward', 8],
  ])
  expect(accept).toHaveBeenCalledBefore(onSave)
})

test('Enter on a choice saves what is chosen, and values are in the words of the field', async () => {
  const { onSave } = open({ ...base, title: 'Theirs', reward: 8 })
  await expect.element(choice('Type', 'Theirs Website')).toBeChecked()
  await choice('Type', 'Mine Twitter').click()
  await userEvent.keyboard('{Enter}')
  expect(onSave).toHaveBeenCalledOnce()
})

test('where both say the same there is nothing to choose', async () => {
  open({ title: 'Theirs', reward: 8, type: 'moreLink' })
  await expect.element(page.getByText(/Both say the same/)).toBeVisible()
  expect(page.getByRole('group').elements()).toHaveLength(0)
})
