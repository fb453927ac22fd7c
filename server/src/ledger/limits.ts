/** What stands against an entry on a player's balance: what the balance's row says of it in SQL, and what the caller is told. */
import { MAX_NUMBER } from '@arcade/contract/entity'
import { Failure } from '#src/calls.ts'
import { IS_BLOCKED } from './blocks.ts'
import { capSql } from './caps.ts'

/** Null of what has no amount. */
export interface Bounds {
  isTooLow: boolean | null
  isTooHigh: boolean | null
}

export interface Limits extends Bounds {
  isBlocked: boolean
  /** Null where the cause has no cap. */
  isBeyondCap: boolean | null
  left: number | null
}

/** SQL on a row of `balances`: whether a debit would take it below 0, and an amount beyond what is kept exactly. */
export function boundsSql(amount: string): Record<keyof Bounds, string> {
  return {
    isTooLow: `(${amount} < 0 and balance + ${amount} < 0)`,
    isTooHigh: `(balance + ${amount} > ${MAX_NUMBER})`,
  }
}

/** The columns of `Limits`, from a row of `balances`. All of the options are SQL; the cap may be null. */
export function limitsSql({ cause, amount, cap }: { cause: string; amount: string; cap: string }): string {
  const { isTooLow, isTooHigh } = boundsSql(amount)
  const { isWithin, left } = capSql({ cause, amount, cap })
  const ifCapped = (value: string): string => `case when ${cap} is not null then ${value} end`
  return `${IS_BLOCKED} as "isBlocked", ${isTooLow} as "isTooLow", ${isTooHigh} as "isTooHigh",
    ${ifCapped(`not ${isWithin}`)} as "isBeyondCap", ${ifCapped(left)} as left`
}

/** @throws Failure for a balance that would leave its bounds */
export function refuseBeyondBounds({ isTooLow, isTooHigh }: Bounds): void {
  if (isTooLow) throw new Failure('BALANCE_TOO_LOW')
  if (isTooHigh) throw new Failure('BALANCE_TOO_HIGH')
}

interface Wanted {
  cause: string
  amount: number
  /** The cap of the cause. */
  most: number | undefined
}

/** @throws Failure for who is blocked, too, and for more than the cause may give on a day, with how much more it may */
export function refuseBeyondLimits(limits: Limits, { cause, amount, most }: Wanted): void {
  if (limits.isBlocked) throw new Failure('PLAYER_BLOCKED')
  refuseBeyondBounds(limits)
  if (!limits.isBeyondCap) return
  const left = limits.left ?? 0
  const more = left <= 0 ? 'No more' : `At most ${left} more`
  // What no day allows would be asked for again each day.
  const isNever = most !== undefined && amount > most
  const message = isNever
    ? `${amount} is more than can be given for ${cause} on any day: at most ${most}.`
    : `${more} can be given for ${cause} today (UTC).`
  throw new Failure('CAP_REACHED', { message, left })
}
