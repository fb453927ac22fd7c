/**
 * Caps (design §7): the most that a cause gives one player on a UTC day. The amount given so far is stored in the row of the balance, as
 * JSON by cause for the last day only, so a transaction that has locked the row knows it exactly without reading entries. Without caps
 * nothing is stored. In an UPDATE, Citus accepts neither COALESCE nor CASE around the current time, so GREATEST replaces nulls.
 */
import { OTHER_CAUSES } from '@arcade/contract/ledger/calls'

/** The cap of each cause. Causes without a cap of their own share the cap for all others, if there is one. */
export type EntryCaps = ReadonlyMap<string, number>

/** A cap, and the name under which the amount given so far is stored. */
export interface Cap {
  most: number
  countedAs: string
}

/** Returns the cap of a cause of the game. */
export function capOf(caps: EntryCaps, cause: string): Cap | undefined {
  const countedAs = caps.has(cause) ? cause : OTHER_CAUSES
  const most = caps.get(countedAs)
  return most === undefined ? undefined : { most, countedAs }
}

export interface CapSql {
  /** Whether an amount is within the cap; 0 and negative amounts always are. */
  isWithin: string
  /** The assignment that adds the amount. */
  add: string
  /** The amount that is left. */
  left: string
}

const TODAY = `to_char(now() at time zone 'UTC', 'YYYY-MM-DD')`
const GIVEN_TODAY = `greatest(given -> ${TODAY}, '{}'::jsonb)`

/** @param cause SQL, as are the amount and the cap, which are decimals */
export function capSql({ cause, amount, cap }: { cause: string; amount: string; cap: string }): CapSql {
  const given = `greatest((${GIVEN_TODAY} ->> ${cause})::numeric, 0)`
  return {
    isWithin: `(${amount} <= 0 or ${given} + ${amount} <= ${cap})`,
    add: `given = jsonb_set('{}'::jsonb, array[${TODAY}], jsonb_set(${GIVEN_TODAY}, array[${cause}], (${given} + ${amount})::text::jsonb))`,
    left: `greatest(${cap} - ${given}, 0)`,
  }
}
