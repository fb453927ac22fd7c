/**
 * Writes a ledger entry exactly once, even if the request is repeated, sent concurrently, or its answer was lost.
 * Hides the idempotency keys, which are stored with the player's other rows, and how a request finds the entry that another one
 * wrote.
 */
import { createHash } from 'node:crypto'
import type { Entry } from '@arcade/contract/ledger/calls'
import { type CallContext, Failure } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { isoSql } from '#src/db/moments.ts'
import { violatedConstraint } from '#src/postgres/errors.ts'

const KEPT_HOURS = 24

/** A ledger entry as it is read. */
export interface EntryRow {
  seq: number
  amount: number
  cause: string
  balance: number
  at: string
}

/** The result of an earlier request. */
export interface EarlierResult {
  /** The current balance, returned if there is no entry. */
  balance: number
  /** Null if an import brought the participation, which then has no entry. */
  seq: number | null
}

export interface Written {
  isFirst: boolean
  /** The balance after the entry. */
  balance: number
  entry: Entry | null
}

export interface EntryWrite {
  /**
   * Writes the entry and its dependent rows, including the key (`keepKeySql`), in one statement. Returns the entry, or no row if
   * the entry exists already or is refused. `duplicateConstraint` is the unique constraint that is violated if a concurrent request
   * writes the same entry.
   */
  write: (key: KeyParams) => Promise<EntryRow[]>
  duplicateConstraint?: string
  /** Returns what was written before; undefined if the write can be tried again. @throws Failure if the entry is refused */
  findEarlier: () => Promise<EarlierResult | undefined>
}

/** The parameters of the caller's key; nulls if the request has none. */
type KeyParams = [hash: Buffer | null, fingerprint: Buffer | null]

interface KeyRow extends EarlierResult {
  fingerprint: Buffer
  isFirst: boolean
  isExpired: boolean
}

/** A caller's key for one player's balance. */
interface PlayerKey {
  hash: Buffer
  fingerprint: Buffer
}

/**
 * A request is tried again only if another one was faster, or a limit or a day has just changed. If it still is neither written nor
 * refused, the statements contradict each other, and to go on would only load the database.
 */
const MAX_TRIES = 100

export function createEntryOnce(
  database: Pick<Database, 'statement'>,
): (userId: number, context: CallContext, entryWrite: EntryWrite) => Promise<Written> {
  const keepKey = database.statement('player-key', KEEP_KEY)
  const forgetKey = database.statement('player-key-expired', FORGET_KEY)
  // This read is never shared with other requests, because it has to find what was just written.
  const findKey = database.statement<KeyRow>('player-key-known', FIND_KEY)
  const findEntry = database.statement<EntryRow>('entry-known', FIND_ENTRY)

  return async (userId, context, entryWrite) => {
    const key = playerKey(context)
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const row = await write(entryWrite, key)
      if (row) return toWritten(userId, row, true)
      // Another request, perhaps the same one, wrote the entry first, or the key was used before.
      const known = key && (await answerOfKey(userId, key))
      if (known) return known
      const earlier = await entryWrite.findEarlier()
      if (!earlier) continue
      if (!key) return answerOf(userId, earlier, false)
      await keepKey([userId, key.hash, key.fingerprint, earlier.seq, earlier.balance])
      const kept = await answerOfKey(userId, key)
      if (kept) return kept
    }
    throw new Error(`An entry of player ${userId} was neither written nor refused in ${MAX_TRIES} tries`)
  }

  /** Returns undefined if nothing was written. A used key fails the whole statement, so that no request is paid twice. */
  async function write(entryWrite: EntryWrite, key: PlayerKey | undefined): Promise<EntryRow | undefined> {
    try {
      const [row] = await entryWrite.write([key?.hash ?? null, key?.fingerprint ?? null])
      return row
    } catch (error) {
      const violated = violatedConstraint(error)
      if (violated !== undefined && [entryWrite.duplicateConstraint, key && 'player_keys_pkey'].includes(violated))
        return undefined
      throw error
    }
  }

  /** Returns the earlier answer to the key. @throws Failure IDEMPOTENCY_KEY_REUSED if it came with other input */
  async function answerOfKey(userId: number, { hash, fingerprint }: PlayerKey): Promise<Written | undefined> {
    const [kept] = await findKey([userId, hash])
    if (!kept) return undefined
    if (kept.isExpired) {
      await forgetKey([userId, hash])
      return undefined
    }
    if (!kept.fingerprint.equals(fingerprint)) throw new Failure('IDEMPOTENCY_KEY_REUSED')
    return answerOf(userId, kept, kept.isFirst)
  }

  async function answerOf(userId: number, { seq, balance }: EarlierResult, isFirst: boolean): Promise<Written> {
    if (seq === null) return { isFirst, balance, entry: null }
    const [row] = await findEntry([userId, seq])
    // Entries stay for ever, but the player may have been erased since.
    if (!row) throw new Failure('NO_SUCH_PLAYER')
    return toWritten(userId, row, isFirst)
  }
}

