/** The clocks of this process, for a test to put them wrong; the database's goes on being right. */
import { onTestFinished, vi } from 'vitest'

/** Both clocks stand still from now on, until the test ends. Timers go on as ever. */
export function takeClocks(): { jump: (ms: number) => void; pass: (ms: number) => void } {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.now() })
  onTestFinished(() => void vi.useRealTimers())
  return {
    /** The time of day jumps, as when somebody sets it. */
    jump: (ms) => void vi.setSystemTime(Date.now() + ms),
    /** Time passes, on the monotonic clock too. */
    pass: (ms) => void vi.advanceTimersByTime(ms),
  }
}
