/**
 * Claims (design §7): a player has done a task or announcement and is paid its reward. One statement on the one player does all of it, or
 * nothing: the participation, unique for player, item and period, lets the balance, the entry, the counters and the caller's key be written.
 */
import { createHash } from 'node:crypto'
import type { Claimed, Entry } from '@arcade/contract/ledger'
import type { EntryCause } from '@arcade/contract/entities/entry'
import type { HistoryKind } from '@arcade/contract/entities/history'
import { type CallContext, Failure } from '#src/calls.ts'
import { countersOfTaking } from '#src/db/activity.ts'
import { countOnceSql } from '#src/db/counters.ts'
import type { Database } from '#src/db/database.ts'
import { isoSql } from '#src/db/moments.ts'
import { violatedConstraint } from '#src/postgres/errors.ts'

const KEPT_HOURS = 24

export interface ClaimInput {
  userId: number
  kind: HistoryKind
  id: string
  userInput?: string | undefined
}

interface Item {
  reward: string
  isActive: boolean
  needsInput: boolean
}

/** An entry of the ledger as it is read. */
interface EntryRow {
  seq: number
  amount: number
  cause: EntryCause
  balance: number
  at: string
}

/** A repeat, as far as the database knows: a row wherever the player is known. */
interface KnownRow {
  /** Whether there is the participation. */
  isDone: boolean
  balance: number
  /** Of the claim, null where an import brought the participation. */
  seq: number | null
}

interface KeyRow {
  fingerprint: Buffer
  seq: number | null
  isFirst: boolean
  isExpired: boolean
  balance: number
}

/** A caller's key for one player's balance. */
interface PlayerKey {
  hash: Buffer
  fingerprint: Buffer
}

export function createClaims(database: Database): (input: ClaimInput, context: CallContext) => Promise<Claimed> {
  const readItem = database.prepared<Item>('claimed-item', ITEM)
  const insertClaim = database.statement<EntryRow>('claim', CLAIM)
  const keepKey = database.statement('claim-key', KEEP_KEY)
  const forgetKey = database.statement('claim-key-expired', FORGET_KEY)
  // Not shared with others who ask: what has just been written is looked for.
  const findKey = database.statement<KeyRow>('claim-key-known', FIND_KEY)
  const findClaim = database.statement<KnownRow>('claim-known', FIND_CLAIM)
  const findEntry = database.statement<EntryRow>('entry-known', FIND_ENTRY)

  return async (input, context) => {
    const { userId, kind, id } = input
    const key = playerKey(context)
    const [item] = await readItem([kind, id])
    for (;;) {
      const refusal = refusalOf(item, input)
      if (refusal === undefined) {
        const paid = await pay(input, item!, { context, key })
        if (paid) return toAnswer(userId, paid, true)
      }
      // Somebody was first: another request, perhaps this one, or this one's key said something else before.
      const known = key && (await answerOfKey(userId, key))
      if (known) return known
      const [claim] = await findClaim([userId, kind, id])
      if (!claim) throw new Failure('NO_SUCH_PLAYER')
      if (claim.isDone) {
        if (key) await keepKey([userId, key.hash, key.fingerprint, claim.seq])
        if (!key) return answerOf(userId, claim, false)
        const kept = await answerOfKey(userId, key)
        if (kept) return kept
      } else if (refusal) throw refusal
    }
  }

  /** Undefined if the claim was paid before, if the key is taken, or if there is no such player: then nothing was written. */
  async function pay(
    { userId, kind, id, userInput }: ClaimInput,
    { reward, needsInput }: Item,
    { context: { caller }, key }: { context: CallContext; key: PlayerKey | undefined },
  ): Promise<EntryRow | undefined> {
    const by = caller.kind === 'bot' ? [caller.kind, caller.id, caller.name] : [caller.kind, null, null]
    const input = needsInput ? userInput : null
    try {
      const [row] = await insertClaim([userId, kind, id, input, reward, ...by, key?.hash ?? null, key?.fingerprint ?? null])
      return row
    } catch (error) {
      if (key && violatedConstraint(error) === 'player_keys_pkey') return undefined
      throw error
    }
  }

  /** What was answered to the key. @throws Failure IDEMPOTENCY_KEY_REUSED if it came with other input */
  async function answerOfKey(userId: number, { hash, fingerprint }: PlayerKey): Promise<Claimed | undefined> {
    const [kept] = await findKey([userId, hash])
    if (!kept) return undefined
    if (kept.isExpired) {
      await forgetKey([userId, hash])
      return undefined
    }
    if (!kept.fingerprint.equals(fingerprint)) throw new Failure('IDEMPOTENCY_KEY_REUSED')
    return answerOf(userId, kept, kept.isFirst)
  }

  async function answerOf(
    userId: number,
    { seq, balance }: Pick<KnownRow, 'seq' | 'balance'>,
    isFirst: boolean,
  ): Promise<Claimed> {
    if (seq === null) return { success: true, isFirst, reward: 0, balance, entry: null }
    const [entry] = await findEntry([userId, seq])
    return toAnswer(userId, entry!, isFirst)
  }
}

