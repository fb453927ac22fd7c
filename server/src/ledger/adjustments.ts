/**
 * Changes of a balance by an operator: an adjustment, or the reversal of a ledger entry. Each writes a ledger entry
 * with a reason, is audited and is sent to webhooks. The reference of a reversal is the reversed entry, so an entry is reversed
 * at most once.
 */
import { CompiledQuery, type Kysely } from 'kysely'
import { entryCauses } from '@arcade/contract/ledger/fields'
import { STEP_UP_POINTS } from '@arcade/contract/second-factor/fields'
import { isErased } from '@arcade/contract/players/fields'
import type { EntryResult } from '@arcade/contract/ledger/calls'
import { actOf, audit } from '#src/audit/audit.ts'
import { type CallContext, Failure } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { countEntrySql } from '#src/counters/entry-counts.ts'
import { countAdjusted } from '#src/identity/role-limits.ts'
import { refuseWithoutStepUp } from '#src/identity/second-factor.ts'
import { IS_OPEN } from './blocks.ts'
import { createEntryOnce, type EarlierResult, ENTRY, type EntryRow, keepKeySql, writtenBy } from './entry-once.ts'
import { type Bounds, boundsSql, refuseBeyondBounds } from './limits.ts'
import { placeholders } from './parameters.ts'

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
  adjust: (input: Adjustment, context: CallContext) => Promise<EntryResult>
  reverse: (input: Reversal, context: CallContext) => Promise<EntryResult>
}

/** An entry with the balance before it. */
interface WrittenRow extends EntryRow {
  before: number
}

/** What an adjustment would do; one row if the player exists. */
interface KnownBounds extends EarlierResult, Bounds {}

/** What a reversal would do; one row if the player exists. */
interface KnownReversal extends KnownBounds {
  /** The cause of the entry to reverse. */
  cause: string | null
}