/** Deletes expired keys. */
export async function sweepPlayerKeys({ statement }: Pick<Database, 'statement'>): Promise<void> {
  await statement('forget-player-keys', `delete from player_keys where ${IS_EXPIRED}`)([])
}

/** Returns SQL that stores the key for the entry of `paid`, which has one row of `balances` or none. */
export function keepKeySql(hash: string, fingerprint: string): string {
  return `insert into player_keys (user_id, key_hash, fingerprint, seq, is_first)
    select user_id, ${hash}::bytea, ${fingerprint}::bytea, entries, true from paid where ${hash}::bytea is not null`
}

/** Returns who wrote an entry: kind, id and name. The name of a user is not stored: it is looked up by the id. */
export function writtenBy({ caller }: CallContext): [kind: string, id: string | null, name: string | null] {
  if (caller.kind === 'user') return [caller.kind, caller.user.id, null]
  return caller.kind === 'bot' ? [caller.kind, caller.id, caller.name] : [caller.kind, null, null]
}

function playerKey({ idempotencyKey: key }: CallContext): PlayerKey | undefined {
  if (!key) return undefined
  return { hash: createHash('sha256').update(`${key.caller}\0`).update(key.hash).digest(), fingerprint: key.fingerprint }
}

/** Builds the answer from the entry only, so that every repetition of the request gets the same bytes. */
function toWritten(userId: number, { seq, amount, cause, balance, at }: EntryRow, isFirst: boolean): Written {
  return { isFirst, balance, entry: { id: `${userId}-${seq}`, amount, cause, at } }
}

const IS_EXPIRED = `created_at <= now() - interval '${KEPT_HOURS} hours'`
/** The columns of an entry. */
export const ENTRY = `seq, amount, cause, balance, ${isoSql('at')} as at`

const FIND_ENTRY = `select ${ENTRY} from ledger_entries where user_id = $1::bigint and seq = $2::bigint`

const FIND_KEY = `
  select fingerprint, seq, is_first as "isFirst", ${IS_EXPIRED} as "isExpired", coalesce(k.balance, b.balance) as balance
    from player_keys k join balances b using (user_id) where user_id = $1::bigint and key_hash = $2::bytea`

/** Locks the player's balance, so that no key is added while the player is being erased or afterwards. */
const KEEP_KEY = `
  insert into player_keys (user_id, key_hash, fingerprint, seq, balance, is_first)
  select held.user_id, $2::bytea, $3::bytea, $4::bigint, case when $4::bigint is null then $5::numeric end, false
    from (select user_id from balances where user_id = $1::bigint for key share) as held
  on conflict (user_id, key_hash) do nothing`

const FORGET_KEY = `delete from player_keys where user_id = $1::bigint and key_hash = $2::bytea and ${IS_EXPIRED}`
