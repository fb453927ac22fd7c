/**
 * What a database error means to its caller: unavailable for now (503), disk full (507), a violated constraint, or a start that a
 * person has to mend. Hides SQLSTATEs, Node's socket codes and the driver's messages.
 */

import pg from 'pg'

/** The database cannot be used until a person acts. The message is a sentence for that person and is shown without a stack. */
export class StartError extends Error {
  override name = 'StartError'
}

/** True when the database cannot be reached at the moment and the same call may succeed soon: HTTP 503. */
export function isUnavailable(error: unknown): boolean {
  return someCause(
    error,
    ({ code, message }) => UNAVAILABLE_CODES.has(code) || code.startsWith('08') || UNAVAILABLE_MESSAGES.test(message),
  )
}

/** True for what PostgreSQL itself says of a statement or a connection. */
export function isOfPostgres(error: unknown): boolean {
  return error instanceof pg.DatabaseError
}

/** True when the database's disk or this machine's disk is full: HTTP 507. */
export function isDiskFull(error: unknown): boolean {
  return someCause(error, ({ code }) => code === '53100' || code === 'ENOSPC' || code === 'EDQUOT')
}

/** The name of the unique, foreign-key, check or not-null constraint that the statement would have violated. */
export function violatedConstraint(error: unknown): string | undefined {
  let constraint: string | undefined
  someCause(error, (cause) => {
    // Of rows that Citus copies to a shard of another server it repeats the message alone, as an internal error (its ReportCopyError).
    const isCopied = cause.code === 'XX000' && cause.message.startsWith('duplicate key value violates unique constraint')
    if (!cause.code.startsWith('23') && !isCopied) return false
    const named = cause.constraint ?? /constraint "(\w+)"/.exec(cause.message)?.[1]
    // On a shard the constraint has the shard's number at the end: telegram_users_pkey_102008.
    constraint = named?.replace(/_\d{6,}$/, '')
    return constraint !== undefined
  })
  return constraint
}

/** True for a null in a column that allows none, which before PostgreSQL 18 has no constraint with a name. */
export function isNullViolation(error: unknown): boolean {
  return someCause(error, ({ code }) => code === '23502')
}

/** True for serialization failures and deadlocks, after which PostgreSQL asks its client to run the transaction again. */
export function isRetryable(error: unknown): boolean {
  return someCause(error, ({ code }) => code === '40001' || code === '40P01')
}

/** True for a statement that did not get a lock within the time it may wait for one. */
export function isLockTimeout(error: unknown): boolean {
  return someCause(error, ({ code }) => code === '55P03')
}

/** True for a statement that was cut off by its time limit. */
export function isTimeout(error: unknown): boolean {
  return someCause(error, ({ code }) => code === '57014')
}

const UNAVAILABLE_CODES = new Set([
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now: starting, stopping, recovering
  '53300', // too_many_connections
  '55P03', // lock_not_available: somebody else held it for too long
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

/** The beginnings of errors of pg and pg-pool that carry no code. */
const UNAVAILABLE_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed and is not queryable|Cannot use a pool after calling end|The database did not answer|No database connection was free)/

interface Cause {
  code: string
  message: string
  constraint: string | undefined
}

/** Whether the test holds for the error, for one of its causes, or for a part of an AggregateError. */
function someCause(error: unknown, test: (cause: Cause) => boolean, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 5) return false
  const { code, message, constraint, cause, errors } = error as Record<string, unknown>
  if (test({ code: text(code) ?? '', message: text(message) ?? '', constraint: text(constraint) })) return true
  if (someCause(cause, test, depth + 1)) return true
  return Array.isArray(errors) && errors.some((part) => someCause(part, test, depth + 1))
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
