import { GrammyError } from 'grammy'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { keepTrying } from './keep-trying.ts'

const lines: string[] = []

beforeEach(() => {
  vi.useFakeTimers()
  vi.spyOn(console, 'error').mockImplementation((line: string) => void lines.push(line))
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  lines.length = 0
})

function refusal(error_code: number, description: string, retry_after?: number): GrammyError {
  const parameters = retry_after === undefined ? {} : { retry_after }
  return new GrammyError("Call to 'setWebhook' failed!", { ok: false, error_code, description, parameters }, 'setWebhook', {})
}

test('failures are retried after a pause that doubles up to a minute, or after Telegram’s retry_after', async () => {
  const failures = [
    new Error("Request to 'setWebhook' timed out"),
    refusal(500, 'Internal Server Error'),
    refusal(429, 'Too Many Requests', 300),
    ...Array.from({ length: 5 }, () => refusal(403, 'Forbidden')),
  ]
  const act = vi.fn<() => Promise<void>>(() => (failures.length > 0 ? Promise.reject(failures.shift()!) : Promise.resolve()))
  const done = keepTrying(act)
  for (const [n, seconds] of [1, 2, 300, 8, 16, 32, 60, 60].entries()) {
    await vi.advanceTimersByTimeAsync(seconds * 1000 - 1)
    expect(act, `${seconds} s`).toHaveBeenCalledTimes(n + 1)
    await vi.advanceTimersByTimeAsync(1)
    expect(act, `${seconds} s`).toHaveBeenCalledTimes(n + 2)
  }
  expect(await done).toBe(true)
  expect(lines).toHaveLength(8)
  expect(lines[2]).toBe(
    "The bot is not connected to Telegram and tries again in 300 s: Call to 'setWebhook' failed! (429: Too Many Requests)",
  )
})

test.each([400, 401, 404])('error %i is logged in one line and not retried', async (code) => {
  expect(await keepTrying(() => Promise.reject(refusal(code, 'No')))).toBe(false)
  expect(lines).toEqual([`The bot cannot start: Call to 'setWebhook' failed! (${code}: No)`])
})
