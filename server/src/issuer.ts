/** Addresses of issuers (OpenID Connect Discovery, 4), as OIDC_ISSUER has them. */
import { z } from 'zod'
import { isLoopback } from './loopback.ts'

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

/** Reads an address and writes it as URLs are written. */
export const issuerAddress = z
  .string()
  .refine(isIssuerAddress)
  .transform((value) => new URL(value).href)

/** Whether it is an address without query and fragment, and with plain http on a loopback address only. */
function isIssuerAddress(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, hostname, search, hash, username, password } = new URL(value)
  if (search || hash || username || password) return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

/** Returns what people call the service at an address, unless OIDC_NAME says otherwise. */
export function serviceName(address: string): string {
  return address === TELEGRAM_ISSUER ? 'Telegram' : new URL(address).host
}
