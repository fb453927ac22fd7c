/**
 * Classifies database errors: temporarily unavailable (503), disk full (507), a violated constraint, or a start that an operator must fix.
 * Hides SQLSTATEs, Node's socket codes and the driver's messages.
 */

import pg from 'pg'

/** The database cannot be used until an operator acts. The message is a sentence for the operator, shown without a stack. */
export class StartError extends Error {
  override name = 'StartError'
}

/** Whether the database cannot be reached now, and the same call may succeed soon: HTTP 503. */
export function isUnavailable(error: unknown): boolean {
  return someCause(
    error,
    ({ code, message }) => UNAVAILABLE_CODES.has(code) || code.startsWith('08') || UNAVAILABLE_MESSAGES.test(message),
  )
}

/** Whether PostgreSQL itself has reported the error. */
export function isOfPostgres(error: unknown): boolean {
  return error instanceof pg.DatabaseError
}

/** Whether the disk of the database or of this machine is full: HTTP 507. */
export function isDiskFull(error: unknown): boolean {
  return someCause(error, ({ code }) => code === '53100' || code === 'ENOSPC' || code === 'EDQUOT')
}

/** Returns the name of the unique, foreign-key, check or not-null constraint that the statement would have violated. */
export function violatedConstraint(error: unknown): string | undefined {
  let constraint: string | undefined
  someCause(error, (cause) => {
    // For rows that Citus copies to a shard on another server, it repeats only the message, as an internal error (its ReportCopyError).
    const isCopied = cause.code === 'XX000' && cause.message.startsWith('duplicate key value violates unique constraint')
    if (!cause.code.startsWith('23') && !isCopied) return false
    const named = cause.constraint ?? /constraint "(\w+)"/.exec(cause.message)?.[1]
    // On a shard, the constraint's name ends with the shard's number: telegram_users_pkey_102008.
    constraint = named?.replace(/_\d{6,}$/, '')
    return constraint !== undefined
  })
  return constraint
}

/** Whether a null violates a not-null column, which has no named constraint before PostgreSQL 18. */
export function isNullViolation(error: unknown): boolean {
  return someCause(error, ({ code }) => code === '23502')
}

/** Whether the error is a serialization failure or deadlock, after which the client should run the transaction again. */
export function isRetryable(error: unknown): boolean {
  return someCause(error, ({ code }) => code === '40001' || code === '40P01')
}

/** Whether a statement has waited for a lock for too long. */
export function isLockTimeout(error: unknown): boolean {
  return someCause(error, ({ code }) => code === '55P03')
}

/** Whether a statement was cancelled by its time limit. */
export function isTimeout(error: unknown): boolean {
  return someCause(error, ({ code }) => code === '57014')
}

/**
 * Whether a prepared statement no longer fits the tables, which have changed ("cached plan must not change result type"). A new connection
 * plans it again.
 */
export function isStalePlan(error: unknown): boolean {
  return (error as { code?: unknown }).code === '0A000'
}

const UNAVAILABLE_CODES = new Set([
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now: starting, stopping, recovering
  '53300', // too_many_connections
  '55P03', // lock_not_available: another session held it for too long
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

/** The beginnings of messages of pg and pg-pool whose errors have no code. */
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
