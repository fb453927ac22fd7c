/**
 * Notes when players were last seen, for the filter *Seen within days*. Visits are gathered in memory and written together every few
 * seconds, at most once an hour for each player, so that a call costs nothing more. A server that is killed loses the last seconds.
 */
import { sql, type Transaction } from 'kysely'
import type { Caller, CallContext } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { delayErasures } from '#src/db/transaction-locks.ts'

/** A player is written again after this time, which is the accuracy of `seen_at`. */
const WRITTEN_EVERY_MS = 3_600_000
/** Players that one statement writes: about 50 ms. */
const WRITTEN_AT_ONCE = 5_000
/** Players that wait to be written while the database is away, about 10 MB; further visits are dropped. */
const MAX_WAITING = 200_000

export interface Visits {
  /** Notes that a player is here. */
  note(userId: number): void
  /** Writes what was noted since. Players whom the console does not know are left out. */
  write(): Promise<void>
}

/** @param now the clock in milliseconds, which tests replace */
export function createVisits(database: Database, now: () => number = Date.now): Visits {
  /** Players who were noted since `hourStart`. */
  let notedThisHour = new Set<number>()
  let hourStart = now()
  let waiting = new Set<number>()

  return {
    note(userId) {
      if (now() - hourStart >= WRITTEN_EVERY_MS) {
        notedThisHour = new Set()
        hourStart = now()
      }
      if (notedThisHour.has(userId) || waiting.size >= MAX_WAITING) return
      notedThisHour.add(userId)
      waiting.add(userId)
    },

    async write() {
      const noted = [...waiting].toSorted((a, b) => a - b)
      waiting = new Set()
      for (let written = 0; written < noted.length; written += WRITTEN_AT_ONCE) {
        const batch = noted.slice(written, written + WRITTEN_AT_ONCE)
        await database
          .transaction((tx) => writeVisits(tx, batch))
          .catch((error: unknown) => {
            waiting = new Set([...noted.slice(written), ...waiting])
            throw error
          })
      }
    },
  }
}

/** Another server may have written a player within the hour; then nothing is written. A player who is here can be reached again. */
async function writeVisits(tx: Transaction<Tables>, userIds: readonly number[]): Promise<void> {
  await delayErasures(tx)
  await sql`
    insert into player_visits (user_id, seen_at)
    select player.user_id, now() from unnest(${userIds}::bigint[]) as noted (user_id)
      join telegram_users as player on player.user_id = noted.user_id
      left join player_visits as visit on visit.user_id = player.user_id
     where visit.seen_at is null or visit.seen_at < now() - make_interval(secs => ${WRITTEN_EVERY_MS / 1000}) order by 1
    on conflict (user_id) do update set seen_at = excluded.seen_at where player_visits.seen_at < excluded.seen_at`.execute(tx)
  await sql`
    update player_messages set unreachable_at = null, unreachable_reason = null
     where user_id = any(${userIds}::bigint[]) and unreachable_at is not null`.execute(tx)
}

/** What an import knows of players: when they joined or took part. */
export interface KnownVisit {
  userId: number
  at: Date | null
}

/** Keeps the visits of an import, where they are newer than the known ones. */
export async function keepVisits(tx: Transaction<Tables>, visits: readonly KnownVisit[]): Promise<void> {
  const newest = new Map<number, number>()
  for (const { userId, at } of visits) if (at && userId > 0) newest.set(userId, Math.max(newest.get(userId) ?? 0, at.getTime()))
  if (newest.size === 0) return
  const rows = [...newest].map(([user_id, ms]) => ({ user_id, seen_at: new Date(ms).toISOString() }))
  await sql`
    insert into player_visits (user_id, seen_at)
    select user_id, seen_at from json_to_recordset(${JSON.stringify(rows)}::json) as r (user_id bigint, seen_at timestamptz) order by 1
    on conflict (user_id) do update set seen_at = excluded.seen_at where player_visits.seen_at < excluded.seen_at`.execute(tx)
}

type Handle = (input: never, context: CallContext) => Promise<unknown>

/**
 * Returns the handlers of a part of the contract, which then note visits: each call by a player's own client, and the named calls by a bot,
 * because a bot makes them when the player does something.
 */
export function notingVisits<Handlers extends Readonly<Record<string, Handle>>>(
  visits: Visits,
  handlers: Handlers,
  byBots: readonly (keyof Handlers & string)[],
): Handlers {
  const noting = Object.entries(handlers).map(([name, handle]) => [
    name,
    async (input: { userId?: unknown }, context: CallContext) => {
      const answer = await handle(input as never, context)
      const userId = visitorOf(context.caller, byBots.includes(name) ? input.userId : undefined)
      if (userId !== undefined) visits.note(userId)
      return answer
    },
  ])
  return Object.fromEntries(noting) as Handlers
}

function visitorOf(caller: Caller, named: unknown): number | undefined {
  if (caller.kind === 'player') return caller.userId
  return caller.kind === 'bot' && typeof named === 'number' ? named : undefined
}
