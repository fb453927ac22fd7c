import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { keepCurrent } from './live.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** A page that shows the state of its last refresh. A refresh takes `takesMs`. */
function pageThat(takesMs: number) {
  const page = { now: 0, shown: 0, refreshes: 0, running: 0, most: 0 }
  const keeper = keepCurrent<number>({
    isCurrent: (now) => page.shown === now,
    async refresh() {
      page.refreshes += 1
      page.most = Math.max(page.most, (page.running += 1))
      const read = page.now
      await new Promise((resolve) => setTimeout(resolve, takesMs))
      page.running -= 1
      page.shown = read
    },
  })
  return Object.assign(page, keeper)
}

test('Live: a current page loads nothing; a change is loaded at once', async () => {
  const page = pageThat(50)
  page.update(0)
  await vi.advanceTimersByTimeAsync(5000)
  expect(page.refreshes).toBe(0)
  page.now = 1
  page.update(1)
  await vi.advanceTimersByTimeAsync(50)
  expect(page).toMatchObject({ shown: 1, refreshes: 1 })
  page.stop()
})

test.each([10, 3000])('Live: with many changes, refreshes of %i ms run one at a time, at most one a second', async (takesMs) => {
  const page = pageThat(takesMs)
  for (let n = 1; n <= 100; n += 1) {
    page.update((page.now = n))
    await vi.advanceTimersByTimeAsync(100)
  }
  expect(page.most).toBe(1)
  expect(page.refreshes).toBeGreaterThan(2)
  expect(page.refreshes).toBeLessThanOrEqual(11)
  await vi.advanceTimersByTimeAsync(2 * takesMs + 2000)
  expect(page.shown).toBe(100)
  page.stop()
})

test('Live: a failing refresh is tried three times, then again after the next change', async () => {
  const refresh = vi.fn<() => Promise<never>>(() => Promise.reject(new Error('away')))
  const keeper = keepCurrent<number>({ isCurrent: () => false, refresh })
  keeper.update(1)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(refresh).toHaveBeenCalledTimes(3)
  keeper.update(2)
  await vi.advanceTimersByTimeAsync(0)
  expect(refresh).toHaveBeenCalledTimes(4)
  keeper.stop()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(refresh).toHaveBeenCalledTimes(4)
})

test('§4 a page untouched for an hour stops refreshing, so that its session can end; a touch starts it again', async () => {
  const page = pageThat(10)
  await vi.advanceTimersByTimeAsync(60 * 60 * 1000)
  page.now = 1
  page.update(1)
  await vi.advanceTimersByTimeAsync(5000)
  expect(page.refreshes).toBe(0)
  page.attend()
  await vi.advanceTimersByTimeAsync(10)
  expect(page.shown).toBe(1)
  page.stop()
})
