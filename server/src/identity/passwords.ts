/** Password hashing with argon2id (OWASP Password Storage Cheat Sheet: 19 MiB, 2 passes, 1 lane), in the PHC string format. */
import { argon2, randomBytes, timingSafeEqual, type Argon2Parameters } from 'node:crypto'
import { promisify } from 'node:util'
import { Failure } from '#src/calls.ts'

const MEMORY_KIB = 19 * 1024
const PASSES = 2
const TAG_LENGTH_BYTES = 32
const SALT_LENGTH_BYTES = 16

const derive = promisify<'argon2id', Argon2Parameters, Buffer>(argon2)

export type PasswordPolicy = 'standard' | 'strict'

/** Hashes a newly chosen password, which `newPasswordField` has put into NFC. @throws Failure INVALID_INPUT if the policy refuses it */
export async function hashNewPassword(password: string, policy: PasswordPolicy): Promise<string> {
  if (policy === 'strict') {
    const { strictPasswordProblem } = await import('@arcade/contract/password-strength')
    const message = strictPasswordProblem(password)
    if (message !== undefined) throw new Failure('INVALID_INPUT', { message, fields: { password: message } })
  }
  return hashPassword(password)
}

/** Hashes a password with a random salt: `$argon2id$v=19$m=…,t=…,p=1$salt$hash`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_LENGTH_BYTES)
  const hash = await tag(password, salt, MEMORY_KIB, PASSES)
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=1$${base64(salt)}$${base64(hash)}`
}

/**
 * Whether `password` matches the hash, in NFC or as typed: earlier versions hashed passwords as typed. Without a hash it returns false after
 * the same time, so that timing does not reveal unknown e-mail addresses.
 */
export async function isPassword(password: string, hashed: string | undefined): Promise<boolean> {
  const normalized = password.normalize('NFC')
  return (await matches(normalized, hashed)) || (normalized !== password && (await matches(password, hashed)))
}

async function matches(password: string, hashed: string | undefined): Promise<boolean> {
  const [, , , parameters, salt, hash] = (hashed ?? (await dummyHash())).split('$')
  const cost = /^m=(\d+),t=(\d+),p=1$/.exec(parameters ?? '')
  if (!cost || salt === undefined || hash === undefined) throw new Error('a stored password hash is not in the PHC format')
  const expected = Buffer.from(hash, 'base64')
  const actual = await tag(password, Buffer.from(salt, 'base64'), Number(cost[1]), Number(cost[2]))
  return expected.length === actual.length && timingSafeEqual(expected, actual) && hashed !== undefined
}

let dummy: Promise<string> | undefined
function dummyHash(): Promise<string> {
  dummy ??= hashPassword(randomBytes(16).toString('hex'))
  return dummy
}

/** Makes the hash that is compared for unknown e-mail addresses. Making it at the first sign-in would double the time of that one. */
export async function preparePasswords(): Promise<void> {
  await dummyHash()
}

function tag(password: string, nonce: Buffer, memory: number, passes: number): Promise<Buffer> {
  return derive('argon2id', {
    message: Buffer.from(password, 'utf8'),
    nonce,
    memory,
    passes,
    parallelism: 1,
    tagLength: TAG_LENGTH_BYTES,
  })
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}
