/**
 * Ledger entries that the game writes (design §7), such as the points of a round or the price of a purchase. One statement writes
 * the balance, the entry and the caller's key, or nothing. The reference is unique for player and cause for ever.
 */
import type { EntryResult } from '@arcade/contract/ledger/calls'
import { type CallContext, Failure } from '#src/calls.ts'
import { IS_OPEN } from './blocks.ts'
import { capOf, type CapSql, capSql, type EntryCaps } from './caps.ts'
import type { Database } from '#src/db/database.ts'
import { countEntrySql } from '#src/counters/entry-counts.ts'
import { createEntryOnce, type EarlierResult, ENTRY, type EntryRow, keepKeySql, writtenBy } from './entry-once.ts'
import { boundsSql, type Limits, limitsSql, refuseBeyondLimits } from './limits.ts'
import { placeholders } from './parameters.ts'

export interface EntryInput {
  userId: number
  amount: number
  cause: string
  reference: string
}

/** The state of the reference in the database; one row if the player exists. */
interface KnownRow extends EarlierResult, Limits {
  isSameAmount: boolean | null
}

export function createGameEntries(
  database: Database,
  caps: EntryCaps,
): (input: EntryInput, context: CallContext) => Promise<EntryResult> {
  const writeOnce = createEntryOnce(database)
  const insertEntry = database.statement<EntryRow>('game-entry', enterSql())
  const insertCapped = database.statement<EntryRow>('game-entry-capped', enterSql(CAPPED))
  const findKnown = database.statement<KnownRow>('game-entry-known', FIND_KNOWN)

  return async ({ userId, amount, cause, reference }, context) => {
    // What is given and what is taken are counted apart: neither raises what is left of the other.
    const cap = capOf(caps, cause, amount)
    const { isFirst, balance, entry } = await writeOnce(userId, context, {
      write: (key) => {
        const values = [userId, amount, cause, reference, ...writtenBy(context), ...key]
        return cap === undefined ? insertEntry(values) : insertCapped([...values, cap.most, cap.countedAs])
      },
      duplicateConstraint: 'ledger_entries_reference',
      async findEarlier() {
        const [known] = await findKnown([userId, amount, cause, reference, cap?.most ?? null, cap?.countedAs ?? cause])
        if (!known) throw new Failure('NO_SUCH_PLAYER')
        if (known.seq !== null) {
          if (!known.isSameAmount) throw new Failure('REFERENCE_REUSED')
          return known
        }
        refuseBeyondLimits(known, { cause, amount, most: cap?.most })
        return undefined
      },
    })
    return { success: true, isFirst, balance, entry: entry! }
  }
}

/** The parameters of `enterSql` in their order. */
const params = placeholders(
  'userId',
  'amount',
  'cause',
  'reference',
  'byKind',
  'byId',
  'byName',
  'keyHash',
  'keyFingerprint',
  'cap',
  'cappedCause',
)
const { isTooLow, isTooHigh } = boundsSql(`${params.amount}::numeric`)

const CAPPED = capSql({
  cause: `${params.cappedCause}::text`,
  amount: `abs(${params.amount}::numeric)`,
  cap: `${params.cap}::numeric`,
})

/**
 * The last two parameters are passed only if the cause has a cap. A second entry waits for the first at the balance, sees the
 * balance that the first left, and fails at the reference if it is the same entry.
 */
const enterSql = ({ isWithin, add }: Partial<CapSql> = {}): string => `
  with paid as (
    update balances set balance = balance + ${params.amount}::numeric, entries = entries + 1 ${add ? `, ${add}` : ''}
     where user_id = ${params.userId}::bigint and ${IS_OPEN} and not ${isTooLow} and not ${isTooHigh} ${isWithin ? `and ${isWithin}` : ''}
       and not exists (select 1 from ledger_entries where user_id = ${params.userId}::bigint and cause = ${params.cause}::text and reference = ${params.reference}::text)
    returning user_id, balance, entries),
  counted as (
    ${countEntrySql({ amount: `${params.amount}::numeric` })}),
  kept as (
    ${keepKeySql(params.keyHash, params.keyFingerprint)})
  insert into ledger_entries (user_id, seq, amount, cause, reference, by_kind, by_id, by_name, balance)
  select user_id, entries, ${params.amount}::numeric, ${params.cause}::text, ${params.reference}::text,
         ${params.byKind}::text, ${params.byId}::text, ${params.byName}::text, balance from paid
  returning ${ENTRY}`

const FIND_KNOWN = `
  select b.*, e.seq, e.amount = $2::numeric as "isSameAmount"
    from (select user_id, balance, ${limitsSql({ cause: '$6::text', amount: '$2::numeric', cap: '$5::numeric' })}
            from balances where user_id = $1::bigint) b
    left join ledger_entries e on e.user_id = b.user_id and e.cause = $3::text and e.reference = $4::text`
