/**
 * Checks passwords against the hashes of accounts: those of the console, and those that moved in from Firebase and have not signed in yet. A
 * first sign-in replaces the latter. While there are any, each check computes both kinds, so that its time does not tell them apart. Without
 * the SECRET_KEY that encrypted their parameters, passwords from Firebase count as wrong, and those of the console work.
 */
import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Logger } from 'pino'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import type { SecretKey } from '#src/webhooks/secret-key.ts'
import { type FirebaseHashing, isFirebasePassword, readMovedPassword } from './firebase-scrypt.ts'
import { hashPassword, isPassword } from './passwords.ts'

export interface Passwords {
  /** Whether `password` matches the hash. Without a hash it returns false after the same time. */
  check(password: string, hashed: string | undefined): Promise<boolean>
  /** Replaces a hash of Firebase after its password was right. Returns the hash that the account has now. */
  renew(account: { id: string; hashed: string }, password: string): Promise<string>
  /** Forgets the parameters of projects that no account needs any more. */
  sweep(): Promise<void>
}

const SECRET = 'firebase-hashing:'
const UNREADABLE =
  'Passwords from Firebase cannot be checked, because their hash parameters were encrypted with another SECRET_KEY'

export interface PasswordsOptions {
  database: Database
  secretKey: SecretKey
  log: Logger
}

export function createPasswords({ database, secretKey, log }: PasswordsOptions): Passwords {
  const { db } = database
  const findProjects = database.prepared<{ name: string; value: Buffer }>(
    'firebase-hashing',
    `select name, value from secrets where starts_with(name, '${SECRET}') order by name`,
  )
  let isTold = false
  const open = (value: Buffer): FirebaseHashing | undefined => {
    try {
      return JSON.parse(secretKey.decrypt(value)) as FirebaseHashing
    } catch (error) {
      if (!isTold) log.error({ err: error }, UNREADABLE)
      isTold = true
      return undefined
    }
  }
  return {
    async check(password, hashed) {
      const projects = await findProjects([])
      const moved = readMovedPassword(hashed)
      const own = await isPassword(password, moved ? undefined : hashed)
      const readable = projects.flatMap(({ name, value }) => {
        const hashing = open(value)
        return hashing ? [{ name, hashing }] : []
      })
      // A removed user who was restored after the parameters were forgotten has none, and needs a link to set a password.
      const ofAccount = moved && readable.find(({ name }) => name === SECRET + moved.project)
      const computed = ofAccount ?? readable[0]
      if (!computed) return own
      const fromFirebase = await isFirebasePassword(password, computed.hashing, ofAccount && moved)
      return own || fromFirebase
    },

    async renew({ id, hashed }, password) {
      if (!readMovedPassword(hashed)) return hashed
      const renewed = await hashPassword(password.normalize('NFC'))
      const { numUpdatedRows } = await db
        .updateTable('accounts')
        .set({ password_hash: renewed })
        .where('id', '=', id)
        .where('password_hash', '=', hashed)
        .executeTakeFirstOrThrow()
      if (numUpdatedRows > 0n) return renewed
      // A sign-in at the same time has renewed it.
      const present = await db.selectFrom('accounts').select('password_hash').where('id', '=', id).executeTakeFirst()
      return present && (await isPassword(password, present.password_hash)) ? present.password_hash : hashed
    },

    async sweep() {
      await sql`delete from secrets where starts_with(name, ${SECRET}) and not exists (
        select from accounts where starts_with(password_hash, '$firebase-scrypt$' || substr(secrets.name, ${SECRET.length + 1}::int) || '$'))`.execute(
        db,
      )
    },
  }
}

/** Returns the name of a project's parameters in the passwords of its accounts. */
export function projectOf(hashing: FirebaseHashing): string {
  return createHash('sha256').update(JSON.stringify(hashing)).digest('base64url').slice(0, 16)
}

/** Keeps the parameters of a project, encrypted, in the transaction of the accounts that need them. */
export async function keepHashing(tx: Kysely<Tables>, secretKey: SecretKey, hashing: FirebaseHashing): Promise<void> {
  const value = secretKey.encrypt(JSON.stringify(hashing))
  await tx
    .insertInto('secrets')
    .values({ name: SECRET + projectOf(hashing), value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}
