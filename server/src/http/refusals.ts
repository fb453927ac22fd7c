/**
 * Limits the refused requests of signed-out visitors. The calls for guests count valid requests themselves; invalid ones are counted here.
 * They are counted in this process, because a row in the database for each would cost more than the refusal.
 */
import { Failure } from '#src/calls.ts'

export const MAX_REFUSALS = 300
const WINDOW_MS = 15 * 60 * 1000
const MAX_ADDRESSES = 10_000

export interface Refusals {
  /** @throws Failure TOO_MANY_ATTEMPTS for an address that has reached its limit */
  check(address: string): void
  count(address: string): void
}

export function createRefusals(isEnabled: boolean): Refusals {
  const counted = new Map<string, { count: number; since: number }>()
  const current = (address: string): { count: number; since: number } | undefined => {
    const entry = counted.get(address)
    return entry && performance.now() - entry.since < WINDOW_MS ? entry : undefined
  }
  return {
    check(address) {
      const entry = current(address)
      if (entry === undefined || entry.count < MAX_REFUSALS) return
      const leftMs = entry.since + WINDOW_MS - performance.now()
      throw new Failure('TOO_MANY_ATTEMPTS', { retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1000)) })
    },
    count(address) {
      if (!isEnabled) return
      const entry = current(address)
      if (entry) {
        entry.count += 1
        return
      }
      counted.delete(address)
      if (counted.size >= MAX_ADDRESSES) counted.delete(counted.keys().next().value ?? '')
      counted.set(address, { count: 1, since: performance.now() })
    },
  }
}
