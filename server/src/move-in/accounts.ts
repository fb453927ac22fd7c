/** Moves the accounts of `firebase auth:export` in, after the documents: batch by batch, each in a transaction of its own. */
import { sql } from 'kysely'
import { type Act, audit } from '#src/audit/audit.ts'
import type { Database } from '#src/db/database.ts'
import { transactionOrDryRun } from '#src/db/dry-run.ts'
import { type FirebaseHashing, isFirebasePassword } from '#src/identity/firebase-scrypt.ts'
import { removeMovedAccounts, writeMovedAccounts } from '#src/identity/moved-accounts.ts'
import { createPasswordLink } from '#src/identity/password-links.ts'
import { SeenKeys } from '#src/import/seen-keys.ts'
import { StartError } from '#src/postgres/errors.ts'
import type { SecretKey } from '#src/webhooks/secret-key.ts'
import { type AuthUser, readAuthUsers, readHashFile } from './auth-export.ts'
import { type AccountsReport, addExample, addReason, noExamples, noOutcome } from './report.ts'

export interface AccountFiles {
  authFile: string
  hashFile: string
}

export interface AccountsToMove extends AccountFiles {
  act: Act
  database: Database
  secretKey: SecretKey
  /** What `checkAccountFiles` returned. */
  hashing: FirebaseHashing | undefined
  /** The ids of the moved documents of `users`. */
  users: SeenKeys
  isDryRun: boolean
}

const BATCH = 500
/** Users without a password that the report names; links are only made for these. */
const MAX_NAMED = 1000

/**
 * Reads both files to their ends before anything is written. Returns the project's hash parameters if an account needs them.
 * @throws StartError if one of the files cannot be used, or if they do not fit the password that is tried
 */
export async function checkAccountFiles(
  { authFile, hashFile }: AccountFiles,
  tried?: TriedPassword,
): Promise<FirebaseHashing | undefined> {
  let isNeeded = false
  let triedOn: AuthUser['password']
  for await (const { email, password } of readAuthUsers(authFile)) {
    isNeeded ||= password !== undefined
    if (tried && email?.toLowerCase() === tried.email.toLowerCase()) triedOn ??= password
  }
  const hashing = isNeeded ? await readHashFile(hashFile) : undefined
  if (!tried) return hashing
  if (!hashing || !triedOn) throw new StartError(`${authFile} has no account of ${tried.email} with a password.`)
  if (await isFirebasePassword(tried.password, hashing, triedOn)) return hashing
  throw new StartError(
    `This is not the password of ${tried.email}, or ${hashFile} is of another project: then nobody could sign in. Nothing was changed.`,
  )
}

/** The password of an account in the export. */
export interface TriedPassword {
  email: string
  password: string
}

export async function moveAccounts({ act, authFile, users, ...rest }: AccountsToMove): Promise<AccountsReport> {
  const report: AccountsReport = {
    ...noOutcome(),
    unverified: 0,
    disabled: noExamples(),
    withoutDocument: 0,
    usersWithoutAccount: users.size,
    withoutPassword: { count: 0, users: [] },
  }
  const seen = new SeenKeys()
  let batch: AuthUser[] = []
  const store = async (): Promise<void> => {
    await storeBatch(batch, { ...rest, report })
    batch = []
  }
  for await (const user of readAuthUsers(authFile, rest.hashing)) {
    report.read += 1
    const refused = user.refused ?? (seen.add(user.uid, report.read) && 'An earlier account has the same localId')
    if (refused) {
      refuse(report, user.uid, refused)
      continue
    }
    const isUser = users.lineOf(user.uid) !== undefined
    if (isUser) report.usersWithoutAccount -= 1
    else report.withoutDocument += 1
    if (isUser && !user.password && !user.isDisabled) addWithoutPassword(report, user)
    if (user.email !== null && !user.isVerified) report.unverified += 1
    batch.push(user)
    if (batch.length >= BATCH) await store()
  }
  await store()
  report.unchanged = report.read - report.new - report.changed - report.refused
  if (!rest.isDryRun) await makeLinks(rest.database, act, report)
  return report
}

function addWithoutPassword({ withoutPassword }: AccountsReport, { uid, email, providers }: AuthUser): void {
  withoutPassword.count += 1
  if (withoutPassword.users.length < MAX_NAMED) withoutPassword.users.push({ id: uid, email, providers })
}

function refuse(report: AccountsReport, uid: string, reason: string): void {
  report.refused += 1
  addReason(report.reasons, reason, `auth/${uid}`)
}

interface BatchContext {
  database: Database
  secretKey: SecretKey
  hashing: FirebaseHashing | undefined
  isDryRun: boolean
  report: AccountsReport
}

async function storeBatch(batch: AuthUser[], { database, secretKey, hashing, isDryRun, report }: BatchContext): Promise<void> {
  const disabled = batch.filter(({ isDisabled }) => isDisabled)
  for (const { uid } of disabled) addExample(report.disabled, `auth/${uid}`)
  for (const { uid, problem, isDisabled } of batch) if (problem !== undefined && !isDisabled) refuse(report, uid, problem)
  const accounts = batch.flatMap(({ uid, email, password, isDisabled, createdAt, lastSignInAt }) => {
    if (!password || isDisabled) return []
    if (email !== null) return [{ id: uid, email, ...password, createdAt, lastSignInAt }]
    refuse(report, uid, 'The account has a password, but no e-mail address')
    return []
  })
  const written = await transactionOrDryRun(database, isDryRun, async (tx) => {
    await removeMovedAccounts(
      tx,
      disabled.map(({ uid }) => uid),
    )
    await sql`update users as u set created_at = r.at
      from unnest(${batch.map(({ uid }) => uid)}::text[], ${batch.map(({ createdAt }) => createdAt)}::timestamptz[]) as r (id, at)
      where u.id = r.id and u.created_at > r.at`.execute(tx)
    return hashing && writeMovedAccounts(tx, { accounts, hashing, secretKey })
  })
  if (!written) return
  report.new += written.added
  report.changed += written.changed
  for (const id of written.kept) addExample(report.kept, `auth/${id}`)
  for (const id of written.taken) refuse(report, id, 'This e-mail address belongs to another account')
}

/** Makes a link for each user without a password who has no link yet. Each link is made in the name of an admin. */
async function makeLinks(database: Database, act: Act, { withoutPassword }: AccountsReport): Promise<void> {
  const { rows: admins } = await sql<{ id: string }>`
    select id from users where user_type = 'admin' order by created_at, id limit 1`.execute(database.db)
  const madeBy = admins[0]?.id
  if (madeBy === undefined) return
  for (const user of withoutPassword.users) {
    const link = await database.transaction(async (tx) => {
      const { rows } = await sql`select from users where id = ${user.id}
        and not exists (select from accounts where accounts.id = users.id)
        and not exists (select from password_links as l where l.user_id = users.id and used_at is null and expires_at > now())`.execute(
        tx,
      )
      if (rows.length === 0) return undefined
      await audit(tx, act, 'user.password-link', { record: { kind: 'user', id: user.id } })
      return createPasswordLink(tx, { userId: user.id, madeBy })
    })
    if (link) user.link = link.path
  }
}
