/** How a call is declared: path, verb, who may make it, how large its body may be, how its failure looks on the wire. */
import { oc } from '@orpc/contract'
import { type BotScope, isWithinScope } from './bot-tokens/fields.ts'
import type { ErrorCode } from './errors.ts'

/**
 * `guest` is anyone, signed in or not; `user` is any signed-in person, so admins too; `bot:read`, `bot:play` and `bot:admin` are bot tokens
 * whose scope is at least that; `player` is a player's own client, which reaches that player alone.
 */
export type Access = 'guest' | 'user' | 'admin' | `bot:${BotScope}` | 'player'

/** Whether a bot whose token has this scope may make a call of that access. */
export function admitsBot(access: readonly Access[], scope: BotScope): boolean {
  return access.some((one) => one.startsWith('bot:') && isWithinScope(one.slice('bot:'.length) as BotScope, scope))
}

export interface CallMeta {
  /** The kinds of callers that may make the call. The default is empty: nobody may. */
  access: readonly Access[]
  /** True for a GET that changes something, so that the same-origin rules apply to it as to a POST. */
  changesState: boolean
  /**
   * True for a GET that falls under the same-origin rules although it changes nothing: another site could not read a spreadsheet, but have it
   * written, which costs the server something.
   */
  isForOwnPages: boolean
  /** The largest request body, in bytes; 0 for calls that take none. */
  bodyLimitBytes: number
  /** The field of the input whose rows the call checks one by one, so that what nobody can mean in one of them does not refuse all. */
  rowsField: string | undefined
  /**
   * What a failed call answers beside its message. Callers of §7 look for `status: 'failed'` or `success: 'failed'`, those of announcements
   * for the text in `error` (§8); all others get `success: false`.
   */
  failure: 'envelope' | 'status' | 'success' | 'error'
  /**
   * What happens to a call that is not a GET while the disk is nearly full. `small` is for one that writes some rows, such as signing in: it
   * is let through until half of what is kept back is gone. `allowed` is for one that only reads or removes, such as an export.
   */
  onFullDisk: 'refused' | 'small' | 'allowed'
  /**
   * Whether a request that is repeated with its `Idempotency-Key` gets the first one's answer: so do calls that create something and each
   * POST of the game, except admins' batches, signing in (which registering does, too) and the making of tokens.
   */
  heedsIdempotencyKey: boolean
  /**
   * Whether the answer may be a second old, though never older than what its caller has written: lists, counts, figures and exports, which
   * may then come from a replica. Not for what is changed next, nor for who may do what.
   */
  mayBeSecondOld: boolean
  /** The code of a failure that nobody foresaw; §8 has a text of its own for some calls. */
  unexpected: ErrorCode
}

export const JSON_BODY_LIMIT_BYTES = 64 * 1024

const closed: CallMeta = {
  access: [],
  changesState: false,
  isForOwnPages: false,
  bodyLimitBytes: JSON_BODY_LIMIT_BYTES,
  rowsField: undefined,
  failure: 'envelope',
  onFullDisk: 'refused',
  heedsIdempotencyKey: false,
  mayBeSecondOld: false,
  unexpected: 'INTERNAL',
}
const base = oc.$meta<CallMeta>(closed)

/** Starts the declaration of a call that `access` may make. */
export function call(access: readonly Access[], meta: Partial<Omit<CallMeta, 'access'>> = {}) {
  return base.meta({ ...closed, access, ...meta })
}
