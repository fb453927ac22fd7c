/** Reads the Idempotency-Key of a request, with or without quotes (IETF draft-ietf-httpapi-idempotency-key-header-07). */
import { createHash, createHmac } from 'node:crypto'
import { type Caller, Failure, type IdempotencyKey } from '#src/calls.ts'
import type { Route } from './routes.ts'

export const MAX_KEY_LENGTH = 255
const BARE = /^[!#-[\]-~]+$/
/** A string of a structured field (RFC 9651, 3.3.3). */
const QUOTED = /^"(?:[ !#-[\]-~]|\\["\\])+"$/

/**
 * Returns the key, with the caller and call it belongs to. Returns `undefined` without a key, or for a guest, who cannot be identified.
 * @param input the input that the call's schema returned
 * @throws Failure INVALID_INPUT for a malformed key
 */
export function readIdempotencyKey(
  request: Request,
  { name, isUpload }: Pick<Route, 'name' | 'isUpload'>,
  { caller, input }: { caller: Caller; input: unknown },
): IdempotencyKey | undefined {
  const header = request.headers.get('idempotency-key')
  if (header === null || caller.kind === 'guest') return undefined
  const key = plainKey(header.trim())
  // The key itself is not stored, so the fingerprint does not help anyone who reads the table to guess a password in the input.
  const fingerprint = createHmac('sha256', key).update(`${name}\0`)
  if (isUpload) {
    const { query, body } = input as { query: unknown; body: Uint8Array }
    fingerprint.update(`${JSON.stringify(query)}\0`).update(body)
  } else {
    fingerprint.update(JSON.stringify(input) ?? '')
  }
  return {
    caller: nameOf(caller),
    hash: createHash('sha256').update(key).digest(),
    fingerprint: fingerprint.digest(),
  }
}

function nameOf(caller: Exclude<Caller, { kind: 'guest' }>): string {
  if (caller.kind === 'user') return `user:${caller.user.id}`
  return caller.kind === 'bot' ? `bot:${caller.id}` : `player:${caller.userId}`
}

function plainKey(header: string): string {
  const key = BARE.test(header) ? header : QUOTED.test(header) ? header.slice(1, -1).replaceAll(/\\(.)/g, '$1') : ''
  if (key !== '' && key.length <= MAX_KEY_LENGTH) return key
  const message = `Idempotency-Key must be 1 to ${MAX_KEY_LENGTH} ASCII characters, bare or in quotes.`
  throw new Failure('INVALID_INPUT', { message })
}
