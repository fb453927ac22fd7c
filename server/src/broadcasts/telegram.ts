/**
 * Calls Telegram's Bot API (https://core.telegram.org/bots/api#making-requests) and says what an answer means for the recipient. Hides the
 * transport, and the address, which contains the bot's token and is never logged.
 */
import type { RefusalReason } from '@arcade/contract/broadcasts/fields'
import type { TelegramCall } from './message.ts'

/** How long a call may take: an image of 5 MB on a slow line. After it, the outcome is unknown. */
const TIMEOUT_MS = 30_000
/** Seconds to wait if Telegram asks to wait without saying how long, and the most: after a day it is asked again. */
const RETRY_AFTER_SECONDS = 5
const MAX_RETRY_AFTER_SECONDS = 24 * 60 * 60
/** Telegram's answers have a few kilobytes. A longer one is not Telegram's, and is not read to its end. */
const MAX_ANSWER_BYTES = 1024 * 1024

export type TelegramAnswer =
  | { kind: 'sent'; photoId: string | undefined }
  | { kind: 'refused'; reason: RefusalReason }
  /** Telegram asks everybody to wait. */
  | { kind: 'wait'; seconds: number }
  /** Telegram does not take this message; to send it again is no use. */
  | { kind: 'failed'; text: string }
  /** Telegram has a failure of its own and says that nothing was sent. */
  | { kind: 'busy'; text: string }
  /** Nothing was sent: there was no connection. */
  | { kind: 'unreachable'; text: string }
  /** Telegram does not know the bot's token. */
  | { kind: 'denied'; text: string }
  /** The answer was lost, so nobody knows whether the message was sent. */
  | { kind: 'unknown'; text: string }

export interface Telegram {
  send(call: TelegramCall): Promise<TelegramAnswer>
}

export interface TelegramOptions {
  /** Without a trailing slash, such as https://api.telegram.org. */
  apiRoot: string
  botToken: string
  /** Tests set a shorter time. */
  timeoutMs?: number | undefined
}

export function createTelegram({ apiRoot, botToken, timeoutMs = TIMEOUT_MS }: TelegramOptions): Telegram {
  return {
    async send({ method, fields, file }) {
      let response: Response
      let text: string
      try {
        response = await fetch(`${apiRoot}/bot${botToken}/${method}`, {
          method: 'POST',
          ...(file ? { body: formOf(fields, file) } : jsonBody(fields)),
          redirect: 'error',
          signal: AbortSignal.timeout(timeoutMs),
        })
        text = await textOf(response)
      } catch (error) {
        return lostAnswer(error)
      }
      return meaningOf(response.status, bodyOf(text))
    },
  }
}

function jsonBody(fields: TelegramCall['fields']) {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(fields) }
}

function formOf(fields: TelegramCall['fields'], { bytes, mediaType, name }: NonNullable<TelegramCall['file']>): FormData {
  const form = new FormData()
  for (const [field, value] of Object.entries(fields)) form.set(field, typeof value === 'string' ? value : JSON.stringify(value))
  form.set('photo', new Blob([bytes], { type: mediaType }), name)
  return form
}

/** How Node refuses the ports of other protocols (https://fetch.spec.whatwg.org/#bad-port). */
const BAD_PORT = 'bad port'

/** Errors before the first byte of a request was sent. */
const NOT_CONNECTED = new Set([
  BAD_PORT,
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
])

function lostAnswer(error: unknown): TelegramAnswer {
  const codes = codesOf(error)
  const text = codes[0] ?? (error instanceof Error ? error.name : 'Error')
  // A host name can have several addresses, each with an attempt. The message is surely unsent only if every attempt failed to connect.
  const isUnsent = codes.length > 0 && codes.every((code) => NOT_CONNECTED.has(code) || isCertificateError(code))
  return isUnsent ? { kind: 'unreachable', text } : { kind: 'unknown', text }
}

/** A connection whose certificate is not accepted has sent nothing. */
function isCertificateError(code: string): boolean {
  return /^(CERT_|ERR_TLS_CERT|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO)/.test(code)
}

function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const { code, errors, cause } = error as Error & { code?: unknown; errors?: unknown[] }
  if (errors) return errors.flatMap(codesOf)
  if (cause !== undefined) return codesOf(cause)
  if (typeof code === 'string') return [code]
  return error.message === BAD_PORT ? [BAD_PORT] : []
}

/** Returns the text of an answer; an empty one if it is too long. */
async function textOf({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body ?? []) {
    parts.push(part)
    length += part.length
    // Leaving the loop closes the connection.
    if (length > MAX_ANSWER_BYTES) return ''
  }
  return Buffer.concat(parts).toString()
}

interface Body {
  ok?: unknown
  description?: unknown
  parameters?: { retry_after?: unknown }
  result?: { photo?: unknown }
}

/** Returns undefined for an answer that is not Telegram's, such as that of a gateway. */
function bodyOf(text: string): Body | undefined {
  try {
    const body = JSON.parse(text) as unknown
    return typeof body === 'object' && body !== null && 'ok' in body ? body : undefined
  } catch {
    return undefined
  }
}

function meaningOf(status: number, body: Body | undefined): TelegramAnswer {
  if (status === 429) return { kind: 'wait', seconds: secondsOf(body?.parameters?.retry_after) }
  // A gateway does not know whether Telegram has sent the message.
  if (body === undefined) return { kind: 'unknown', text: `HTTP ${status}` }
  if (body.ok === true) return { kind: 'sent', photoId: photoIdOf(body) }
  const text = typeof body.description === 'string' ? storable(body.description) : `HTTP ${status}`
  const reason = refusalIn(status, text)
  if (reason) return { kind: 'refused', reason }
  if (status === 401 || status === 404) return { kind: 'denied', text }
  if (status >= 500) return { kind: 'busy', text }
  return { kind: 'failed', text }
}

function secondsOf(retryAfter: unknown): number {
  const seconds = Number(retryAfter)
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, MAX_RETRY_AFTER_SECONDS) : RETRY_AFTER_SECONDS
}

function photoIdOf({ result }: Body): string | undefined {
  const photo = result?.photo
  const largest = Array.isArray(photo) ? (photo.at(-1) as { file_id?: unknown } | null | undefined) : undefined
  const id = largest?.file_id
  return typeof id === 'string' && /^[\w-]{1,512}$/.test(id) ? id : undefined
}

/** Shortens a text and removes what PostgreSQL cannot keep. */
function storable(text: string): string {
  return text
    .slice(0, 200)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, ' ')
}

function refusalIn(status: number, text: string): RefusalReason | undefined {
  if (status !== 403 && status !== 400) return undefined
  if (/blocked/i.test(text)) return 'blocked'
  if (/deactivated/i.test(text)) return 'deactivated'
  if (status === 403 || /chat not found|user not found|PEER_ID_INVALID/i.test(text)) return 'notFound'
  return undefined
}
