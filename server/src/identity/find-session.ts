/** Reads sessions with their users (§4), by token or id: the role, its settings, and how long the session is still valid. */
import { CompiledQuery, type Kysely, sql } from 'kysely'
import type { SecondFactorPolicy } from '@arcade/contract/second-factor/fields'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { JOIN_SETTINGS, type PersonRow } from './roles.ts'
import { HAS_SECOND_FACTOR } from './second-factor.ts'

export const SESSION_IDLE_SECONDS = 12 * 60 * 60
export const MAX_SESSION_SECONDS = 7 * 24 * 60 * 60

export interface SessionRow extends PersonRow {
  session_id: string
  last_address: string
  /** Seconds since the session was last used, and until it ends, by the database's clock. */
  idle: number
  left: number
}

/** A session, which keeps its id when its token changes, and whose it is. */
export interface SessionKey {
  sessionId: string
  userId: string
}

export interface FindSession {
  /** Finds the user and the times of a session by its token's hash. Returns `undefined` for an unknown or expired session. */
  byToken(hash: Buffer): Promise<SessionRow | undefined>
  /** Returns those of the sessions that have neither ended nor expired. */
  byKey(db: Kysely<Tables>, keys: readonly SessionKey[]): Promise<SessionRow[]>
}

/** @param policy whether admins must have a second factor */
export function prepareFindSession(database: Database, policy: SecondFactorPolicy): FindSession {
  const lacksFactor = policy === 'admins' ? `u.user_type = 'admin' and not ${HAS_SECOND_FACTOR}` : 'false'
  const rows = `
    select s.id as session_id, u.id, u.fname, u.lname, u.email, u.user_type, u.role, r.sees_personal, ${lacksFactor} as lacks_factor,
           s.last_address, ${secondsSql('now() - s.last_seen_at')} as idle, ${secondsSql(SESSION_LEFT)} as left
      from sessions s join users u on u.id = s.user_id ${JOIN_SETTINGS}`
  const findByToken = database.prepared<SessionRow>(`session-user-${policy}`, `${rows} where s.token_hash = $1`)
  const byKey = `${rows} where s.user_id = any($1::text[]) and s.id = any($2::uuid[]) and ${SESSION_LEFT} > interval '0'`
  return {
    async byToken(hash) {
      const [row] = await findByToken([hash])
      if (!row || row.left > 0) return row
      // The session stays expired even if the database's clock is set back afterwards.
      await sql`delete from sessions s where token_hash = ${hash} and ${sql.raw(SESSION_LEFT)} <= interval '0'`
        .execute(database.db)
        .catch(() => {})
      return undefined
    },
    async byKey(db, keys) {
      const parameters = [keys.map(({ userId }) => userId), keys.map(({ sessionId }) => sessionId)]
      return (await db.executeQuery<SessionRow>(CompiledQuery.raw(byKey, parameters))).rows
    },
  }
}

/** SQL for the remaining time of a session, an interval; 0 or less when it has expired. */
const SESSION_LEFT = `least(
  s.last_seen_at + make_interval(secs => ${SESSION_IDLE_SECONDS}),
  s.created_at + make_interval(secs => ${MAX_SESSION_SECONDS})) - now()`

function secondsSql(interval: string): string {
  return `extract(epoch from ${interval})::float8`
}
