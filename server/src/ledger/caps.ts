/**
 * Caps (design §7): the most that a cause gives one player on a day in UTC. What was given so far stands in the row of the
 * balance, as JSON by day and cause of the last day alone, so whoever holds the row knows it exactly without looking at any
 * entry; without caps nothing is kept. In an UPDATE Citus takes neither COALESCE nor CASE around the time of day, so GREATEST
 * gives what is to stand for null.
 */
import { OTHER_CAUSES } from '@arcade/contract/ledger/calls'

/** The most for each cause. Causes of the game that are not named have none, unless there is one for all of them together. */
export type EntryCaps = ReadonlyMap<string, number>

/** What limits a cause: the most, and under which name it is kept what was given. */
export interface Cap {
  most: number
  countedAs: string
}

/** The cap of a cause of the game. */
export function capOf(caps: EntryCaps, cause: string): Cap | undefined {
  const countedAs = caps.has(cause) ? cause : OTHER_CAUSES
  const most = caps.get(countedAs)
  return most === undefined ? undefined : { most, countedAs }
}

export interface CapSql {
  /** Whether an amount may still be given; what takes, or is 0, always may. */
  isWithin: string
  /** An assignment that adds the amount. */
  add: string
  /** How much more may be given. */
  left: string
}

const TODAY = `to_char(now() at time zone 'UTC', 'YYYY-MM-DD')`
const GIVEN_TODAY = `greatest(given -> ${TODAY}, '{}'::jsonb)`

/** @param cause in SQL, as are the amount and the cap, which are decimals */
export function capSql({ cause, amount, cap }: { cause: string; amount: string; cap: string }): CapSql {
  const given = `greatest((${GIVEN_TODAY} ->> ${cause})::numeric, 0)`
  return {
    isWithin: `(${amount} <= 0 or ${given} + ${amount} <= ${cap})`,
    add: `given = jsonb_set('{}'::jsonb, array[${TODAY}], jsonb_set(${GIVEN_TODAY}, array[${cause}], (${given} + ${amount})::text::jsonb))`,
    left: `greatest(${cap} - ${given}, 0)`,
  }
}
