/**
 * What writes one entry of a player's ledger once, however often it is asked for, by several at once and after a lost answer (design §7).
 * Hides the keys of callers, which lie beside the player's other rows, and who finds what when somebody was first.
 */
import { createHash } from 'node:crypto'
import type { Entry } from '@arcade/contract/ledger/calls'
import { type CallContext, Failure } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { isoSql } from '#src/db/moments.ts'
import { violatedConstraint } from '#src/postgres/errors.ts'

const KEPT_HOURS = 24

/** An entry of the ledger as it is read. */
export interface EntryRow {
  seq: number
  amount: number
  cause: string
  balance: number
  at: string
}

/** What there is already. */
export interface Earlier {
  /** Now, told where there is no entry. */
  balance: number
  /** Null where an import brought what the entry would be for. */
  seq: number | null
}

export interface Written {
  isFirst: boolean
  /** After the entry. */
  balance: number
  entry: Entry | null
}

export interface Attempt {
  /**
   * Writes the entry and all that belongs to it, the key too (`keepKeySql`), in one statement, which gives the entry, or nothing where there
   * is one already or none can be. `unlessKnown` is the unique constraint that fails it if somebody else is writing the same.
   */
  write: (key: KeyParams) => Promise<EntryRow[]>
  unlessKnown?: string
  /** What was written before; undefined if it can be tried again. @throws Failure if nothing was and nothing can be */
  findEarlier: () => Promise<Earlier | undefined>
}

/** The caller's key, or nulls. */
type KeyParams = [hash: Buffer | null, fingerprint: Buffer | null]

interface KeyRow extends Earlier {
  fingerprint: Buffer
  isFirst: boolean
  isExpired: boolean
}

/** A caller's key for one player's balance. */
interface PlayerKey {
  hash: Buffer
  fingerprint: Buffer
}

export function createEntryOnce(
  database: Pick<Database, 'statement'>,
): (userId: number, context: CallContext, attempt: Attempt) => Promise<Written> {
  const keepKey = database.statement('player-key', KEEP_KEY)
  const forgetKey = database.statement('player-key-expired', FORGET_KEY)
  // Not shared with others who ask: what has just been written is looked for.
  const findKey = database.statement<KeyRow>('player-key-known', FIND_KEY)
  const findEntry = database.statement<EntryRow>('entry-known', FIND_ENTRY)

  return async (userId, context, attempt) => {
    const key = playerKey(context)
    for (;;) {
      const row = await write(attempt, key)
      if (row) return toWritten(userId, row, true)
      // Somebody was first: another request, perhaps this one, or this one's key said something else before.
      const known = key && (await answerOfKey(userId, key))
      if (known) return known
      const earlier = await attempt.findEarlier()
      if (!earlier) continue
      if (!key) return answerOf(userId, earlier, false)
      await keepKey([userId, key.hash, key.fingerprint, earlier.seq, earlier.balance])
      const kept = await answerOfKey(userId, key)
      if (kept) return kept
    }
  }

  /** Undefined if nothing was written. A key that is taken fails the whole statement, so that nobody is paid for it twice. */
  async function write(attempt: Attempt, key: PlayerKey | undefined): Promise<EntryRow | undefined> {
    try {
      const [row] = await attempt.write([key?.hash ?? null, key?.fingerprint ?? null])
      return row
    } catch (error) {
      const violated = violatedConstraint(error)
      if (violated !== undefined && [attempt.unlessKnown, key && 'player_keys_pkey'].includes(violated)) return undefined
      throw error
    }
  }

  /** What was answered to the key. @throws Failure IDEMPOTENCY_KEY_REUSED if it came with other input */
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

  async function answerOf(userId: number, { seq, balance }: Earlier, isFirst: boolean): Promise<Written> {
    if (seq === null) return { isFirst, balance, entry: null }
    const [row] = await findEntry([userId, seq])
    // Entries stay for ever, but the player may have been erased since.
    if (!row) throw new Failure('NO_SUCH_PLAYER')
    return toWritten(userId, row, isFirst)
  }
}

/** Deletes keys whose time has passed. */
export async function forgetPlayerKeys({ statement }: Pick<Database, 'statement'>): Promise<void> {
  await statement('forget-player-keys', `delete from player_keys where ${IS_EXPIRED}`)([])
}

/** SQL that keeps the key for the entry of `paid`, one row of `balances` or none. */
export function keepKeySql(hash: string, fingerprint: string): string {
  return `insert into player_keys (user_id, key_hash, fingerprint, seq, is_first)
    select user_id, ${hash}::bytea, ${fingerprint}::bytea, entries, true from paid where ${hash}::bytea is not null`
}

/** Who it is that an entry is from: the kind, id and name. A person's name is not kept with it: it is looked up by the id. */
export function writtenBy({ caller }: CallContext): [kind: string, id: string | null, name: string | null] {
  if (caller.kind === 'user') return [caller.kind, caller.user.id, null]
  return caller.kind === 'bot' ? [caller.kind, caller.id, caller.name] : [caller.kind, null, null]
}

function playerKey({ idempotencyKey: key }: CallContext): PlayerKey | undefined {
  if (!key) return undefined
  return { hash: createHash('sha256').update(`${key.caller}\0`).update(key.hash).digest(), fingerprint: key.fingerprint }
}

/** Nothing but the entry goes into the answer, so it is the same byte for byte whenever it is given. */
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

const KEEP_KEY = `
  insert into player_keys (user_id, key_hash, fingerprint, seq, balance, is_first)
  values ($1::bigint, $2::bytea, $3::bytea, $4::bigint, case when $4::bigint is null then $5::numeric end, false)
  on conflict (user_id, key_hash) do nothing`

const FORGET_KEY = `delete from player_keys where user_id = $1::bigint and key_hash = $2::bytea and ${IS_EXPIRED}`
