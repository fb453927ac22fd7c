/**
 * Passwords as Firebase Authentication stores them (github.com/firebase/scrypt): scrypt of the password makes a key, with which AES-256-CTR
 * encrypts the project's signer key. Uses no database.
 */
import { createCipheriv, randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { promisify } from 'node:util'

/** The password hash parameters of a Firebase project; the texts are base64. */
export interface FirebaseHashing {
  signerKey: string
  saltSeparator: string
  rounds: number
  memCost: number
}

/** A password of Firebase as an account of the console keeps it until the first sign-in. */
export interface MovedPassword {
  /** Names the parameters. */
  project: string
  salt: string
  hash: string
}

/** Thrown for parameters and hashes that cannot be used; the message says why. */
export class UnusableHash extends Error {}

const KEY_BYTES = 32
const DERIVED_BYTES = 64
/** The memory of a check, not more than argon2id takes here (passwords.ts). Firebase uses 16 MiB: 8 rounds with a mem_cost of 14. */
const MAX_MEMORY_BYTES = 19 * 1024 * 1024
const MAX_ROUNDS = 64
const MAX_MEM_COST = 30
/** Firebase's own salts have 16 characters. */
const MAX_SALT_CHARACTERS = 1024
const PREFIX = '$firebase-scrypt$'
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

/**
 * Reads the parameters as the Firebase console shows them, `hash_config { base64_signer_key: …, }`, or as JSON with the same names.
 * @throws UnusableHash
 */
export function readFirebaseHashing(text: string): FirebaseHashing {
  const named = new Map([...text.matchAll(/"?(\w+)"?\s*[:=]\s*"?([^\s",}]+)"?/g)].map(([, name, value]) => [name, value]))
  const algorithm = named.get('algorithm') ?? 'SCRYPT'
  if (algorithm !== 'SCRYPT') throw new UnusableHash(`the algorithm ${algorithm} is not SCRYPT`)
  const read = (name: string): string => {
    const value = named.get(name)
    if (value === undefined) throw new UnusableHash(`${name} is missing`)
    return value
  }
  const [signerKey, saltSeparator] = [read('base64_signer_key'), named.get('base64_salt_separator') ?? '']
  const [rounds, memCost] = [Number(read('rounds')), Number(read('mem_cost'))]
  if (!BASE64.test(signerKey)) throw new UnusableHash('base64_signer_key is not base64')
  if (saltSeparator !== '' && !BASE64.test(saltSeparator)) throw new UnusableHash('base64_salt_separator is not base64')
  const isWithin = (value: number, most: number): boolean => Number.isInteger(value) && value >= 1 && value <= most
  if (!isWithin(rounds, MAX_ROUNDS)) throw new UnusableHash(`rounds must be a whole number from 1 to ${MAX_ROUNDS}`)
  if (!isWithin(memCost, MAX_MEM_COST)) throw new UnusableHash(`mem_cost must be a whole number from 1 to ${MAX_MEM_COST}`)
  if (memoryOf({ rounds, memCost }) > MAX_MEMORY_BYTES)
    throw new UnusableHash(`rounds ${rounds} with mem_cost ${memCost} take more than ${MAX_MEMORY_BYTES} bytes for each sign-in`)
  return { signerKey, saltSeparator, rounds, memCost }
}

/**
 * Checks a hash and a salt of an exported account, in either alphabet of base64. With the project's parameters it also checks the length of
 * the hash, which is the encrypted signer key.
 * @throws UnusableHash
 */
export function checkFirebaseHash({ salt, hash }: Pick<MovedPassword, 'salt' | 'hash'>, hashing?: FirebaseHashing): void {
  if (hash.startsWith('fakeHash:'))
    throw new UnusableHash('the hash is one of the emulator (fakeHash:), which checks no password')
  if (!BASE64.test(hash)) throw new UnusableHash('passwordHash is not base64')
  if (!BASE64.test(salt)) throw new UnusableHash('salt is not base64')
  if (salt.length > MAX_SALT_CHARACTERS) throw new UnusableHash(`salt is longer than ${MAX_SALT_CHARACTERS} characters`)
  if (hashing && bytesOf(hash) !== bytesOf(hashing.signerKey))
    throw new UnusableHash('passwordHash has another length than the signer key, so it is of another project or damaged')
}

/** Writes a password for `accounts.password_hash`. */
export function movedPasswordText({ project, salt, hash }: MovedPassword): string {
  return `${PREFIX}${project}$${salt}$${hash}`
}

export function readMovedPassword(text: string | undefined): MovedPassword | undefined {
  if (!text?.startsWith(PREFIX)) return undefined
  const [project = '', salt = '', hash = ''] = text.slice(PREFIX.length).split('$')
  return { project, salt, hash }
}

/** SQL for accounts whose password is still the one of Firebase. */
export const IS_MOVED_SQL = `starts_with(password_hash, '${PREFIX}')`

/** Whether the password matches, as typed or in NFC. Without a hash it returns false after the same time. */
export async function isFirebasePassword(
  password: string,
  hashing: FirebaseHashing,
  moved: Pick<MovedPassword, 'salt' | 'hash'> | undefined,
): Promise<boolean> {
  const normalized = password.normalize('NFC')
  return (await matches(password, hashing, moved)) || (normalized !== password && (await matches(normalized, hashing, moved)))
}

async function matches(
  password: string,
  { signerKey, saltSeparator, rounds, memCost }: FirebaseHashing,
  moved: Pick<MovedPassword, 'salt' | 'hash'> | undefined,
): Promise<boolean> {
  const salt = moved ? Buffer.from(moved.salt, 'base64') : randomBytes(10)
  const whole = Buffer.concat([salt, Buffer.from(saltSeparator, 'base64')])
  const options = { N: 2 ** memCost, r: rounds, p: 1, maxmem: 2 * MAX_MEMORY_BYTES }
  const derived = await derive(password, whole, DERIVED_BYTES, options)
  const cipher = createCipheriv('aes-256-ctr', derived.subarray(0, KEY_BYTES), Buffer.alloc(16))
  const actual = Buffer.concat([cipher.update(Buffer.from(signerKey, 'base64')), cipher.final()])
  const expected = Buffer.from(moved?.hash ?? '', 'base64')
  return expected.length === actual.length && timingSafeEqual(expected, actual)
}

function bytesOf(base64: string): number {
  return Buffer.from(base64, 'base64').length
}

function memoryOf({ rounds, memCost }: Pick<FirebaseHashing, 'rounds' | 'memCost'>): number {
  return 128 * rounds * 2 ** memCost
}
