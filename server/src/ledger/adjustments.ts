/**
 * What a person changes of a balance (design §7): an adjustment, or the reversal of an entry, each an entry of its own with a reason, in the
 * audit trail and told to webhooks. A reversal's reference is the entry that it takes back, so that there is one for each at most.
 */
import { CompiledQuery } from 'kysely'
import { entryCauses } from '@arcade/contract/ledger/fields'
import { isErased } from '@arcade/contract/players/fields'
import type { Entered } from '@arcade/contract/ledger/calls'
import { actOf, audit } from '#src/audit/audit.ts'
import { type CallContext, Failure } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { countEntrySql } from '#src/counters/entry-counts.ts'
import { createEntryOnce, type Earlier, ENTRY, type EntryRow, keepKeySql, writtenBy } from './entry-once.ts'
import { type Bounds, boundsSql, refuseBeyondBounds } from './limits.ts'

export interface Adjustment {
  userId: number
  amount: number
  reason: string
}

export interface Reversal {
  userId: number
  /** The entry's id, such as `7-12`. */
  entryId: string
  reason: string
}

export interface Adjustments {
  adjust: (input: Adjustment, context: CallContext) => Promise<Entered>
  reverse: (input: Reversal, context: CallContext) => Promise<Entered>
}

/** An entry with the balance before it. */
interface WrittenRow extends EntryRow {
  before: number
}

/** What an adjustment would do: a row wherever the player is known. */
interface KnownBounds extends Earlier, Bounds {}

/** The same of a reversal. */
interface KnownReversal extends KnownBounds {
  /** Of the entry that is to be taken back. */
  cause: string | null
}

export function createAdjustments(database: Database): Adjustments {
  const once = createEntryOnce(database)
  const findBounds = database.statement<KnownBounds>('adjustment-bounds', FIND_BOUNDS)
  const findReversal = database.statement<KnownReversal>('reversal-known', FIND_REVERSAL)

  return {
    async adjust({ userId, amount, reason }, context) {
      refuseErased(userId)
      const { isFirst, balance, entry } = await once(userId, context, {
        write: (key) =>
          write(ADJUST, [userId, amount, reason, ...writtenBy(context), ...key], (tx, row) =>
            audit(tx, actOf(context), 'player.adjust', explained(userId, row, { reason })),
          ),
        async findEarlier() {
          const [known] = await findBounds([userId, amount])
          refuseBeyond(known)
          return undefined
        },
      })
      return { success: true, isFirst, balance, entry: entry! }
    },

    async reverse({ userId, entryId, reason }, context) {
      refuseErased(userId)
      const [owner, seq] = entryId.split('-').map(Number)
      if (owner !== userId) throw new Failure('NO_SUCH_ENTRY')
      const { isFirst, balance, entry } = await once(userId, context, {
        write: (key) =>
          write(REVERSE, [userId, seq, entryId, reason, ...writtenBy(context), ...key], (tx, row) =>
            audit(tx, actOf(context), 'player.reverse', explained(userId, row, { reverses: entryId, reason })),
          ),
        unlessKnown: 'ledger_entries_reference',
        async findEarlier() {
          const [known] = await findReversal([userId, seq, entryId])
          if (known?.seq != null) return known
          if (known?.cause === null) throw new Failure('NO_SUCH_ENTRY')
          if (known && LASTING.includes(known.cause ?? '')) throw new Failure('NOT_REVERSIBLE')
          refuseBeyond(known)
          return undefined
        },
      })
      return { success: true, isFirst, balance, entry: entry! }
    },
  }

  /** The statement and what is recorded of it, together or not at all. */
  async function write(
    text: string,
    parameters: unknown[],
    record: (tx: Parameters<typeof audit>[0], row: WrittenRow) => Promise<void>,
  ): Promise<EntryRow[]> {
    return database.transaction(async (tx) => {
      const { rows } = await tx.executeQuery<WrittenRow>(CompiledQuery.raw(text, parameters))
      for (const row of rows) await record(tx, row)
      return rows
    })
  }
}

