/** Reads what `firebase auth:export` writes, as JSON, and the project's hash parameters. Uses no database. */
import { open, readFile } from 'node:fs/promises'
import { isStorable } from '@arcade/contract/text'
import { StartError } from '#src/postgres/errors.ts'
import { checkFirebaseHash, type FirebaseHashing, readFirebaseHashing, UnusableHash } from '#src/identity/firebase-scrypt.ts'
import { unreadable } from './file-errors.ts'
import { readJsonValues } from './json-values.ts'

export interface AuthUser {
  uid: string
  email: string | null
  isVerified: boolean
  isDisabled: boolean
  createdAt: string | null
  lastSignInAt: string | null
  /** Such as `password`, `google.com` and `phone`. */
  providers: string[]
  /** Undefined if the account has no password, or one that cannot be used. */
  password?: { salt: string; hash: string }
  /** Why a password cannot be used. */
  problem?: string
  /** Why the whole account cannot be moved. */
  refused?: string
}

/** @throws StartError that says what is wrong with the parameters */
export async function readHashFile(path: string): Promise<FirebaseHashing> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new StartError(`${path} cannot be read: the passwords of auth.json need the project's hash parameters.`, { cause })
  })
  try {
    return readFirebaseHashing(text)
  } catch (error) {
    if (error instanceof UnusableHash) throw new StartError(`${path}: ${error.message}.`, { cause: error })
    throw error
  }
}

/**
 * Yields the accounts.
 * @param hashing the project's parameters, with which the lengths of hashes are checked, too
 * @throws StartError if the file is no JSON export
 */
export async function* readAuthUsers(path: string, hashing?: FirebaseHashing): AsyncGenerator<AuthUser> {
  await refuseCsv(path)
  const isUser = (keys: readonly string[]): boolean => keys.length === 2 && keys[0] === 'users'
  for await (const { keys, text } of readJsonValues(path, isUser)) {
    let record: unknown
    try {
      record = JSON.parse(text)
    } catch (cause) {
      throw new StartError(`${path}: account ${Number(keys[1]) + 1} is not valid JSON.`, { cause })
    }
    const { localId } = (record ?? {}) as Record<string, unknown>
    if (typeof localId !== 'string' || localId === '')
      throw new StartError(
        `${path}: account ${Number(keys[1]) + 1} has no localId, so this is no export of \`firebase auth:export\`.`,
      )
    yield toUser(localId, record as Record<string, unknown>, hashing)
  }
}

async function refuseCsv(path: string): Promise<void> {
  const file = await open(path).catch((error: unknown) => {
    throw unreadable(path, error)
  })
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64).catch((error: unknown) => {
      throw unreadable(path, error)
    })
    const start = buffer
      .toString('utf8', 0, bytesRead)
      .replace(/^\uFEFF/, '')
      .trimStart()
    if (!start.startsWith('{'))
      throw new StartError(
        `${path} is not JSON. A CSV file does not say enough: run firebase auth:export auth.json --format=JSON.`,
      )
  } finally {
    await file.close()
  }
}

function toUser(uid: string, record: Record<string, unknown>, hashing: FirebaseHashing | undefined): AuthUser {
  const { email, emailVerified, disabled, createdAt, lastSignedInAt, providerUserInfo, phoneNumber, passwordHash, salt } = record
  const providers = (Array.isArray(providerUserInfo) ? providerUserInfo : []).flatMap((info: { providerId?: unknown }) =>
    typeof info?.providerId === 'string' ? info.providerId : [],
  )
  if (typeof phoneNumber === 'string' && phoneNumber !== '') providers.push('phone')
  const user: AuthUser = {
    uid,
    email: typeof email === 'string' && email !== '' ? email : null,
    isVerified: emailVerified === true,
    isDisabled: disabled === true,
    createdAt: timeOf(createdAt),
    lastSignInAt: timeOf(lastSignedInAt),
    providers: [...new Set(providers)],
  }
  if (![uid, user.email ?? ''].every(isStorable))
    return { ...user, refused: 'localId or email has a character that cannot be stored' }
  if (uid.length > MAX_UID_CHARACTERS) return { ...user, refused: `localId is longer than ${MAX_UID_CHARACTERS} characters` }
  if (typeof passwordHash !== 'string' || passwordHash === '') return user
  const password = { hash: passwordHash, salt: typeof salt === 'string' ? salt : '' }
  try {
    checkFirebaseHash(password, hashing)
    return { ...user, password, providers: [...new Set(['password', ...user.providers])] }
  } catch (error) {
    if (error instanceof UnusableHash) return { ...user, problem: error.message }
    throw error
  }
}

/** Firebase's own limit. https://firebase.google.com/docs/auth/admin/manage-users */
const MAX_UID_CHARACTERS = 128

const LAST_MS = Date.UTC(9999, 11, 31)

/** Firebase writes milliseconds since 1970 as a text. */
function timeOf(value: unknown): string | null {
  const ms = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN
  return ms > 0 && ms <= LAST_MS ? new Date(ms).toISOString() : null
}
