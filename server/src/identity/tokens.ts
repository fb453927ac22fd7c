/** Secret tokens: of sessions, set-up links, password links and bots. Only their hashes are stored. */
import { createHash, randomBytes } from 'node:crypto'

/** Returns a random token of 256 bits in base64url, 43 characters. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Returns the hash as which a token is stored: SHA-256. A token of 256 random bits needs no slower one. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
