/** The app's API client: the contract's calls and downloads (§7), the query cache, and CallError, which every failure becomes. */
import type { contract } from '@arcade/contract/contract'
import type { ErrorBody, ErrorCode } from '@arcade/contract/errors'
import type { Followed, FollowedInput } from '@arcade/contract/dashboard/calls'
import { createORPCClient, ORPCError } from '@orpc/client'
import type { ContractRouterClient } from '@orpc/contract'
import { OpenAPILink } from '@orpc/openapi-client/fetch'
import { createTanstackQueryUtils } from '@orpc/tanstack-query'
import { QueryClient } from '@tanstack/react-query'
import { contractRoutes, failureTexts } from 'virtual:contract-routes'

interface CallProblem {
  /** NETWORK: no answer arrived. OFFLINE: the browser was offline. */
  code: ErrorCode | 'NETWORK' | 'OFFLINE'
  status: number
  message: string
  fields?: Record<string, string> | undefined
  requestId?: string | undefined
  retryAfterSeconds?: number | undefined
}

/** A failed call. Its `message` is shown to the user. */
export class CallError extends Error {
  override name = 'CallError'
  readonly code: CallProblem['code']
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number
  /** Messages for refused fields, by the fields' names in the API. */
  readonly fields: Record<string, string>
  readonly requestId: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(problem: CallProblem, options?: ErrorOptions) {
    super(problem.message, options)
    this.code = problem.code
    this.status = problem.status
    this.fields = problem.fields ?? {}
    this.requestId = problem.requestId
    this.retryAfterSeconds = problem.retryAfterSeconds
  }

  /** Whether this is an "exception" of §8 (no answer, or a server failure) rather than a "result not success". */
  get isException(): boolean {
    return this.status === 0 || this.status >= 500
  }
}

/** Converts any error to a CallError. An error that did not come from a call counts as an exception. */
export function asCallError(error: unknown): CallError {
  if (error instanceof CallError) return error
  if (error instanceof ORPCError) return fromBody(error.data, error.status)
  return unanswered('The server cannot be reached. Please try again.', error)
}

/**
 * Returns the message for content that failed to load. It offers a retry only for exceptions and where the server asks to wait
 * (Retry-After).
 */
export function problemOf(error: unknown, onRetry: () => void): { message: string; onRetry?: () => void } {
  const { message, isException, retryAfterSeconds } = asCallError(error)
  return isException || retryAfterSeconds !== undefined ? { message, onRetry } : { message }
}

function unanswered(message: string, cause: unknown, code: 'NETWORK' | 'OFFLINE' = 'NETWORK'): CallError {
  return new CallError({ code, status: 0, message }, { cause })
}

/** `fallback` is the message when the answer gives none, as with a proxy's error page. */
function fromBody(body: unknown, status: number, fallback = 'Internal Server Error!'): CallError {
  if (isErrorBody(body)) return new CallError({ ...body, status })
  return new CallError({ code: 'INTERNAL', status, message: readMessage(body) ?? fallback })
}

function isErrorBody(body: unknown): body is ErrorBody {
  return typeof body === 'object' && body !== null && 'code' in body && 'message' in body && typeof body.message === 'string'
}

/** Returns the `message` that every failed call has (§7). */
function readMessage(body: unknown): string | undefined {
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : undefined
  return typeof message === 'string' && message !== '' ? message : undefined
}

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

interface FailedCall {
  /** The call's path in the contract, such as `['users', 'list']`. */
  path: readonly string[]
  /** Whether the browser was offline when the call was made. */
  wasOffline: boolean
}

function failed(error: unknown, call?: FailedCall): unknown {
  if (error instanceof DOMException && error.name === 'AbortError') return error
  const callError = call ? explained(error, call) : asCallError(error)
  if (callError.code === 'SIGNED_OUT' || callError.code === 'FORBIDDEN')
    for (const listener of rejectionListeners) listener(callError)
  return callError
}

/** Adds what depends on the call: its own error text (§8) if the answer has none, or whether its changes were saved. */
function explained(error: unknown, { path, wasOffline }: FailedCall): CallError {
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
          if (asCallError(error).code === 'SIGNED_OUT' && (await renewSession())) return call.next()
          throw error
        })
      } catch (error) {
        throw failed(error, { path: call.path, wasOffline })
      }
    },
  ],
})

function isJson(response: Response): boolean {
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
export function creation(): CreateOnce {
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

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always', // by default TanStack Query pauses silently while offline; show an error instead
      retry: (failures, error) => failures < RETRIES && asCallError(error).isException,
      retryDelay: (failures) => 500 * 2 ** failures,
    },
    mutations: { networkMode: 'always' },
  },
})

const FIRST_RETRY_MS = 2000
const LAST_RETRY_MS = 60_000

interface FollowedWatcher<Name extends keyof Followed> {
  /** Called with the current state when the stream opens, also after a reconnection. */
  onOpen: (now: Followed[Name]) => void
  /** Called with the new state after each change. */
  onChange: (now: Followed[Name]) => void
  /** Called when the stream breaks. It reconnects after a delay. */
  onLost?: () => void
}

/**
 * Subscribes to server-sent events, until the returned function is called or the server rejects the session. The stream is open only while
 * the page is visible, because all tabs of a browser share six HTTP/1.1 connections to a server.
 */
