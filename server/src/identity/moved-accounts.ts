/** Writes accounts that move in from Firebase, in the caller's transaction. What the console has changed since then stays. */
import { sql, type Transaction } from 'kysely'
import { idOrderSql, lower } from '#src/db/collations.ts'
import type { Tables } from '#src/db/tables.ts'
import type { SecretKey } from '#src/webhooks/secret-key.ts'
import { type FirebaseHashing, IS_MOVED_SQL, movedPasswordText } from './firebase-scrypt.ts'
import { keepHashing, projectOf } from './sign-in-passwords.ts'

export interface MovedAccount {
  id: string
  email: string
  salt: string
  hash: string
  /** ISO times, or null where they are not known. */
  createdAt: string | null
  lastSignInAt: string | null
}

export interface MovedAccountsResult {
  added: number
  changed: number
  /** Accounts whose password the console has set since, which stays. */
  kept: string[]
  /** Accounts whose e-mail address belongs to another account. */
  taken: string[]
}

/** Writes a batch, in which no two accounts have the same id. */
export async function writeMovedAccounts(
  tx: Transaction<Tables>,
  { accounts, hashing, secretKey }: { accounts: readonly MovedAccount[]; hashing: FirebaseHashing; secretKey: SecretKey },
): Promise<MovedAccountsResult> {
  if (accounts.length === 0) return { added: 0, changed: 0, kept: [], taken: [] }
  await keepHashing(tx, secretKey, hashing)
  await sql`lock table accounts in share row exclusive mode`.execute(tx)
  const project = projectOf(hashing)
  const given = accounts.map(({ id, email, salt, hash, createdAt, lastSignInAt }) => ({
    id,
    email,
    password_hash: movedPasswordText({ project, salt, hash }),
    created_at: createdAt,
    seen_at: lastSignInAt,
  }))
  const rows = sql`json_to_recordset(${JSON.stringify(given)}::json)
    as r (id text, email text, password_hash text, created_at timestamptz, seen_at timestamptz)`
  const email = lower(sql.ref('r.email'))
  const { rows: refused } = await sql<{ id: string }>`
    select r.id from ${rows} where exists (select from accounts as a where ${lower(sql.ref('a.email'))} = ${email} and a.id <> r.id)
    union select id from (
      select r.id, row_number() over (partition by ${email} order by ${sql.raw(idOrderSql('r.id'))}) as n from ${rows}) as repeated where n > 1
    order by id`.execute(tx)
  const taken = refused.map(({ id }) => id)
  const isFree = sql`r.id <> all(${taken}::text[])`
  const added = await sql`insert into accounts (id, email, password_hash, created_at)
    select r.id, r.email, r.password_hash, coalesce(r.created_at, now()) from ${rows} where ${isFree} order by r.id
    on conflict (id) do nothing`.execute(tx)
  const changed = await sql`update accounts as a set email = r.email, password_hash = r.password_hash from ${rows}
    where a.id = r.id and ${isFree} and ${sql.raw(IS_MOVED_SQL.replace('password_hash', 'a.password_hash'))}
      and (a.email, a.password_hash) is distinct from (r.email, r.password_hash)`.execute(tx)
  const { rows: kept } = await sql<{ id: string }>`
    select id from accounts where id = any(${accounts.map(({ id }) => id)}) and not ${sql.raw(IS_MOVED_SQL)} order by id`.execute(
    tx,
  )
  await sql`update users as u set last_seen_at = r.seen_at from ${rows}
    where u.id = r.id and u.last_seen_at is null and r.seen_at is not null and ${isFree}`.execute(tx)
  return {
    added: Number(added.numAffectedRows ?? 0n),
    changed: Number(changed.numAffectedRows ?? 0n),
    kept: kept.map(({ id }) => id),
    taken,
  }
}

/** Removes accounts that were disabled in Firebase, unless the console has set their password since. */
export async function removeMovedAccounts(tx: Transaction<Tables>, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await sql`delete from accounts where id = any(${ids}) and ${sql.raw(IS_MOVED_SQL)}`.execute(tx)
}
