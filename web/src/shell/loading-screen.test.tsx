/** The screen for an unreachable server retries by itself. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { render } from '#src/testing/render.tsx'
import { UnreachableScreen } from './loading-screen.tsx'

let isBack: boolean
const ask = vi.fn<() => Promise<Response>>(async () => {
  if (!isBack) throw new TypeError('Failed to fetch')
  return Response.json({ user: null, registrationEmailHost: '', hasAdmin: true, canResetByMail: false, signInService: null })
})
const handleRetry = vi.fn<() => void>()

beforeEach(() => {
  isBack = false
  ask.mockClear()
  handleRetry.mockClear()
  vi.useFakeTimers()
  vi.spyOn(globalThis, 'fetch').mockImplementation(ask)
  render(<UnreachableScreen onRetry={handleRetry} />)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

test('§2 it retries every few seconds and continues once the server answers', async () => {
  await vi.advanceTimersByTimeAsync(7000)
  expect(ask).toHaveBeenCalledTimes(2)
  expect(handleRetry).not.toHaveBeenCalled()
  isBack = true
  await vi.advanceTimersByTimeAsync(3000)
  await vi.waitFor(() => expect(handleRetry).toHaveBeenCalledTimes(1))
})

test('§2 it retries at once when the browser is online again', async () => {
  isBack = true
  window.dispatchEvent(new Event('online'))
  await vi.waitFor(() => expect(handleRetry).toHaveBeenCalledTimes(1))
})

test('§2 it does not retry while the page is hidden', async () => {
  const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
  await vi.advanceTimersByTimeAsync(30_000)
  expect(ask).not.toHaveBeenCalled()
  hidden.mockReturnValue(false)
  await vi.advanceTimersByTimeAsync(3000)
  expect(ask).toHaveBeenCalledTimes(1)
})
