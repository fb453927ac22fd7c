/** Security headers of every answer (security.md, Browser; OWASP Secure Headers). */

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'", // the component library sets style attributes and its theme's variables
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

const always: [string, string][] = [
  ['content-security-policy', contentSecurityPolicy],
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['permissions-policy', 'camera=(), geolocation=(), microphone=()'],
]

/** Sets them on an answer; what has no cache rule of its own is not stored. */
export function setSecurityHeaders(headers: Headers, isHttps: boolean): void {
  for (const [name, value] of always) headers.set(name, value)
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  if (isHttps) headers.set('strict-transport-security', 'max-age=31536000; includeSubDomains')
}
