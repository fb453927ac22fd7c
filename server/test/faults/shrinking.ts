/** fast-check looks for the shortest case that fails as long as it finds shorter ones, which takes hours where a case takes a second. */
import { rounds } from '#test/size.ts'

const SHRINK_MS = rounds(10_000, 10 * 60_000)

/** The predicate, to whom every case holds once SHRINK_MS have passed since the first that failed: the shortest found by then is reported. */
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
