/** What every feature uses: the types of handlers for the contract's calls, the context they get, and the failures they throw. */
import type {
  AnyContractProcedure,
  AnyContractRouter,
  InferContractRouterInputs,
  InferContractRouterOutputs,
} from '@orpc/contract'
import type { SessionUser } from '@arcade/contract/auth/calls'
import type { BotScope } from '@arcade/contract/bot-tokens/fields'
import { errorCatalogue, type ErrorCode } from '@arcade/contract/errors'
import type { SecondFactorMethod } from '@arcade/contract/second-factor/fields'
import { missingPermission } from '@arcade/contract/team/missing-permission'
import { type Needs, permissionLabels } from '@arcade/contract/team/permissions'

/** The holder of a bot token. */
export interface Bot {
  id: string
  name: string
  scope: BotScope
}

/** Who makes a call. The HTTP layer has already checked that the call's access allows them. */
export type Caller =
  | { kind: 'guest' }
  | { kind: 'user'; user: SessionUser; sessionId: string }
  | ({ kind: 'bot' } & Bot)
  /** A player's own client. The console may not know the player. */
  | { kind: 'player'; userId: number }

export interface CallContext {
  caller: Caller
  requestId: string
  /** The host and port that the request was sent to, as in `console.example.com`. */
  host: string
  /** The client's address: an IPv4 address, or the /64 network of an IPv6 one. */
  address: string
  /** The token in the session cookie, whether or not it is still valid. */
  sessionToken: string | undefined
  /** Sends the session cookie with the answer; `undefined` clears it. */
  setSessionToken: (token: string | undefined) => void
  /** The value of the device's cookie, whether or not we have signed it. */
  deviceCookie: string | undefined
  /** Sends the device's cookie with the answer. */
  setDeviceCookie: (value: string) => void
  /** The token of a browser that was sent to the sign-in service. */
  flowCookie: string | undefined
  /** Sends that cookie with the answer; `undefined` clears it. */
  setFlowCookie: (value: string | undefined) => void
  /** The browser and system that the client claims to be, such as `Chrome on Windows`. */
  device: string
  /** The site that the browser says the request comes from: an origin, or the value of Sec-Fetch-Site. */
  origin: string | undefined
  /** Whether the client already has this version of what it asks for. A download without a body then becomes 304. */
  hasVersion: (etag: string) => boolean
  /** The caller's idempotency key, if it sent one and the call supports it (identity/idempotency.ts). */
  idempotencyKey: IdempotencyKey | undefined
  /** Aborted when the client has gone. */
  signal: AbortSignal
}

export interface IdempotencyKey {
  /** Whose key it is: two callers may use the same one. */
  caller: string
  /** SHA-256 of the key. */
  hash: Buffer
  /** What was asked for: equal for the same call with the same input. */
  fingerprint: Buffer
}

type HandlerOf<C extends AnyContractProcedure> = (
  input: ParsedInput<C>,
  context: CallContext,
) => Promise<Answered<InferContractRouterOutputs<C>>>

/** A handler's answer. Its fields may be JSON that the database wrote. */
type Answered<Output> = Output | { [Name in keyof Output]: Output[Name] | JsonText<Output[Name]> }

/** JSON that PostgreSQL wrote. It is sent unchanged: parsing a page of rows and writing it again would take most of a request's time. */
export class JsonText<Value> {
  readonly text: string
  /** The type of the parsed text, for the compiler only. */
  declare readonly value: Value

  constructor(text: string) {
    this.text = text
  }
}

/** The output of a call's input schema: defaults are filled in and texts trimmed. */
type ParsedInput<C extends AnyContractProcedure> =
  NonNullable<C['~orpc']['inputSchema']> extends {
    '~standard': { types?: infer T }
  }
    ? NonNullable<T> extends { output: infer Output }
      ? Output
      : InferContractRouterInputs<C>
    : undefined

/** The handlers for a part of the contract, in the same shape. */
export type Handlers<Router extends AnyContractRouter> = Router extends AnyContractProcedure
  ? HandlerOf<Router>
  : { [K in keyof Router]: Router[K] extends AnyContractRouter ? Handlers<Router[K]> : never }

/** A failure from the closed catalogue: `code` and `message` reach the client, `cause` only the log. */
export class Failure extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly fields: Record<string, string> | undefined
  readonly left: number | undefined
  readonly methods: readonly SecondFactorMethod[] | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(
    code: ErrorCode,
    options: {
      message?: string
      fields?: Record<string, string>
      left?: number
      methods?: readonly SecondFactorMethod[]
      retryAfterSeconds?: number
      cause?: unknown
    } = {},
  ) {
    super(options.message ?? errorCatalogue[code].message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.status = errorCatalogue[code].status
    this.fields = options.fields
    this.left = options.left
    this.methods = options.methods
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** Returns the signed-in caller of a call whose access admits only people. @throws Failure SIGNED_OUT for any other caller */
export function signedIn(context: CallContext): SessionUser {
  if (context.caller.kind !== 'user') throw new Failure('SIGNED_OUT')
  return context.caller.user
}

/** Returns the session of the signed-in caller, and whose it is. @throws Failure SIGNED_OUT for any other caller */
export function sessionOf({ caller }: Pick<CallContext, 'caller'>): { sessionId: string; userId: string } {
  if (caller.kind !== 'user') throw new Failure('SIGNED_OUT')
  return { sessionId: caller.sessionId, userId: caller.user.id }
}

/**
 * Checks that a person's role has the permission, or one of several.
 * @throws Failure FORBIDDEN, which names the missing permission
 */
export function refuseWithoutPermission(
  needs: Needs,
  { permissions, lacksSecondFactor }: Pick<SessionUser, 'permissions' | 'lacksSecondFactor'>,
): void {
  const missing = missingPermission(needs, permissions)
  if (missing === undefined) return
  if (lacksSecondFactor)
    throw new Failure('FORBIDDEN', { message: 'This console requires a second factor. Set one up under Your Account first.' })
  throw new Failure('FORBIDDEN', {
    message: `You are not allowed to do this: your role lacks the permission “${permissionLabels[missing]}” (${missing}).`,
  })
}

/**
 * Returns the player that a game call is about. A player's client may say `me`.
 * @throws Failure FORBIDDEN for a client that asks for another player, INVALID_INPUT for a bot that says `me`
 */
export function playerOf({ caller }: CallContext, userId: number | 'me'): number {
  if (caller.kind === 'player') {
    if (userId === 'me' || userId === caller.userId) return caller.userId
    throw new Failure('FORBIDDEN')
  }
  if (userId === 'me')
    throw new Failure('INVALID_INPUT', { message: '`me` is for a player’s own client: a bot names the player.' })
  return userId
}

/** Waits for a slow result, such as a sort of millions of rows. @throws Failure TOO_SLOW when the client leaves */
export async function untilClientLeaves<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  result.catch(() => {})
  const gone = Promise.withResolvers<never>()
  const handleAbort = (): void => gone.reject(new Failure('TOO_SLOW', { cause: signal.reason }))
  if (signal.aborted) handleAbort()
  signal.addEventListener('abort', handleAbort)
  return Promise.race([result, gone.promise]).finally(() => signal.removeEventListener('abort', handleAbort))
}

/** Returns a value that JSON shows with exactly these digits. */
export function rawNumber(digits: string): unknown {
  return (JSON as unknown as WithRawJson).rawJSON(digits)
}

/** What TypeScript's library does not declare yet. */
interface WithRawJson {
  rawJSON(text: string): unknown
}
