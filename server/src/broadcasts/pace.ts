/**
 * Gives each message its time, for all servers: one row of the database has the time of the next message, and until when everybody waits.
 * The same statement asks whether the caller may still send: after a pause or cancellation no worker is given a time. A worker that has its
 * time already sends that message.
 */
import { type Kysely, sql } from 'kysely'
import type { WaitReason } from '@arcade/contract/broadcasts/fields'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { IS_BEING_SENT } from './state.ts'

/** A chunk that a worker has leased. */
export interface Lease {
  broadcast: number
  chunk: number
  leasedBy: string
}

export interface Waiting {
  until: Date
  reason: WaitReason
}

export type SendSlot =
  /** The caller may send after this time. */
  | { kind: 'go'; afterMs: number }
  | { kind: 'wait'; ms: number }
  /** The lease has ended, or the broadcast is paused or over. */
  | { kind: 'stop' }

/** A clock that was set back must not delay messages for longer than this: the next time is at most this far away. */
const FARTHEST_SECONDS = 60

/** A condition: everybody waits. Before `waiting_since`, only a clock that was set back would make anybody wait. */
const IS_WAITING = `(waiting_until is not null and waiting_until > now() and waiting_since <= now())`
/** A condition of any statement: everybody waits. */
export const IS_ANY_WAITING = `exists (select from telegram_pace where ${IS_WAITING})`

const TAKE_SLOT = `
  with allowed as (
    select 1 from broadcast_chunks c join broadcasts b on b.number = c.broadcast
     where c.broadcast = $1::int and c.chunk = $2::int and c.leased_by = $3::text and c.lease_until > now() and c.done_at is null
       and ${IS_BEING_SENT})
  insert into telegram_pace as pace (id, next_at)
  select true, now() + make_interval(secs => $4::float8) from allowed
  on conflict (id) do update
     set next_at = make_interval(secs => $4::float8)
         + case when pace.next_at > now() + interval '${FARTHEST_SECONDS} seconds' then now() else greatest(pace.next_at, now()) end
   where not coalesce(${IS_WAITING.replaceAll(/waiting_/g, 'pace.waiting_')}, false)
  returning (extract(epoch from next_at - clock_timestamp()) - $4::float8) * 1000 as ms`

const ASK_WAITING = `
  select (extract(epoch from waiting_until - now()) * 1000)::float8 as ms from telegram_pace where ${IS_WAITING}`

export interface Pace {
  take(lease: Lease): Promise<SendSlot>
}

/** @param ratePerSecond messages of all servers together */
export function createPace(database: Pick<Database, 'statement'>, ratePerSecond: number): Pace {
  const take = database.statement<{ ms: number }>('broadcast-turn', TAKE_SLOT)
  const askWaiting = database.statement<{ ms: number }>('broadcast-waiting', ASK_WAITING)
  return {
    async take({ broadcast, chunk, leasedBy }) {
      const [slot] = await take([broadcast, chunk, leasedBy, 1 / ratePerSecond])
      if (slot) return { kind: 'go', afterMs: Math.max(0, slot.ms) }
      const [waiting] = await askWaiting([])
      return waiting ? { kind: 'wait', ms: waiting.ms } : { kind: 'stop' }
    },
  }
}

/** Makes all servers wait for this many seconds from now on, unless they wait for longer already. */
export async function makeAllWait(db: Kysely<Tables>, seconds: number, reason: WaitReason): Promise<void> {
  await sql`
    insert into telegram_pace as pace (id, waiting_since, waiting_until, reason)
    values (true, now(), now() + make_interval(secs => ${seconds}::float8), ${reason})
    on conflict (id) do update set waiting_since = excluded.waiting_since, waiting_until = excluded.waiting_until, reason = excluded.reason
     where pace.waiting_until is null or pace.waiting_since > now() or pace.waiting_until < excluded.waiting_until`.execute(db)
}

/** Ends a wait for this reason before its time. */
export async function endWait(db: Kysely<Tables>, reason: WaitReason): Promise<void> {
  await sql`update telegram_pace set waiting_until = null where reason = ${reason} and waiting_until is not null`.execute(db)
}

/** Returns until when everybody waits; undefined if nobody does. */
export async function findWaiting(db: Kysely<Tables>): Promise<Waiting | undefined> {
  const { rows } = await sql<Waiting>`
    select waiting_until as until, reason from telegram_pace where ${sql.raw(IS_WAITING)}`.execute(db)
  return rows[0]
}