/** Deletes keys whose time has passed. */
export async function forgetPlayerKeys({ statement }: Pick<Database, 'statement'>): Promise<void> {
  await statement('forget-player-keys', `delete from player_keys where ${IS_EXPIRED}`)([])
}

/** Why nothing can be claimed of the item now, whoever asks; what was claimed before is answered all the same. */
function refusalOf(item: Item | undefined, { kind, userInput = '' }: ClaimInput): Failure | undefined {
  if (!item) return new Failure(kind === 'announcement' ? 'ANNOUNCEMENT_NOT_FOUND' : 'NO_SUCH_TASK')
  if (!item.isActive) return new Failure('ANNOUNCEMENT_INACTIVE')
  if (item.needsInput && userInput === '') return new Failure('INPUT_MISSING')
  return undefined
}

function playerKey({ idempotencyKey: key }: CallContext): PlayerKey | undefined {
  if (!key) return undefined
  return { hash: createHash('sha256').update(`${key.caller}\0`).update(key.hash).digest(), fingerprint: key.fingerprint }
}

/** Nothing but the entry goes into the answer, so it is the same byte for byte whenever it is given. */
function toAnswer(userId: number, { seq, amount, cause, balance, at }: EntryRow, isFirst: boolean): Claimed {
  const entry: Entry = { id: `${userId}-${seq}`, amount, cause, at }
  return { success: true, isFirst, reward: amount, balance, entry }
}

const NOW = `(now() at time zone 'UTC')`
const PERIOD = `case when $2::text = 'daily' then to_char(${NOW}, 'YYYY-MM-DD') else '' end`
const IS_EXPIRED = `created_at <= now() - interval '${KEPT_HOURS} hours'`
/** The columns of an entry. */
export const ENTRY = `seq, amount, cause, balance, ${isoSql('at')} as at`

const ITEM = `
  select reward::text as reward, true as "isActive", false as "needsInput" from tasks where collection = $1 and id = $2
  union all
  select reward::text, status, coalesce(link_type = 'input', false) from announcements where $1 = 'announcement' and id = $2`

const COUNTERS = countersOfTaking({ kind: '$2::text', itemId: '$3::text', at: NOW })

/**
 * $1 the player, $2 and $3 the item, $4 the input, $5 the reward, $6 to $8 who says so, $9 and $10 the key or nulls. Who comes second waits for
 * the first at the participation and then finds it. A key that is taken fails the whole statement, so that nobody is paid for it twice.
 */
const CLAIM = `
  with taken as (
    insert into participations (user_id, kind, item_id, period, username, first_name, last_name, user_input, at)
    select user_id, $2::text, $3::text, ${PERIOD}, username, first_name, last_name, $4::text, now()
      from telegram_users join balances using (user_id) where user_id = $1::bigint
    on conflict (user_id, kind, item_id, period) do nothing returning user_id, period),
  paid as (
    update balances set balance = balance + $5::numeric, entries = entries + 1
     where user_id = $1::bigint and exists (select 1 from taken) returning user_id, balance, entries),
  counted as (
    ${countOnceSql('paid', COUNTERS)}),
  kept as (
    insert into player_keys (user_id, key_hash, fingerprint, seq, is_first)
    select user_id, $9::bytea, $10::bytea, entries, true from paid where $9::bytea is not null)
  insert into ledger_entries (user_id, seq, amount, cause, kind, item_id, period, by_kind, by_id, by_name, balance)
  select paid.user_id, paid.entries, $5::numeric, 'claim', $2::text, $3::text, taken.period, $6::text, $7::text, $8::text, paid.balance from paid, taken
  returning ${ENTRY}`

const FIND_CLAIM = `
  select p.user_id is not null as "isDone", b.balance, e.seq
    from balances b
    left join participations p on p.user_id = b.user_id and p.kind = $2::text and p.item_id = $3::text and p.period = ${PERIOD}
    left join ledger_entries e on e.user_id = p.user_id and e.cause = 'claim' and e.kind = p.kind and e.item_id = p.item_id and e.period = p.period
   where b.user_id = $1::bigint limit 1`

const FIND_ENTRY = `select ${ENTRY} from ledger_entries where user_id = $1::bigint and seq = $2::bigint`

const FIND_KEY = `
  select fingerprint, seq, is_first as "isFirst", ${IS_EXPIRED} as "isExpired", balance
    from player_keys join balances using (user_id) where user_id = $1::bigint and key_hash = $2::bytea`

const KEEP_KEY = `
  insert into player_keys (user_id, key_hash, fingerprint, seq, is_first) values ($1::bigint, $2::bytea, $3::bytea, $4::bigint, false)
  on conflict (user_id, key_hash) do nothing`

const FORGET_KEY = `delete from player_keys where user_id = $1::bigint and key_hash = $2::bytea and ${IS_EXPIRED}`
