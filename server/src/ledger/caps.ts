/**
 * Caps: the most that a cause gives one player, or takes from one, on a UTC day. The row of the balance has the amounts of the
 * last day as JSON by cause (`-cause` for what is taken). So a transaction that has locked the row knows them without reading entries.
 * Without caps nothing is stored. In an UPDATE, Citus accepts neither COALESCE nor CASE around the current time, so GREATEST replaces nulls.
 */
import { OTHER_CAUSES, TAKEN } from '@arcade/contract/ledger/calls'
import { TODAY } from './periods.ts'

/**
 * The cap of each cause; that of `-cause` limits what the cause takes. Causes without a cap of their own share the cap for all others
 * (`*` and `-*`), if there is one.
 */
export type EntryCaps = ReadonlyMap<string, number>

/** A cap, and the name under which the amount so far is stored. */
export interface Cap {
  most: number
  countedAs: string
}

/** Returns the cap on what a cause of the game gives, or takes if the amount is negative. */
export function capOf(caps: EntryCaps, cause: string, amount: number): Cap | undefined {
  const sign = amount < 0 ? TAKEN : ''
  const countedAs = sign + (caps.has(sign + cause) ? cause : OTHER_CAUSES)
  const most = caps.get(countedAs)
  return most === undefined ? undefined : { most, countedAs }
}

export interface CapSql {
  /** Whether an amount is within the cap; 0 always is. */
  isWithin: string
  /** The assignment that adds the amount. */
  add: string
  /** The amount that is left. */
  left: string
}

const GIVEN_TODAY = `greatest(given -> ${TODAY}, '{}'::jsonb)`

/** The parameters are SQL. The amount, given or taken, is never negative; amount and cap are decimals. */
export function capSql({ cause, amount, cap }: { cause: string; amount: string; cap: string }): CapSql {
  const given = `greatest((${GIVEN_TODAY} ->> ${cause})::numeric, 0)`
  return {
    isWithin: `(${amount} <= 0 or ${given} + ${amount} <= ${cap})`,
    add: `given = jsonb_set('{}'::jsonb, array[${TODAY}], jsonb_set(${GIVEN_TODAY}, array[${cause}], (${given} + ${amount})::text::jsonb))`,
    left: `greatest(${cap} - ${given}, 0)`,
  }
}
