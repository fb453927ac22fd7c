/** Lets a test set the clocks of this process. The database's clock is not changed. */
import { onTestFinished, vi } from 'vitest'

/** Stops `Date` and `performance.now` until the test ends. Timers still run. */
export function takeClocks(): { jump: (ms: number) => void; pass: (ms: number) => void } {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.now() })
  onTestFinished(() => void vi.useRealTimers())
  return {
    /** Moves the time of day only, as when somebody sets the clock. */
    jump: (ms) => void vi.setSystemTime(Date.now() + ms),
    /** Moves the time of day and the monotonic clock. */
    pass: (ms) => void vi.advanceTimersByTime(ms),
  }
}
