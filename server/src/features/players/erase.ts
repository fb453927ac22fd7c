/**
 * Erases a player on request (ADR 22). What identifies the person is removed everywhere. What the player did stays under a random number,
 * so that sums, counts and the ledger do not change. It cannot be undone. Each statement names one player, because the rows change shards.
 */
import { randomInt } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import { type Act, audit } from '#src/audit/audit.ts'
import { erasePerson } from '#src/audit/erase.ts'
import { Failure } from '#src/calls.ts'
import { type BalanceBucket, balanceBucketSql } from '#src/counters/counter-keys.ts'
import { addToCounter, moveDeltas } from '#src/counters/counters.ts'
import type { Tables } from '#src/db/tables.ts'
import { takeLock } from '#src/db/transaction-locks.ts'
import { eraseMentions } from '#src/erasure/mentions.ts'
import { IS_BLOCKED } from '#src/ledger/blocks.ts'
import { noteErased } from '#src/ledger/erased-players.ts'
import { eraseSharedReasons } from './erase-reasons.ts'
import { personOf } from './erased-person.ts'

/** The range of anonymous numbers, too large to guess one. They are stored below 0, because Telegram's are above 0. */
const ANONYMOUS_NUMBERS = 2 ** 48 - 1

/** Tables in which rows of the player are kept, and the columns that are kept unchanged. Names and texts are not among them. */
const keptColumns = {
  telegram_users: 'created_at, seen_status_epoch',
  balances: 'balance, imported, entries',
  ledger_entries: 'seq, amount, cause, kind, item_id, period, by_kind, by_id, by_name, at, balance',
  participations: 'kind, item_id, period, at',
  broadcast_recipients: 'at, broadcast, chunk, outcome',
} as const

interface Numbers {
  userId: number
  anonymousId: number
}

/** Erases the player. @returns the number that stands for the player from now on @throws Failure NO_SUCH_PLAYER, PLAYER_ERASED */
export async function erasePlayer(tx: Transaction<Tables>, act: Act, userId: number): Promise<number> {
  if (userId < 0) throw new Failure('PLAYER_ERASED')
  await takeLock(tx, 'erasures')
  // Claims and entries wait for this lock, and then find no such player.
  const { rows: held } = await sql<{ bucket: BalanceBucket; isBlocked: boolean }>`
    select ${sql.raw<string>(balanceBucketSql('balance'))} as bucket, ${sql.raw(IS_BLOCKED)} as "isBlocked"
      from balances where user_id = ${userId} for update`.execute(tx)
  const [balance] = held
  if (!balance) throw new Failure('NO_SUCH_PLAYER')
  const numbers = { userId, anonymousId: -randomInt(1, ANONYMOUS_NUMBERS) }
  const person = await personOf(tx, numbers)
  await moveRows(tx, numbers)
  await moveUncounted(tx, numbers)
  await moveDeltas(tx, userId, numbers.anonymousId)
  // The block is not kept, and the histogram counts players who are not blocked.
  if (balance.isBlocked)
    await addToCounter(tx, { counter: { of: 'balances', bucket: balance.bucket }, delta: 1, userId: numbers.anonymousId })
  for (const table of ['player_keys', 'player_visits', 'player_messages'])
    await sql`delete from ${sql.table(table)} where user_id = ${userId}`.execute(tx)
  await sql`delete from notes where kind = 'player' and record_id = ${String(userId)}`.execute(tx)
  await sql`delete from operator_telegrams where telegram_id = ${userId}`.execute(tx)
  await noteErased(tx, userId)
  await eraseFromAnswers(tx, userId)
  await deleteDeliveries(tx, userId)
  await eraseMentions(tx, act, person)
  await eraseSharedReasons(tx, act, person)
  await erasePerson(tx, act, person)
  await audit(tx, act, 'player.erase', { record: { kind: 'player', id: person.anonymousId } })
  return numbers.anonymousId
}

async function moveRows(tx: Transaction<Tables>, { userId, anonymousId }: Numbers): Promise<void> {
  const { rows: reversals } = await sql<{ seq: number; of: string }>`
    select seq, split_part(reference, '-', 2) as of from ledger_entries where user_id = ${userId} and cause = 'reversal'`.execute(
    tx,
  )
  for (const [name, columns] of Object.entries(keptColumns)) {
    const table = sql.table(name)
    await sql`insert into ${table} (user_id, ${sql.raw(columns)})
      select ${anonymousId}::bigint, ${sql.raw(columns)} from ${table} where user_id = ${userId}`.execute(tx)
    await sql`delete from ${table} where user_id = ${userId}`.execute(tx)
  }
  // The reference of a reversal names the entry it reverses. It gets that entry's new id, so that nobody can reverse the entry again.
  await sql`
    update ledger_entries set reference = ${`${anonymousId}-`} || reverses.seq
      from unnest(${reversals.map(({ seq }) => seq)}::bigint[], ${reversals.map(({ of }) => of)}::text[]) as reverses (by, seq)
     where user_id = ${anonymousId} and ledger_entries.seq = reverses.by`.execute(tx)
}

/** Deletes the rows first: a row that is being folded is waited for and is then gone, so no row is counted twice. */
async function moveUncounted(tx: Transaction<Tables>, { userId, anonymousId }: Numbers): Promise<void> {
  const { rows } = await sql`
    delete from uncounted_entries where user_id = ${userId}
    returning seq, at, amount::text as amount, balance::text as balance, kind, item_id`.execute(tx)
  await sql`
    insert into uncounted_entries (user_id, seq, at, amount, balance, kind, item_id)
    select ${anonymousId}::bigint, seq, at, amount, balance, kind, item_id
      from json_to_recordset(${JSON.stringify(rows)}::json)
        as r (seq bigint, at timestamptz, amount numeric, balance numeric, kind text, item_id text)`.execute(tx)
}

/** Erases the player from the answers kept for repeated requests: those to the player's client, and those to batches. */
async function eraseFromAnswers(tx: Transaction<Tables>, userId: number): Promise<void> {
  await sql`delete from idempotency_keys where caller = ${`player:${userId}`}`.execute(tx)
  // The message of a row that failed may quote the row.
  const failed = String.raw`"userId":${userId},"status":"failed","message":"(?:[^"\\]|\\.)*"`
  await sql`
    update idempotency_keys set answer = regexp_replace(
             regexp_replace(answer, ${failed}, '"userId":null,"status":"failed","message":"This player was erased."', 'g'),
             ${`"userId":${userId}([,}])`}, '"userId":null\\1', 'g')
     where position(${`"userId":${userId}`} in answer) > 0`.execute(tx)
}

/**
 * Deletes the events about the player. Sent again under the same message id with another number, one would tell the game which number that
 * is. Each is about one player only.
 */
async function deleteDeliveries(tx: Transaction<Tables>, userId: number): Promise<void> {
  await sql`delete from webhook_deliveries where position(${`{"kind":"player","id":"${userId}",`} in payload) > 0`.execute(tx)
}
