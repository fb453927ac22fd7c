/** Reads the session of a token with its user (§4): the role, its settings, and how long the session is still valid. */
import { sql } from 'kysely'
import type { SecondFactorPolicy } from '@arcade/contract/second-factor/fields'
import type { Database } from '#src/db/database.ts'
import { JOIN_SETTINGS, type PersonRow } from './roles.ts'
import { HAS_SECOND_FACTOR } from './second-factor.ts'

export const SESSION_IDLE_SECONDS = 12 * 60 * 60
export const SESSION_MAX_SECONDS = 7 * 24 * 60 * 60

export interface SessionRow extends PersonRow {
  last_address: string
  /** Seconds since the session was last used, and until it ends, by the database's clock. */
  idle: number
  left: number
}

/** Finds the user and the times of a session by its token's hash. Returns `undefined` for an unknown or expired session. */
export type FindCurrent = (hash: Buffer) => Promise<SessionRow | undefined>

/** @param policy whether admins must have a second factor */
export function prepareFindCurrent(database: Database, policy: SecondFactorPolicy): FindCurrent {
  const lacksFactor = policy === 'admins' ? `u.user_type = 'admin' and not ${HAS_SECOND_FACTOR}` : 'false'
  const find = database.prepared<SessionRow>(
    `session-user-${policy}`,
    `select u.id, u.fname, u.lname, u.email, u.user_type, u.role, r.sees_personal, ${lacksFactor} as lacks_factor, s.last_address,
            ${secondsSql('now() - s.last_seen_at')} as idle, ${secondsSql(SESSION_LEFT)} as left
       from sessions s join users u on u.id = s.user_id ${JOIN_SETTINGS} where s.token_hash = $1`,
  )
  return async (hash) => {
    const [row] = await find([hash])
    if (!row || row.left > 0) return row
    // The session stays expired even if the database's clock is set back afterwards.
    await sql`delete from sessions s where token_hash = ${hash} and ${sql.raw(SESSION_LEFT)} <= interval '0'`
      .execute(database.db)
      .catch(() => {})
    return undefined
  }
}

/** SQL for the remaining time of a session, an interval; 0 or less when it has expired. */
const SESSION_LEFT = `least(
  s.last_seen_at + make_interval(secs => ${SESSION_IDLE_SECONDS}),
  s.created_at + make_interval(secs => ${SESSION_MAX_SECONDS})) - now()`

function secondsSql(interval: string): string {
  return `extract(epoch from ${interval})::float8`
}
