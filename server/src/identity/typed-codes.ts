/** Random codes that a person types or sends, such as `7K3M-0QZT-V9AB`. Only their hashes are stored. */
import { createHash, randomBytes } from 'node:crypto'

/** Crockford's base 32: no letter looks like a digit or another letter. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** Characters between two dashes of a code as it is shown. */
const GROUP_LENGTH = 4

/** Returns a new code. @param length its characters without the dashes, of 5 random bits each */
export function newTypedCode(length: number): string {
  const code = Array.from(randomBytes(length), (byte) => ALPHABET[byte % ALPHABET.length]).join('')
  return (code.match(new RegExp(`.{1,${GROUP_LENGTH}}`, 'g')) ?? []).join('-')
}

/**
 * Returns the hash as which a code is stored, the same in any case and with or without its dashes. Letters that stand for a digit are read
 * as it: O as 0, I and L as 1.
 */
export function hashTypedCode(code: string): Buffer {
  const typed = code
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1')
  return createHash('sha256').update(typed).digest()
}
