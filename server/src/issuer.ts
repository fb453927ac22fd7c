/** Addresses of issuers (OpenID Connect Discovery, 4), as OIDC_ISSUER has them. */
import { isIP } from 'node:net'
import { z } from 'zod'

/** OIDC_ISSUER and its fellows, checked. */
export interface SignInServiceSettings {
  /** The issuer's address as a URL is written; `http:` only on a loopback address. */
  issuer: string
  clientId: string
  /** Undefined for a public client, which has none. */
  clientSecret: string | undefined
  /** What people call the service. */
  name: string
}

/** Telegram's (https://core.telegram.org/bots/telegram-login). */
export const TELEGRAM_ISSUER = 'https://oauth.telegram.org/'

/** Reads an address and writes it as URLs are written: without query and fragment, and plain http on a loopback address only. */
export const issuerAddress = z
  .string()
  .refine((value) => URL.canParse(value))
  .transform((value) => (URL.canParse(value) ? new URL(value) : undefined))
  .refine((url) => url !== undefined && !url.search && !url.hash && !url.username && !url.password)
  .refine((url) => url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname)))
  .transform((url) => url?.href ?? '')

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'))
}

/** Returns what people call the service at an address, unless OIDC_NAME says otherwise. */
export function serviceName(address: string): string {
  return address === TELEGRAM_ISSUER ? 'Telegram' : new URL(address).host
}
