/** Turns a thrown error into the answer that the client may see: the text of the error catalogue. The cause is only logged. */
import type { Logger } from 'pino'
import type { CallMeta } from '@arcade/contract/call'
import type { ErrorBody, ErrorCode } from '@arcade/contract/errors'
import { Failure } from '#src/calls.ts'
import { type Answer, jsonHeaders } from './answer.ts'
import { constraintCodes } from './constraint-codes.ts'
import { isDiskFull, isNullViolation, isUnavailable, violatedConstraint } from '#src/postgres/errors.ts'

/** Returns the failure for an error; `unexpected` for an error that no rule covers. */
export function toFailure(error: unknown, unexpected: ErrorCode = 'INTERNAL'): Failure {
  if (error instanceof Failure) return error
  const code = constraintCodes[violatedConstraint(error) ?? '']
  if (code) return new Failure(code, { cause: error })
  if (isNullViolation(error)) return new Failure('INVALID_INPUT', { cause: error })
  if (isDiskFull(error)) return new Failure('DISK_FULL', { cause: error })
  if (isUnavailable(error)) return new Failure('UNAVAILABLE', { cause: error, retryAfterSeconds: 5 })
  return new Failure(unexpected, { cause: error })
}

/** Returns the answer to a failed call, in the shape that §7 specifies. */
export function failureAnswer(failure: Failure, requestId: string, shape: CallMeta['failure'] = 'envelope'): Answer {
  const body: ErrorBody = {
    success: shape === 'success' ? 'failed' : false,
    ...(shape === 'status' && { status: 'failed' }),
    message: failure.message,
    ...(shape === 'error' && { error: failure.message }),
    code: failure.code,
    requestId,
    ...(failure.fields && { fields: failure.fields }),
    ...(failure.left !== undefined && { left: failure.left }),
    ...(failure.methods && { methods: failure.methods }),
    ...(failure.retryAfterSeconds !== undefined && { retryAfterSeconds: failure.retryAfterSeconds }),
  }
  const headers: Record<string, string> = { ...jsonHeaders, 'x-request-id': requestId }
  if (failure.retryAfterSeconds !== undefined) headers['retry-after'] = String(failure.retryAfterSeconds)
  // The rest of the body was not read, so the connection cannot carry another request.
  if (failure.code === 'TOO_LARGE') headers['connection'] = 'close'
  return { status: failure.status, headers, body: shortJson(body) }
}

const MAX_BODY_BYTES = 8 * 1024

/** Shortens an answer: messages and names of fields may repeat what the client sent. */
function shortJson(body: ErrorBody): string {
  const text = JSON.stringify(body)
  if (Buffer.byteLength(text) <= MAX_BODY_BYTES) return text
  const { fields: _fields, ...rest } = body
  return JSON.stringify(rest)
}

/** Logs one line for each refusal or fault, without personal data (security.md, Operations). */
export function logFailure(
  log: Logger,
  failure: Failure,
  about: { requestId: string; method: string; route: string; address: string },
): void {
  if (failure.status >= 500)
    log.error({ event: 'call-failed', code: failure.code, ...about, err: failure.cause ?? failure }, failure.message)
  else if ([401, 403, 429].includes(failure.status))
    log.warn({ event: 'call-refused', code: failure.code, ...about }, failure.message)
}
