/**
 * Encrypts, with AES-256-GCM, the secrets that the console must read again, so that the database and its backups do not show them. The key
 * is SECRET_KEY, or a random one that is made once and kept in DATA_DIR. Several servers need the same key, so they set SECRET_KEY.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface SecretKey {
  encrypt(text: string): Buffer
  /** @throws Error if another key encrypted the text */
  decrypt(kept: Buffer): string
}

const FILE = 'secret-key'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** @param given SECRET_KEY */
export async function openSecretKey({ given, dataDir }: { given: string | undefined; dataDir: string }): Promise<SecretKey> {
  return secretKey(given ?? (await keptKey(dataDir)))
}

export function secretKey(secret: string): SecretKey {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'arcade webhooks', 32))
  return {
    encrypt(text) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const hidden = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), hidden])
    },
    decrypt(kept) {
      const decipher = createDecipheriv('aes-256-gcm', key, kept.subarray(0, NONCE_BYTES))
      decipher.setAuthTag(kept.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      return Buffer.concat([decipher.update(kept.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8')
    },
  }
}

/**
 * Returns the stored key; the first call makes it. The file is written under another name and then linked, so that no process reads half of
 * it. If two processes make a key at the same time, the first one stays.
 */
async function keptKey(dataDir: string): Promise<string> {
  const file = join(dataDir, FILE)
  const kept = await readFile(file, 'utf8').catch(nothingIf('ENOENT'))
  if (kept !== undefined) return kept
  await mkdir(dataDir, { recursive: true })
  const made = `${file}.${randomBytes(8).toString('hex')}`
  await writeFile(made, randomBytes(32).toString('base64url'), { mode: 0o600, flush: true })
  await link(made, file).catch(nothingIf('EEXIST'))
  await rm(made)
  return readFile(file, 'utf8')
}

function nothingIf(code: string): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (error.code !== code) throw error
  }
}
