import { beforeEach, expect, test, vi } from 'vitest'
import { page } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { type BulkAct, BulkButton, type BulkDone } from './bulk-act.tsx'

const run = vi.fn<BulkAct['run']>()
const onEnd = vi.fn<BulkAct['onEnd']>().mockResolvedValue()
const nothing: BulkDone = { affected: 0, named: [], refused: 0, refusals: [] }
const isPast = (title: string) => ({ id: title, title, reason: 'It would end in the past.' })

beforeEach(() => {
  onEnd.mockClear()
})

async function act(planned: BulkDone): Promise<void> {
  run.mockReset().mockResolvedValue(planned)
  const texts = {
    title: 'Shift dates',
    question: () => 'Are you sure?',
    confirmLabel: () => 'Shift',
    successText: () => 'Shifted.',
  }
  render(<BulkButton act={{ ...texts, run, messageOf: String, onEnd }}>Shift Dates</BulkButton>)
  await page.getByRole('button', { name: 'Shift Dates' }).click()
}

test('an act on rows that are gone says so and clears the selection', async () => {
  await act(nothing)
  await expect.element(page.getByRole('alert')).toHaveTextContent('Nothing of this is there any more.')
  expect(onEnd).toHaveBeenCalledExactlyOnceWith(true)
  expect(run).toHaveBeenCalledExactlyOnceWith({ dryRun: true })
})

test('an act that is refused for its only row says why and keeps the selection', async () => {
  await act({ ...nothing, refused: 1, refusals: [isPast('Join us')] })
  await expect.element(page.getByRole('alert')).toHaveTextContent('It would end in the past.')
  expect(onEnd).toHaveBeenCalledExactlyOnceWith(false)
})

test('an act that is refused for all of several rows says how many they are, and why with the name of one', async () => {
  await act({ ...nothing, refused: 2, refusals: [isPast('Join us'), isPast('Follow us')] })
  await expect
    .element(page.getByRole('alert'))
    .toHaveTextContent('None of the 2 can be changed. Join us: It would end in the past.')
  expect(onEnd).toHaveBeenCalledExactlyOnceWith(false)
})
