/** Limits how long fast-check shrinks a failing case. Without a limit this takes hours if one case takes a second. */
import { rounds } from '#test/size.ts'

const SHRINK_MS = rounds(10_000, 10 * 60_000)

/** Wraps a predicate: SHRINK_MS after the first failure, every case passes, so fast-check stops and reports the shortest so far. */
export function shrinkingBriefly<Case>(predicate: (one: Case) => Promise<void>): (one: Case) => Promise<void> {
  let failedAt: number | undefined
  return async (one) => {
    if (failedAt !== undefined && performance.now() - failedAt > SHRINK_MS) return
    try {
      await predicate(one)
    } catch (error) {
      failedAt ??= performance.now()
      throw error
    }
  }
}
