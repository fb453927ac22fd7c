/** CallError, which every failed call and download becomes: its code, and the messages that the server gave (§7, §8). */
import type { ErrorBody, ErrorCode } from '@arcade/contract/errors'
import type { SecondFactorMethod } from '@arcade/contract/second-factor/fields'
import { ORPCError } from '@orpc/client'

interface CallProblem {
  /** NETWORK: no answer arrived. OFFLINE: the browser was offline. */
  code: ErrorCode | 'NETWORK' | 'OFFLINE'
  status: number
  message: string
  fields?: Record<string, string> | undefined
  requestId?: string | undefined
  retryAfterSeconds?: number | undefined
  methods?: readonly SecondFactorMethod[] | undefined
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
  /** What the second factor can be proved with, if the call asks for it. */
  readonly methods: readonly SecondFactorMethod[]

  constructor(problem: CallProblem, options?: ErrorOptions) {
    super(problem.message, options)
    this.code = problem.code
    this.status = problem.status
    this.fields = problem.fields ?? {}
    this.requestId = problem.requestId
    this.retryAfterSeconds = problem.retryAfterSeconds
    this.methods = problem.methods ?? []
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

/** The error of a call without an answer. */
export function unanswered(message: string, cause: unknown, code: 'NETWORK' | 'OFFLINE' = 'NETWORK'): CallError {
  return new CallError({ code, status: 0, message }, { cause })
}

/** Converts the body of a failed answer. `fallback` is the message when the answer gives none, as with a proxy's error page. */
export function fromBody(body: unknown, status: number, fallback = 'Internal Server Error!'): CallError {
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
