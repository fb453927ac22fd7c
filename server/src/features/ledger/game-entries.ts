/**
 * Entries of the game (design §7): what a round paid or a purchase took. The reference, unique for player and cause for ever, lets the
 * balance, the entry and the caller's key be written in one statement on the one player, or nothing.
 */
import type { Entered } from '@arcade/contract/ledger'
import { type CallContext, Failure } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { countEntrySql } from '#src/db/entry-counts.ts'
import { boundsSql, createEntryOnce, type Earlier, ENTRY, type EntryRow, keepKeySql, writtenBy } from './entry-once.ts'

export interface EntryInput {
  userId: number
  amount: number
  cause: string
  reference: string
}

/** What is there of the reference: a row wherever the player is known. */
interface KnownRow extends Earlier {
  isSameAmount: boolean | null
  isTooLow: boolean
  isTooHigh: boolean
}

export function createGameEntries(database: Database): (input: EntryInput, context: CallContext) => Promise<Entered> {
  const once = createEntryOnce(database)
  const insertEntry = database.statement<EntryRow>('game-entry', ENTER)
  const findKnown = database.statement<KnownRow>('game-entry-known', FIND_KNOWN)

  return async ({ userId, amount, cause, reference }, context) => {
    const { isFirst, balance, entry } = await once(userId, context, {
      write: (key) => insertEntry([userId, amount, cause, reference, ...writtenBy(context), ...key]),
      unlessKnown: 'ledger_entries_reference',
      async findEarlier() {
        const [known] = await findKnown([userId, amount, cause, reference])
        if (!known) throw new Failure('NO_SUCH_PLAYER')
        if (known.seq !== null) {
          if (!known.isSameAmount) throw new Failure('REFERENCE_REUSED')
          return known
        }
        if (known.isTooLow) throw new Failure('BALANCE_TOO_LOW')
        if (known.isTooHigh) throw new Failure('BALANCE_TOO_HIGH')
        return undefined
      },
    })
    return { success: true, isFirst, balance, entry: entry! }
  }
}

const { isTooLow, isTooHigh } = boundsSql('$2::numeric')

/**
 * $1 the player, $2 the amount, $3 the cause, $4 the reference, $5 to $7 who says so, $8 and $9 the key or nulls. Who comes second waits for the
 * first at the balance, looks at what it is then, and fails at the reference if it was the same.
 */
const ENTER = `
  with paid as (
    update balances set balance = balance + $2::numeric, entries = entries + 1
     where user_id = $1::bigint and not ${isTooLow} and not ${isTooHigh}
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
  select b.balance, e.seq, e.amount = $2::numeric as "isSameAmount", b."isTooLow", b."isTooHigh"
    from (select user_id, balance, ${isTooLow} as "isTooLow", ${isTooHigh} as "isTooHigh" from balances where user_id = $1::bigint) b
    left join ledger_entries e on e.user_id = b.user_id and e.cause = $3::text and e.reference = $4::text`
