/** The app's API client: the contract's calls (§7), the query cache, and what happens when the server rejects the session. */
import type { contract } from '@arcade/contract/contract'
import type { SecondFactorMethod } from '@arcade/contract/second-factor/fields'
import { createORPCClient, ORPCError } from '@orpc/client'
import type { ContractRouterClient } from '@orpc/contract'
import { OpenAPILink } from '@orpc/openapi-client/fetch'
import { createTanstackQueryUtils } from '@orpc/tanstack-query'
import { QueryClient } from '@tanstack/react-query'
import { contractRoutes, failureTexts } from 'virtual:contract-routes'
import { asCallError, type CallError, fromBody, unanswered } from './call-error.ts'
import { randomUuid } from './uuid.ts'

const rejectionListeners = new Set<(error: CallError) => void>()

/** Calls `listener` when the server rejects the session (SIGNED_OUT, FORBIDDEN). Returns a function that unsubscribes. */
export function onRejection(listener: (error: CallError) => void): () => void {
  rejectionListeners.add(listener)
  return () => rejectionListeners.delete(listener)
}

let renewSession: () => Promise<boolean> = async () => false

/** Sets the function that renews a session that has ended. If it resolves with true, the refused call is sent again. */
export function onSessionEnd(renew: () => Promise<boolean>): void {
  renewSession = renew
}

type Prove = (methods: readonly SecondFactorMethod[]) => Promise<boolean>

let proveAgain: Prove = async () => false

/** Sets the function that asks for the second factor again (STEP_UP_NEEDED). If it resolves with true, the refused call is sent again. */
export function onStepUp(prove: Prove): void {
  proveAgain = prove
}

interface FailedCall {
  /** The call's path in the contract, such as `['users', 'list']`. */
  path: readonly string[]
  /** Whether the browser was offline when the call was made. */
  wasOffline: boolean
}

/** Returns what a failed call or download throws: a CallError, or the error of an aborted one. Reports a rejected session. */
export function reportFailure(error: unknown, call?: FailedCall): unknown {
  if (error instanceof DOMException && error.name === 'AbortError') return error
  const callError = call ? withCallMessage(error, call) : asCallError(error)
  if (callError.code === 'SIGNED_OUT' || callError.code === 'FORBIDDEN')
    for (const listener of rejectionListeners) listener(callError)
  return callError
}

/** Adds what depends on the call: its own error text (§8) if the answer has none, or whether its changes were saved. */
function withCallMessage(error: unknown, { path, wasOffline }: FailedCall): CallError {
  if (error instanceof ORPCError) return fromBody(error.data, error.status, failureTexts[path.join('.')])
  const callError = asCallError(error)
  if (callError.code !== 'NETWORK' || isReading(path)) return callError
  // Signing in and out saves no user input.
  if (path[0] === 'auth')
    return wasOffline ? unanswered('You are offline. Please try again when the connection is back.', error, 'OFFLINE') : callError
  // Without an answer, the request may still have succeeded.
  const message = wasOffline
    ? 'You are offline: nothing was saved. Please try again when the connection is back.'
    : 'The connection is gone, and it is not known whether this was saved. Please try again: nothing is saved twice.'
  return unanswered(message, error, wasOffline ? 'OFFLINE' : 'NETWORK')
}

function isReading(path: readonly string[]): boolean {
  let node: unknown = contractRoutes
  for (const key of path) node = (node as Record<string, unknown>)[key]
  return (node as { '~orpc': { route: { method?: string } } })['~orpc'].route.method === 'GET'
}

export interface CallOptions {
  idempotencyKey?: string
  /** Receives the request id of a successful call, which is also the act's id in the audit. */
  onRequestId?: (id: string) => void
}

