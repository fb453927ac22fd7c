/**
 * Entries of the game (design §7): what a round paid or a purchase took. The reference, unique for player and cause for ever, lets the
 * balance, the entry and the caller's key be written in one statement on the one player, or nothing.
 */
import type { Entered } from '@arcade/contract/ledger/calls'
import { type CallContext, Failure } from '#src/calls.ts'
import { IS_OPEN } from './blocks.ts'
import { capOf, type CapSql, capSql, type EntryCaps } from './caps.ts'
import type { Database } from '#src/db/database.ts'
import { countEntrySql } from '#src/counters/entry-counts.ts'
import { createEntryOnce, type Earlier, ENTRY, type EntryRow, keepKeySql, writtenBy } from './entry-once.ts'
import { boundsSql, type Limits, limitsSql, refuseBeyondLimits } from './limits.ts'

export interface EntryInput {
  userId: number
  amount: number
  cause: string
  reference: string
}

/** What is there of the reference: a row wherever the player is known. */
interface KnownRow extends Earlier, Limits {
  isSameAmount: boolean | null
}

export function createGameEntries(
  database: Database,
  caps: EntryCaps,
): (input: EntryInput, context: CallContext) => Promise<Entered> {
  const once = createEntryOnce(database)
  const insertEntry = database.statement<EntryRow>('game-entry', enterSql())
  const insertCapped = database.statement<EntryRow>('game-entry-capped', enterSql(CAPPED))
  const findKnown = database.statement<KnownRow>('game-entry-known', FIND_KNOWN)

  return async ({ userId, amount, cause, reference }, context) => {
    // What takes is no matter of a cap, and makes no room.
    const cap = amount > 0 ? capOf(caps, cause) : undefined
    const { isFirst, balance, entry } = await once(userId, context, {
      write: (key) => {
        const params = [userId, amount, cause, reference, ...writtenBy(context), ...key]
        return cap === undefined ? insertEntry(params) : insertCapped([...params, cap.most, cap.countedAs])
      },
      unlessKnown: 'ledger_entries_reference',
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

const { isTooLow, isTooHigh } = boundsSql('$2::numeric')

const CAPPED = capSql({ cause: '$11::text', amount: '$2::numeric', cap: '$10::numeric' })

/**
 * $1 the player, $2 the amount, $3 the cause, $4 the reference, $5 to $7 who says so, $8 and $9 the key or nulls, $10 the cap and $11
 * what it counts as if there is one. Who comes second waits for the
 * first at the balance, looks at what it is then, and fails at the reference if it was the same.
 */
const enterSql = ({ isWithin, add }: Partial<CapSql> = {}): string => `
  with paid as (
    update balances set balance = balance + $2::numeric, entries = entries + 1 ${add ? `, ${add}` : ''}
     where user_id = $1::bigint and ${IS_OPEN} and not ${isTooLow} and not ${isTooHigh} ${isWithin ? `and ${isWithin}` : ''}
       and not exists (select 1 from ledger_entries where user_id = $1::bigint and cause = $3::text and reference = $4::text)
    returning user_id, balance, entries),
  counted as (
    ${countEntrySql({ amount: '$2::numeric' })}),
  kept as (
    ${keepKeySql('$8', '$9')})
  insert into ledger_entries (user_id, seq, amount, cause, reference, by_kind, by_id, by_name, balance)
  select user_id, entries, $2::numeric, $3::text, $4::text, $5::text, $6::text, $7::text, balance from paid
  returning ${ENTRY}`

const FIND_KNOWN = `
  select b.*, e.seq, e.amount = $2::numeric as "isSameAmount"
    from (select user_id, balance, ${limitsSql({ cause: '$6::text', amount: '$2::numeric', cap: '$5::numeric' })}
            from balances where user_id = $1::bigint) b
    left join ledger_entries e on e.user_id = b.user_id and e.cause = $3::text and e.reference = $4::text`
