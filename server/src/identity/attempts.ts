/** Limits against guessing and flooding: counted in the database, so that they hold across server processes and restarts. */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { Failure } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'

export interface Limit {
  name: string
  /** Attempts allowed in a window. */
  max: number
  windowSeconds: number
}

export const limits = {
  signInByAccount: { name: 'sign-in-account', max: 10, windowSeconds: 15 * 60 },
  signInByAddress: { name: 'sign-in-address', max: 50, windowSeconds: 15 * 60 },
  registerByAddress: { name: 'register-address', max: 60, windowSeconds: 60 * 60 },
} as const satisfies Record<string, Limit>

export interface Attempts {
  /**
   * Counts an attempt before it is made, so that simultaneous ones cannot slip through together.
   * @throws Failure TOO_MANY_ATTEMPTS with the seconds left in the window.
   */
  count(limit: Limit, subject: string): Promise<void>
  /** Takes one counted attempt back: it was a legitimate one. */
  forgive(limit: Limit, subject: string): Promise<void>
  /** Deletes windows that have passed. */
  sweep(): Promise<void>
}

export function createAttempts(database: Database, enabled: boolean): Attempts {
  if (!enabled) return { count: async () => {}, forgive: async () => {}, sweep: async () => {} }
  const { db } = database
  return {
    async count(limit, subject) {
      const windowStart = currentWindow(limit)
      const { count } = await db
        .insertInto('attempts')
        .values({ key: keyOf(limit, subject), window_start: windowStart, count: 1 })
        .onConflict((conflict) => conflict.columns(['key', 'window_start']).doUpdateSet({ count: sql`attempts.count + 1` }))
        .returning('count')
        .executeTakeFirstOrThrow()
      if (count <= limit.max) return
      const windowEnd = windowStart.getTime() + limit.windowSeconds * 1000
      throw new Failure('TOO_MANY_ATTEMPTS', { retryAfterSeconds: Math.max(1, Math.ceil((windowEnd - Date.now()) / 1000)) })
    },
    async forgive(limit, subject) {
      await db
        .updateTable('attempts')
        .set({ count: sql`greatest(count - 1, 0)` })
        .where('key', '=', keyOf(limit, subject))
        .where('window_start', '=', currentWindow(limit))
        .execute()
    },
    async sweep() {
      await db
        .deleteFrom('attempts')
        .where('window_start', '<', sql<Date>`now() - interval '1 day'`)
        .execute()
    },
  }
}

/** The subject is hashed: the table holds neither addresses nor e-mails. */
function keyOf(limit: Limit, subject: string): string {
  return `${limit.name}:${createHash('sha256').update(subject).digest('base64url')}`
}

function currentWindow(limit: Limit): Date {
  const lengthMs = limit.windowSeconds * 1000
  return new Date(Math.floor(Date.now() / lengthMs) * lengthMs)
}