export function createAdjustments(database: Database): Adjustments {
  const writeOnce = createEntryOnce(database)
  const findBounds = database.statement<KnownBounds>('adjustment-bounds', FIND_BOUNDS)
  const findReversal = database.statement<KnownReversal>('reversal-known', FIND_REVERSAL)

  return {
    async adjust({ userId, amount, reason }, context) {
      refuseErased(userId)
      await refuseLarge(database.db, context, amount)
      const { isFirst, balance, entry } = await writeOnce(userId, context, {
        write: (key) =>
          write(context, ADJUST, [userId, amount, reason, ...writtenBy(context), ...key], (tx, row) =>
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
      const { isFirst, balance, entry } = await writeOnce(userId, context, {
        write: (key) =>
          write(context, REVERSE, [userId, seq, entryId, reason, ...writtenBy(context), ...key], async (tx, row) => {
            await refuseLarge(tx, context, row.amount)
            await audit(tx, actOf(context), 'player.reverse', explained(userId, row, { reverses: entryId, reason }))
          }),
        duplicateConstraint: 'ledger_entries_reference',
        async findEarlier() {
          const [known] = await findReversal([userId, seq, entryId])
          if (known?.seq != null) return known
          if (known?.cause === null) throw new Failure('NO_SUCH_ENTRY')
          if (known && IRREVERSIBLE_CAUSES.includes(known.cause ?? '')) throw new Failure('NOT_REVERSIBLE')
          refuseBeyond(known)
          return undefined
        },
      })
      return { success: true, isFirst, balance, entry: entry! }
    },
  }

  /** Runs the statement, counts the points for the limits of the caller's role and records the result, in one transaction. */
  async function write(
    context: CallContext,
    text: string,
    parameters: unknown[],
    record: (tx: Parameters<typeof audit>[0], row: WrittenRow) => Promise<void>,
  ): Promise<EntryRow[]> {
    return database.transaction(async (tx) => {
      const { rows } = await tx.executeQuery<WrittenRow>(CompiledQuery.raw(text, parameters))
      for (const row of rows) {
        await countAdjusted(tx, context, row.amount)
        await record(tx, row)
      }
      return rows
    })
  }
}

/** @throws Failure STEP_UP_NEEDED if this many points ask for a fresh proof of the second factor */
async function refuseLarge(db: Kysely<Tables>, context: CallContext, amount: number): Promise<void> {
  if (Math.abs(amount) > STEP_UP_POINTS) await refuseWithoutStepUp(db, context)
}

function refuseErased(userId: number): void {
  if (isErased({ userId })) throw new Failure('PLAYER_ERASED')
}

/** @throws Failure for an unknown player, and for a balance that would leave its bounds */
function refuseBeyond(known: Bounds | undefined): void {
  if (!known) throw new Failure('NO_SUCH_PLAYER')
  refuseBeyondBounds(known)
}

/**
 * Returns what the audit records. It leaves out the player's name, which is stored in one place only so that it can be erased.
 */
function explained(userId: number, { seq, amount, before, balance }: WrittenRow, detail: Record<string, unknown>) {
  return {
    record: { kind: 'player', id: String(userId) },
    changes: { balance: [before, balance] },
    detail: { entry: `${userId}-${seq}`, amount, ...detail },
  } as const
}

/** Causes whose entries cannot be reversed. */
const IRREVERSIBLE_CAUSES = Object.entries(entryCauses).flatMap(([cause, { isReversible }]) => (isReversible ? [] : [cause]))

const WRITTEN = `${ENTRY}, balance - amount as before`
const adjusted = boundsSql('$2::numeric')
/** The amount of a reversal, from the entry that `taken` holds. */
const reversed = boundsSql('-taken.amount')

/** The parameters of `ADJUST` in their order. */
const adjustParams = placeholders('userId', 'amount', 'reason', 'byKind', 'byId', 'byName', 'keyHash', 'keyFingerprint')
const ADJUST = `
  with paid as (
    update balances set balance = balance + ${adjustParams.amount}::numeric, entries = entries + 1
     where user_id = ${adjustParams.userId}::bigint and not ${adjusted.isTooLow} and not ${adjusted.isTooHigh} returning user_id, balance, entries, blocked_at),
  counted as (
    ${countEntrySql({ amount: `${adjustParams.amount}::numeric`, condition: IS_OPEN })}),
  kept as (
    ${keepKeySql(adjustParams.keyHash, adjustParams.keyFingerprint)})
  insert into ledger_entries (user_id, seq, amount, cause, reason, by_kind, by_id, by_name, balance)
  select user_id, entries, ${adjustParams.amount}::numeric, 'adjustment', ${adjustParams.reason}::text,
         ${adjustParams.byKind}::text, ${adjustParams.byId}::text, ${adjustParams.byName}::text, balance from paid
  returning ${WRITTEN}`

const FIND_BOUNDS = `
  select balance, ${adjusted.isTooLow} as "isTooLow", ${adjusted.isTooHigh} as "isTooHigh", null as seq from balances where user_id = $1::bigint`

/** The parameters of `REVERSE` in their order. */
const reverseParams = placeholders('userId', 'seq', 'entryId', 'reason', 'byKind', 'byId', 'byName', 'keyHash', 'keyFingerprint')
/** A second reversal waits for the first at the balance and fails at the reference. */
const REVERSE = `
  with taken as (
    select user_id, amount from ledger_entries where user_id = ${reverseParams.userId}::bigint and seq = ${reverseParams.seq}::bigint
       and cause not in (${IRREVERSIBLE_CAUSES.map((cause) => `'${cause}'`).join(', ')})
       and not exists (select 1 from ledger_entries where user_id = ${reverseParams.userId}::bigint and cause = 'reversal' and reference = ${reverseParams.entryId}::text)),
  paid as (
    update balances set balance = balance - taken.amount, entries = entries + 1 from taken
     where balances.user_id = ${reverseParams.userId}::bigint and taken.user_id = balances.user_id and not ${reversed.isTooLow} and not ${reversed.isTooHigh}
    returning balances.user_id, balances.balance, balances.entries, balances.blocked_at, -taken.amount as amount),
  counted as (
    ${countEntrySql({ amount: 'amount', condition: IS_OPEN })}),
  kept as (
    ${keepKeySql(reverseParams.keyHash, reverseParams.keyFingerprint)})
  insert into ledger_entries (user_id, seq, amount, cause, reference, reason, by_kind, by_id, by_name, balance)
  select user_id, entries, amount, 'reversal', ${reverseParams.entryId}::text, ${reverseParams.reason}::text,
         ${reverseParams.byKind}::text, ${reverseParams.byId}::text, ${reverseParams.byName}::text, balance from paid
  returning ${WRITTEN}`

const FIND_REVERSAL = `
  select b.balance, r.seq, taken.cause, ${reversed.isTooLow} as "isTooLow", ${reversed.isTooHigh} as "isTooHigh"
    from balances b
    left join (select user_id, cause, amount from ledger_entries where user_id = $1::bigint and seq = $2::bigint) taken on taken.user_id = b.user_id
    left join (select user_id, seq from ledger_entries where user_id = $1::bigint and cause = 'reversal' and reference = $3::text) r on r.user_id = b.user_id
   where b.user_id = $1::bigint`