function refuseErased(userId: number): void {
  if (isErased({ userId })) throw new Failure('PLAYER_ERASED')
}

/** @throws Failure for an unknown player, and for a balance that would leave its bounds */
function refuseBeyond(known: Bounds | undefined): void {
  if (!known) throw new Failure('NO_SUCH_PLAYER')
  refuseBeyondBounds(known)
}

/** As the audit trail has it. The player's name is left out: it stands in one place alone, from which it can be erased. */
function explained(userId: number, { seq, amount, before, balance }: WrittenRow, detail: Record<string, unknown>) {
  return {
    record: { kind: 'player', id: String(userId) },
    changes: { balance: [before, balance] },
    detail: { entry: `${userId}-${seq}`, amount, ...detail },
  } as const
}

/** The causes whose entries stay. */
const LASTING = Object.entries(entryCauses).flatMap(([cause, { isReversible }]) => (isReversible ? [] : [cause]))

const WRITTEN = `${ENTRY}, balance - amount as before`
const adjusted = boundsSql('$2::numeric')
/** Taken back: the amount is in `taken`. */
const reversed = boundsSql('-taken.amount')

/** $1 the player, $2 the amount, $3 the reason, $4 to $6 who says so, $7 and $8 the key or nulls. */
const ADJUST = `
  with paid as (
    update balances set balance = balance + $2::numeric, entries = entries + 1
     where user_id = $1::bigint and not ${adjusted.isTooLow} and not ${adjusted.isTooHigh} returning user_id, balance, entries),
  counted as (
    ${countEntrySql({ amount: '$2::numeric' })}),
  kept as (
    ${keepKeySql('$7', '$8')})
  insert into ledger_entries (user_id, seq, amount, cause, reason, by_kind, by_id, by_name, balance)
  select user_id, entries, $2::numeric, 'adjustment', $3::text, $4::text, $5::text, $6::text, balance from paid
  returning ${WRITTEN}`

const FIND_BOUNDS = `
  select balance, ${adjusted.isTooLow} as "isTooLow", ${adjusted.isTooHigh} as "isTooHigh", null as seq from balances where user_id = $1::bigint`

/**
 * $1 the player, $2 and $3 the entry by its number and id, $4 the reason, $5 to $7 who says so, $8 and $9 the key or nulls. Who comes second
 * waits for the first at the balance and fails at the reference.
 */
const REVERSE = `
  with taken as (
    select user_id, amount from ledger_entries where user_id = $1::bigint and seq = $2::bigint
       and cause not in (${LASTING.map((cause) => `'${cause}'`).join(', ')})
       and not exists (select 1 from ledger_entries where user_id = $1::bigint and cause = 'reversal' and reference = $3::text)),
  paid as (
    update balances set balance = balance - taken.amount, entries = entries + 1 from taken
     where balances.user_id = $1::bigint and taken.user_id = balances.user_id and not ${reversed.isTooLow} and not ${reversed.isTooHigh}
    returning balances.user_id, balances.balance, balances.entries, -taken.amount as amount),
  counted as (
    ${countEntrySql({ amount: 'amount' })}),
  kept as (
    ${keepKeySql('$8', '$9')})
  insert into ledger_entries (user_id, seq, amount, cause, reference, reason, by_kind, by_id, by_name, balance)
  select user_id, entries, amount, 'reversal', $3::text, $4::text, $5::text, $6::text, $7::text, balance from paid
  returning ${WRITTEN}`

const FIND_REVERSAL = `
  select b.balance, r.seq, taken.cause, ${reversed.isTooLow} as "isTooLow", ${reversed.isTooHigh} as "isTooHigh"
    from balances b
    left join (select user_id, cause, amount from ledger_entries where user_id = $1::bigint and seq = $2::bigint) taken on taken.user_id = b.user_id
    left join (select user_id, seq from ledger_entries where user_id = $1::bigint and cause = 'reversal' and reference = $3::text) r on r.user_id = b.user_id
   where b.user_id = $1::bigint`
