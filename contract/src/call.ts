/** Declares calls: path, method, access, body limit, and the format of errors. */
import { oc } from '@orpc/contract'
import { type BotScope, isWithinScope } from '#src/bot-tokens/fields.ts'
import type { ErrorCode } from './errors.ts'
import type { Needs } from '#src/team/permissions.ts'

/**
 * Who may make a call. `guest`: anyone, signed in or not. `user`: any signed-in user, also admins. `bot:…`: a bot token with at least that
 * scope. `player`: a player's own client, limited to that player's data.
 */
export type Access = 'guest' | 'user' | 'admin' | `bot:${BotScope}` | 'player'

/** Whether a bot token with `scope` may make a call with this access. */
export function admitsBot(access: readonly Access[], scope: BotScope): boolean {
  return access.some((one) => one.startsWith('bot:') && isWithinScope(one.slice('bot:'.length) as BotScope, scope))
}

export interface CallMeta {
  /** Who may make the call. The default is nobody. */
  access: readonly Access[]
  /** The permission that an admin's role must have; undefined for calls that are not for admins. */
  needs: Needs | undefined
  /** Whether a person with a second factor must have proved it within the last ten minutes (STEP_UP_MINUTES). */
  stepUp: boolean
  /** True for a GET that changes something; the same-origin rules for POST then apply. */
  changesState: boolean
  /**
   * True for a GET that changes nothing but still falls under the same-origin rules: another site could not read the spreadsheet, but could
   * make the server write it again and again.
   */
  isForOwnPages: boolean
  /** The largest request body in bytes; 0 for calls without a body. */
  bodyLimitBytes: number
  /** The input field whose rows the call validates one by one, so that an invalid row does not refuse all of them. */
  rowsField: string | undefined
  /**
   * What a failed call returns besides its message. Callers of §7 check `status: 'failed'` or `success: 'failed'`, callers of announcements
   * read the text in `error` (§8); all others get `success: false`.
   */
  failure: 'envelope' | 'status' | 'success' | 'error'
  /**
   * Whether a call other than GET is allowed while the disk is nearly full. `small`: writes a few rows, such as a sign-in, and is allowed
   * until half of the reserved space is used. `allowed`: only reads or removes, such as a download.
   */
  onFullDisk: 'refused' | 'small' | 'allowed'
  /**
   * Whether repeating a request with its `Idempotency-Key` returns the first answer. True for calls that create something and for each POST
   * of the game, except for bulk calls of admins, sign-in and registration, and creating tokens.
   */
  heedsIdempotencyKey: boolean
  /**
   * Whether the answer may be a second old, but never older than the caller's own last write. Such reads (lists, counts, dashboard,
   * downloads) may come from a replica. Not for records that are about to be changed, nor for access checks.
   */
  mayBeSecondOld: boolean
  /**
   * Whether the call waits for a service elsewhere. Guests then wait for their turn apart from other calls, so that a slow service holds up
   * nobody who does not use it.
   */
  waitsForService: boolean
  /** The error code of an unexpected failure; §8 has its own text for some calls. */
  unexpected: ErrorCode
}

export const MAX_JSON_BODY_BYTES = 64 * 1024

const closed: CallMeta = {
  access: [],
  needs: undefined,
  stepUp: false,
  changesState: false,
  isForOwnPages: false,
  bodyLimitBytes: MAX_JSON_BODY_BYTES,
  rowsField: undefined,
  failure: 'envelope',
  onFullDisk: 'refused',
  heedsIdempotencyKey: false,
  mayBeSecondOld: false,
  waitsForService: false,
  unexpected: 'INTERNAL',
}
const base = oc.$meta<CallMeta>(closed)

type Options = Partial<Omit<CallMeta, 'access' | 'needs'>>

/** Starts the declaration of a call. One that admins may make names the permission that it needs. */
export function call(access: readonly Exclude<Access, 'admin'>[], options?: Options): ReturnType<typeof base.meta>
export function call(access: readonly Access[], options: Options & { needs: Needs }): ReturnType<typeof base.meta>
export function call(access: readonly Access[], options: Options & { needs?: Needs } = {}) {
  return base.meta({ ...closed, access, ...options })
}
