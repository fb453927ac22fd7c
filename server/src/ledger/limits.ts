/** Limits on ledger entries: SQL that checks them on a row of `balances`, and the errors for the caller. */
import { MAX_NUMBER } from '@arcade/contract/entity'
import { Failure } from '#src/calls.ts'
import { IS_BLOCKED } from './blocks.ts'
import { capSql } from './caps.ts'

/** Null if there is no amount. */
export interface Bounds {
  isTooLow: boolean | null
  isTooHigh: boolean | null
}

export interface Limits extends Bounds {
  isBlocked: boolean
  /** Null if the cause has no cap. */
  isBeyondCap: boolean | null
  left: number | null
}

/** SQL on a row of `balances`: whether a debit would make it negative, and whether it would exceed the largest exact number. */
export function boundsSql(amount: string): Record<keyof Bounds, string> {
  return {
    isTooLow: `(${amount} < 0 and balance + ${amount} < 0)`,
    isTooHigh: `(balance + ${amount} > ${MAX_NUMBER})`,
  }
}

/** The columns of `Limits`, from a row of `balances`. All of the options are SQL; the cap may be null. */
export function limitsSql({ cause, amount, cap }: { cause: string; amount: string; cap: string }): string {
  const { isTooLow, isTooHigh } = boundsSql(amount)
  const { isWithin, left } = capSql({ cause, amount: `abs(${amount})`, cap })
  const ifCapped = (value: string): string => `case when ${cap} is not null then ${value} end`
  return `${IS_BLOCKED} as "isBlocked", ${isTooLow} as "isTooLow", ${isTooHigh} as "isTooHigh",
    ${ifCapped(`not ${isWithin}`)} as "isBeyondCap", ${ifCapped(left)} as left`
}

/** @throws Failure if the balance would leave its bounds */
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

/**
 * @throws Failure if the player is blocked, the balance would leave its bounds, or the cap is reached; it says how much is left
 */
export function refuseBeyondLimits(limits: Limits, { cause, amount, most }: Wanted): void {
  if (limits.isBlocked) throw new Failure('PLAYER_BLOCKED')
  refuseBeyondBounds(limits)
  if (!limits.isBeyondCap) return
  const left = limits.left ?? 0
  const more = left <= 0 ? 'No more' : `At most ${left} more`
  // The message differs for an amount above the cap itself: waiting for the next day would not help.
  const isNever = most !== undefined && Math.abs(amount) > most
  const done = amount < 0 ? 'taken' : 'given'
  const message = isNever
    ? `${Math.abs(amount)} is more than can be ${done} for ${cause} on any day: at most ${most}.`
    : `${more} can be ${done} for ${cause} today (UTC).`
  throw new Failure('CAP_REACHED', { message, left })
}