export function follow<Name extends keyof Followed>(
  name: Name,
  followed: FollowedInput,
  { onOpen, onChange, onLost }: FollowedWatcher<Name>,
): () => void {
  const { path = '' } = contractRoutes.dashboard.events['~orpc'].route
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let attempts = 0
  const close = (): void => {
    clearTimeout(timer)
    timer = undefined
    source?.close()
    source = undefined
  }
  const open = (): void => {
    close()
    let isFirst = true
    source = new EventSource(`${path}?${new URLSearchParams(followed as Record<string, string>).toString()}`)
    source.addEventListener(name, ({ data }: MessageEvent<string>) => {
      attempts = 0
      const notify = isFirst ? onOpen : onChange
      isFirst = false
      notify(JSON.parse(data) as Followed[Name])
    })
    source.addEventListener('error', () => {
      close()
      onLost?.()
      const delay = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempts++)
      timer = setTimeout(retry, delay * (0.5 + Math.random() / 2)) // jitter: not all browsers reconnect to a restarted server at once
    })
  }
  // An EventSource does not say why it was refused. A call does, and `onRejection` reports it.
  const retry = (): void => {
    const rejected = (error: unknown): void => {
      if (!['SIGNED_OUT', 'FORBIDDEN'].includes(asCallError(error).code)) open()
    }
    const expected = timer
    client.dashboard.get().then(
      () => timer === expected && open(),
      (error: unknown) => timer === expected && rejected(error),
    )
  }
  const openWhileVisible = (): void => {
    if (document.visibilityState === 'visible') open()
    else close()
  }
  document.addEventListener('visibilitychange', openWhileVisible)
  openWhileVisible()
  return () => {
    document.removeEventListener('visibilitychange', openWhileVisible)
    close()
  }
}

export interface DownloadProgress {
  bytes: number
  /** Rows written so far, of `total`; absent until the server reports them. */
  rows?: number
  total?: number
}

const PROGRESS_EVERY_MS = 1000

type Downloads = typeof client.downloads
type SheetName = Exclude<keyof Downloads, 'progress'>

/**
 * Fetches a spreadsheet as a stream. `fallbackName` is the file name if the answer has no content-disposition (§7).
 * @throws CallError, or an AbortError once `signal` is aborted
 */
export async function fetchSpreadsheet<Name extends SheetName>(
  name: Name,
  input: Omit<Parameters<Downloads[Name]>[0] & object, 'exportId'>,
  options: { fallbackName: string; signal: AbortSignal; onProgress: (progress: DownloadProgress) => void },
): Promise<{ blob: Blob; fileName: string }> {
  const exportId = randomUuid()
  const progress: DownloadProgress = { bytes: 0 }
  const report = (news: Partial<DownloadProgress>) => options.onProgress({ ...Object.assign(progress, news) })
  const timer = setInterval(() => {
    client.downloads.progress({ exportId }, { signal: options.signal }).then(report, () => {}) // the download itself reports failures
  }, PROGRESS_EVERY_MS)
  try {
    const response = await requestSheet(name, { ...input, exportId }, options.signal)
    const blob = await readBlob(response, (bytes) => report({ bytes }))
    return { blob, fileName: parseFileName(response.headers.get('content-disposition')) ?? options.fallbackName }
  } catch (error) {
    throw failed(error)
  } finally {
    clearInterval(timer)
  }
}

async function requestSheet(name: SheetName, input: object, signal: AbortSignal): Promise<Response> {
  const { method = 'GET', path = '' } = contractRoutes.downloads[name]['~orpc'].route
  const hasBody = method !== 'GET'
  const query = hasBody ? '' : `?${new URLSearchParams(Object.entries(input)).toString()}`
  const body = hasBody ? { body: JSON.stringify(input), headers: { 'content-type': 'application/json' } } : {}
  const response = await fetch(`${path}${query}`, { method, signal, ...body })
  // §7: a failed download may answer with an object (`status: 'failed'` and a message) instead of a spreadsheet.
  if (!response.ok || isJson(response)) throw fromBody(await response.json().catch(() => undefined), response.status)
  return response
}

async function readBlob(response: Response, onBytes: (bytes: number) => void): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  for (const reader = response.body?.getReader(); reader;) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
    bytes += value.byteLength
    onBytes(bytes)
  }
  return new Blob(chunks, { type: response.headers.get('content-type') ?? '' })
}

/** Fetches a stored file to upload it again as `name`, because a copied item needs files of its own. @throws CallError */
export async function fetchStoredFile(url: string, name: string): Promise<File> {
  try {
    const response = await fetch(url)
    if (!response.ok) throw fromBody(await response.json().catch(() => undefined), response.status)
    return new File([await response.blob()], name)
  } catch (error) {
    throw failed(error)
  }
}

/** Returns the file name in a content-disposition header (RFC 6266), without folders. `filename*` takes precedence over `filename`. */
export function parseFileName(header: string | null): string | undefined {
  const extended = /filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(header ?? '')?.[1]
  const plain = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(header ?? '')
  const name = decoded(extended) ?? plain?.[1]?.replaceAll(/\\(.)/g, '$1') ?? plain?.[2]
  return name?.replaceAll(/^.*[/\\]/g, '') || undefined
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Returns a random UUID. `crypto.randomUUID` does not exist on plain http, which consoles on a local network may use. */
function randomUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
