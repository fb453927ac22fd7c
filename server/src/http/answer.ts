/**
 * An answer before it becomes a Response, and the security headers of all answers (security.md, Browser; OWASP Secure Headers). Answers
 * stay plain objects until the end, because the Node adapter is fast only with a Response whose headers were not touched (ADR 9).
 */
import { JsonText } from '#src/calls.ts'

export interface Answer {
  status: number
  headers: Record<string, string>
  body: string | Uint8Array<ArrayBuffer> | ReadableStream | null
}

/** Turns an answer into a Response. @param cookies the Set-Cookie headers */
export type Send = (answer: Answer, cookies?: readonly string[]) => Response

/** Creates the only function that makes Responses, so that all of them have the security headers. */
export function createSend({ isHttps, isStopping }: { isHttps: boolean; isStopping: () => boolean }): Send {
  const base = securityHeaders(isHttps)
  return ({ status, headers, body }, cookies = []) => {
    // If the connection stayed open, the next request could arrive at the moment at which the server closes it.
    const ending = isStopping() ? { connection: 'close' } : {}
    const response = new Response(body, { status, headers: { ...base, ...headers, ...ending } })
    for (const cookie of cookies) response.headers.append('set-cookie', cookie)
    return response
  }
}

export function jsonAnswer(value: unknown, status = 200): Answer {
  return { status, headers: jsonHeaders, body: JSON.stringify(value) }
}

/** Writes an answer as JSON. The database may have written parts of it already. */
export function writeJson(output: unknown): string {
  if (typeof output !== 'object' || output === null || !Object.values(output).some((value) => value instanceof JsonText))
    return JSON.stringify(output)
  const fields = Object.entries(output).flatMap(([name, value]) => {
    const text = value instanceof JsonText ? value.text : (JSON.stringify(value) as string | undefined)
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
  })
  return `{${fields.join(',')}}`
}

export const jsonHeaders = { 'content-type': 'application/json' }

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'", // the component library sets style attributes and the variables of its theme
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Returns the headers of every answer. An answer with a cache rule of its own overrides `no-store`. */
function securityHeaders(isHttps: boolean): Record<string, string> {
  return {
    'content-security-policy': contentSecurityPolicy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'cache-control': 'no-store',
    ...(isHttps && { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }),
  }
}

/** Whether the client has this version already, so that 304 is the answer. @param etag a strong one, with its quotes (RFC 9110, 13.1.2) */
export function hasVersion(request: Request, etag: string): boolean {
  const known = request.headers.get('if-none-match')?.split(',') ?? []
  return known.some((tag) => tag.trim().replace(/^W\//, '') === etag)
}
