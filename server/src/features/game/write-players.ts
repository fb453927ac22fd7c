/**
 * Writes players for the game (design §8): fields of the input change, omitted fields stay. Rows that would not change are not written,
 * because each change of a player writes to many indexes.
 */
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { Player } from '@arcade/contract/players/fields'
import { playerDetails, type PlayerInput, type PlayerRow } from '@arcade/contract/game/calls'
import { beginActivity, addPlayerCount } from '#src/counters/activity.ts'
import { addToCounters } from '#src/counters/counters.ts'
import type { Database } from '#src/db/database.ts'
import { columnName, playerEntity, selectList, sourceSql } from '#src/db/entities.ts'
import { openBalances } from '#src/ledger/imported-balances.ts'
import type { Tables } from '#src/db/tables.ts'
import { updateInListOrder, delayErasures } from '#src/db/transaction-locks.ts'

const columns = playerDetails.map((name) => ({ name, column: columnName(playerEntity, name) }))
const readPlayer = sql.raw(`select ${selectList(playerEntity, { derived: {} })} from ${sourceSql(playerEntity)}`)

export async function findPlayer(db: Kysely<Tables>, userId: number): Promise<Player | undefined> {
  const { rows } = await sql<Player>`${readPlayer} where user_id = ${userId}`.execute(db)
  return rows[0]
}

/** Adds or changes a player and returns it. Each statement names only this player, so that Citus runs it on the player's shard. */
export async function writePlayer(database: Database, userId: number, input: PlayerInput): Promise<Player> {
  for (;;) {
    await changePlayer(database.db, userId, input)
    const player = await findPlayer(database.db, userId)
    if (player) return player
    await database.transaction((tx) => addPlayer(tx, userId, input))
  }
}

async function changePlayer(db: Kysely<Tables>, userId: number, input: PlayerInput): Promise<void> {
  const written = columns.filter(({ name }) => input[name] !== undefined)
  if (written.length === 0) return
  const changes = written.map(({ name, column }) => sql`${sql.ref(column)} = ${input[name]}`)
  const differs = written.map(({ name, column }) => sql`${sql.ref(column)} is distinct from ${input[name]}`)
  await sql`update telegram_users set ${sql.join(changes)}, details_set_at = now()
    where user_id = ${userId} and (${sql.join(differs, sql` or `)})`.execute(db)
}

/** Adds a player. Does nothing if another call has added the player meanwhile. */
async function addPlayer(tx: Transaction<Tables>, userId: number, input: PlayerInput): Promise<void> {
  const activity = await beginActivity(tx)
  const joinedAt = input.createdAt === undefined ? activity.now : new Date(input.createdAt)
  const names = columns.map(({ column }) => sql.ref(column))
  const values = columns.map(({ name }) => sql`${input[name] ?? null}`)
  const { rows } = await sql`
    insert into telegram_users (user_id, created_at, details_set_at, ${sql.join(names)})
    values (${userId}, ${joinedAt}, now(), ${sql.join(values)}) on conflict (user_id) do nothing returning user_id`.execute(tx)
  if (rows.length === 0) return
  await openBalances(tx, [{ userId, balance: 0 }], activity.deltas)
  addPlayerCount(activity, joinedAt, 1)
  await addToCounters(tx, activity.deltas, userId)
}

/** Adds and changes many players in a few statements. @returns the ids of the added and of the changed players */
export async function writePlayers(
  tx: Transaction<Tables>,
  players: readonly PlayerRow[],
): Promise<{ added: Set<number>; changed: Set<number> }> {
  if (players.length === 0) return { added: new Set(), changed: new Set() }
  await delayErasures(tx)
  const rows = rowsSql(players)
  const names = columns.map(({ column }) => column)
  // In the order of ids, so that two batches wait for each other instead of deadlocking.
  const { rows: added } = await sql<{ id: number; joinedAt: Date }>`
    insert into telegram_users (user_id, created_at, details_set_at, ${sql.raw(names.join(', '))})
    select r.user_id, coalesce(r.created_at, now()), now(), ${sql.raw(names.map((name) => `r.${name}`).join(', '))} from ${rows} order by r.user_id
    on conflict (user_id) do nothing returning user_id as id, created_at as "joinedAt"`.execute(tx)
  const activity = await beginActivity(tx)
  await openBalances(
    tx,
    added.map(({ id }) => ({ userId: id, balance: 0 })),
    activity.deltas,
  )
  for (const { joinedAt } of added) addPlayerCount(activity, joinedAt, 1)
  await addToCounters(tx, activity.deltas)
  const addedIds = new Set(added.map(({ id }) => id))
  if (addedIds.size === players.length) return { added: addedIds, changed: new Set() }

  await updateInListOrder(tx)
  const after = (name: string): string => `case when r.given ? '${name}' then r.${name} else t.${name} end`
  const { rows: changed } = await sql<{ id: number }>`
    with r as materialized (select * from ${rows} order by user_id)
    update telegram_users as t set ${sql.raw(names.map((name) => `${name} = ${after(name)}`).join(', '))}, details_set_at = now() from r
     where t.user_id = r.user_id
       and (${sql.raw(names.map((name) => `t.${name}`).join(', '))}) is distinct from (${sql.raw(names.map(after).join(', '))})
    returning t.user_id as id`.execute(tx)
  return { added: addedIds, changed: new Set(changed.map(({ id }) => id)) }
}

/** Returns SQL for rows `r` with the columns of players. `r.given` lists the columns that are to be written. */
function rowsSql(players: readonly PlayerRow[]): RawBuilder<unknown> {
  const rows = players.map(({ userId, createdAt, ...details }) => {
    const written = columns.filter(({ name }) => details[name] !== undefined)
    const values = written.map(({ name, column }) => [column, details[name]])
    return { user_id: userId, created_at: createdAt, given: written.map(({ column }) => column), ...Object.fromEntries(values) }
  })
  const types = columns.map(({ column }) => `${column} text`)
  return sql`json_to_recordset(${JSON.stringify(rows)}::json)
    as r (user_id bigint, created_at timestamptz, given jsonb, ${sql.raw(types.join(', '))})`
}
