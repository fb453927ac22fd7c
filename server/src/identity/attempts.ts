/** Limits against guessing and flooding. They are counted in the database, so they hold for all servers and across restarts. */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { Failure } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'

export interface Limit {
  name: string
  /** The attempts allowed in a window. */
  max: number
  windowSeconds: number
}

export const limits = {
  /** Attempts from a device or address from which the person has signed in before: each has its own limit. */
  signInFromKnown: { name: 'sign-in-known', max: 10, windowSeconds: 15 * 60 },
  /** Attempts from anywhere else. */
  signInByAccount: { name: 'sign-in-account', max: 10, windowSeconds: 15 * 60 },
  signInByAddress: { name: 'sign-in-address', max: 50, windowSeconds: 15 * 60 },
  /**
   * Codes for the second factor, of people who have given the right password: from a device or address from which the person has signed in
   * before, and from anywhere else. Three of a million codes are valid at a time, so a year of guessing 20 a day finds one in 2 of 100 cases.
   */
  codeFromKnown: { name: 'code-known', max: 10, windowSeconds: 60 * 60 },
  codeByAccount: { name: 'code-account', max: 20, windowSeconds: 24 * 60 * 60 },
  /** Codes for the second factor within a session. */
  codeInSession: { name: 'code-session', max: 10, windowSeconds: 60 * 60 },
  /** Successful attempts, which begin sessions. */
  signInsOfUser: { name: 'sign-in-user', max: 30, windowSeconds: 15 * 60 },
  /** Unknown bot tokens and invalid initData; valid ones are accepted even when the limit is reached. */
  wrongTokenByAddress: { name: 'wrong-token-address', max: 30, windowSeconds: 15 * 60 },
  /** Wrong current passwords of a person who is signed in. */
  passwordChange: { name: 'password-change', max: 10, windowSeconds: 15 * 60 },
  /** Backups that an admin starts or has verified: each takes disk and processor for a while. */
  backupsOfUser: { name: 'backups-user', max: 20, windowSeconds: 60 * 60 },
  /** Challenges for guests who sign in with a passkey, and guests who are sent to the sign-in service: each is a row. */
  signInStarts: { name: 'sign-in-starts', max: 100, windowSeconds: 15 * 60 },
  passwordLinkByAddress: { name: 'password-link-address', max: 60, windowSeconds: 60 * 60 },
  /** Wrong codes to link an operator's Telegram account: of one Telegram account, and of one bot token, which can name any account. */
  linkCodeByTelegram: { name: 'link-code-telegram', max: 10, windowSeconds: 15 * 60 },
  linkCodeByToken: { name: 'link-code-token', max: 300, windowSeconds: 15 * 60 },
  /** Requests for a link to set a forgotten password. The one of an account also limits how many mails a stranger can have sent to it. */
  forgottenByAddress: { name: 'forgotten-address', max: 20, windowSeconds: 60 * 60 },
  forgottenByAccount: { name: 'forgotten-account', max: 5, windowSeconds: 60 * 60 },
  /** Each change of an e-mail address, and each invitation, mails somebody who may not know of it. */
  emailChangesOfUser: { name: 'email-changes-user', max: 10, windowSeconds: 60 * 60 },
  invitationsOfUser: { name: 'invitations-user', max: 100, windowSeconds: 60 * 60 },
  registerByAddress: { name: 'register-address', max: 60, windowSeconds: 60 * 60 },
} as const satisfies Record<string, Limit>

export interface Attempts {
  /**
   * Counts an attempt before it is made, so that simultaneous attempts cannot exceed the limit together.
   * @param onReached called for the first attempt in a window that exceeds the limit
   * @throws Failure TOO_MANY_ATTEMPTS with the seconds left in the window.
   */
  count(limit: Limit, subject: string, onReached?: () => Promise<void>): Promise<void>
  /** Uncounts an attempt that was legitimate. */
  uncount(limit: Limit, subject: string): Promise<void>
  /** Deletes windows that have passed. */
  sweep(): Promise<void>
}

export function createAttempts(database: Database, enabled: boolean): Attempts {
  if (!enabled) return { count: async () => {}, uncount: async () => {}, sweep: async () => {} }
  const { db } = database
  return {
    async count(limit, subject, onReached) {
      const length = sql`make_interval(secs => ${limit.windowSeconds})`
      const isOver = sql`a.started_at <= now() - ${length}`
      const { rows } = await sql<{ count: number; left: number }>`
        insert into attempt_windows as a (key, started_at, count) values (${attemptKey(limit, subject)}, now(), 1)
        on conflict (key) do update
          set count = case when ${isOver} then 1 else a.count + 1 end, started_at = case when ${isOver} then now() else a.started_at end
        returning count, extract(epoch from started_at + ${length} - now())::float8 as left`.execute(db)
      const { count = 0, left = 0 } = rows[0] ?? {}
      if (count <= limit.max) return
      if (count === limit.max + 1) await onReached?.()
      throw new Failure('TOO_MANY_ATTEMPTS', { retryAfterSeconds: Math.max(1, Math.ceil(left)) })
    },
    async uncount(limit, subject) {
      await db
        .updateTable('attempt_windows')
        .set({ count: sql`greatest(count - 1, 0)` })
        .where('key', '=', attemptKey(limit, subject))
        .execute()
    },
    async sweep() {
      await db
        .deleteFrom('attempt_windows')
        .where('started_at', '<', sql<Date>`now() - interval '1 day'`)
        .execute()
    },
  }
}

/** Returns the hash of a subject: the table contains neither IP nor e-mail addresses. */
function attemptKey(limit: Limit, subject: string): string {
  return `${limit.name}:${createHash('sha256').update(subject).digest('base64url')}`
}