const link = new OpenAPILink<CallOptions>(contractRoutes, {
  url: () => location.origin,
  headers: ({ context: { idempotencyKey } }) => (idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  customErrorResponseBodyDecoder: (body, { status }) => new ORPCError('INTERNAL', { status, data: body }),
  fetch: async (request, init, { context }) => {
    const response = await fetch(request, init)
    const requestId = response.headers.get('x-request-id')
    if (response.ok && requestId !== null) context.onRequestId?.(requestId)
    // HTML comes from a proxy or from a server that is being installed. It does not answer the call.
    if (response.ok && !isJson(response)) throw new ORPCError('INTERNAL', { status: 502 })
    return response
  },
  interceptors: [
    async (call) => {
      const wasOffline = !navigator.onLine
      try {
        return await call.next().catch(async (error: unknown) => {
          const { code, methods } = asCallError(error)
          if (code === 'SIGNED_OUT' && (await renewSession())) return call.next()
          if (code !== 'STEP_UP_NEEDED') throw error
          if (await proveAgain(methods)) return call.next()
          throw new ORPCError('INTERNAL', { status: 403, data: { code, message: NOT_PROVED } })
        })
      } catch (error) {
        throw reportFailure(error, { path: call.path, wasOffline })
      }
    },
  ],
})

const NOT_PROVED = 'Nothing was done, because you did not prove your second factor.'

export function isJson(response: Response): boolean {
  return response.headers.get('content-type')?.includes('json') ?? false
}

/** The contract's calls as functions. Each rejects with a CallError. */
export const client: ContractRouterClient<typeof contract, CallOptions> = createORPCClient(link)

/**
 * Reloads the document: a document in which loading a file failed may not request that file again. Does nothing while the server does not
 * answer, because the browser would then replace the app with its own error page.
 */
export function reloadPage(): void {
  client.auth.session().then(
    () => location.reload(),
    () => {},
  )
}

/** Calls `create` with an idempotency key in its options. Rejects with a CallError. */
export type CreateOnce = <T>(create: (options: { context: CallOptions }) => Promise<T>) => Promise<T>

/**
 * Returns a function for one submission of a form. However often it is called, and even if answers get lost, the server creates one record
 * (Idempotency-Key). Any answer below 500, also a refusal, ends the submission, and the next call gets a new key.
 */
export function makeCreateOnce(): CreateOnce {
  let key: string | undefined
  return async (create) => {
    key ??= randomUuid()
    try {
      const answer = await create({ context: { idempotencyKey: key } })
      key = undefined
      return answer
    } catch (cause) {
      const error = asCallError(cause)
      if (!error.isException) key = undefined
      throw error
    }
  }
}

/** TanStack Query options for each call: `useQuery(api.users.list.queryOptions({ input }))`. */
export const api = createTanstackQueryUtils(client)

/** Query options of a form: its record is not refetched in the background, because the form would then hold an older version than the page. */
export const fetchOnce = { staleTime: Infinity, gcTime: 0, refetchOnWindowFocus: false } as const

const RETRIES = 2

let isSignedIn = (): boolean => true

/** Sets the function that tells whether a person is signed in. Without one, queries are sent at any time. */
export function sendQueriesWhile(check: () => boolean): void {
  isSignedIn = check
}

/** The `meta` of a query that guests may make, too. Every other query waits until a person is signed in. */
export const forGuests = { isForGuests: true }

/**
 * A query client that sends nothing while nobody is signed in, except what guests may ask. After a sign-out, the old page stays until Login is
 * loaded. Its queries were removed, and the next render would make them again, even with an `enabled` of their own.
 */
class SessionQueryClient extends QueryClient {
  override defaultQueryOptions: QueryClient['defaultQueryOptions'] = (options) => {
    const defaulted = super.defaultQueryOptions(options)
    // oxlint-disable-next-line no-underscore-dangle -- TanStack Query's own mark of options that went through here already
    if (options._defaulted || defaulted.meta === forGuests) return defaulted
    const { enabled } = defaulted
    defaulted.enabled = (query) => isSignedIn() && (typeof enabled === 'function' ? enabled(query) : enabled) !== false
    return defaulted
  }
}

export const queryClient = new SessionQueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always', // by default TanStack Query pauses silently while offline; show an error instead
      retry: (failures, error) => failures < RETRIES && asCallError(error).isException,
      retryDelay: (failures) => 500 * 2 ** failures,
    },
    mutations: { networkMode: 'always' },
  },
})
