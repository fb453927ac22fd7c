/** Set-up links, with which the first admin registers if the environment names none (design §7). */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { SetupLinkState } from '@arcade/contract/auth/calls'
import { type Act, audit } from '#src/audit/audit.ts'
import { Failure } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { takeLock } from '#src/db/transaction-locks.ts'
import { hashToken, newToken } from './tokens.ts'

const VALID_FOR_MINUTES = 30

/** Makes the one-time path `/register?setup=…` and ends any earlier one. Returns `undefined` if there is an admin already. */
export async function createSetupLink(database: Database, act: Act): Promise<string | undefined> {
  const token = newToken()
  return database.transaction(async (tx) => {
    // The lock keeps an admin, or another link, from being made at the same time.
    await takeLock(tx, 'admins')
    if (await hasAdmin(tx)) return undefined
    await tx.deleteFrom('setup_links').execute()
    await tx
      .insertInto('setup_links')
      .values({ token_hash: hashToken(token), expires_at: sql<Date>`now() + make_interval(mins => ${VALID_FOR_MINUTES})` })
      .execute()
    await audit(tx, act, 'setup-link.create', { record: { kind: 'installation', id: 'setup-link' } })
    return `/register?setup=${token}`
  })
}

/** Returns whether a set-up link can be used, or why not. */
export async function setupLinkState(db: Kysely<Tables>, token: string): Promise<SetupLinkState> {
  if (await hasAdmin(db)) return 'used'
  const link = await db
    .selectFrom('setup_links')
    .select(sql<boolean>`expires_at > now()`.as('isValid'))
    .where('token_hash', '=', hashToken(token))
    .executeTakeFirst()
  if (!link) return 'replaced'
  return link.isValid ? 'valid' : 'expired'
}

/** Uses up a set-up link. @throws Failure SETUP_LINK_INVALID */
export async function spendSetupLink(tx: Transaction<Tables>, token: string): Promise<void> {
  await takeLock(tx, 'admins')
  const used = await tx
    .deleteFrom('setup_links')
    .where('token_hash', '=', hashToken(token))
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('token_hash')
    .executeTakeFirst()
  if (!used || (await hasAdmin(tx))) throw new Failure('SETUP_LINK_INVALID')
}

/** Whether the console has an admin. Once it has, it always does: the last admin can be neither removed nor demoted. */
export async function hasAdmin(db: Kysely<Tables>): Promise<boolean> {
  return (await db.selectFrom('users').select('id').where('user_type', '=', 'admin').limit(1).executeTakeFirst()) !== undefined
}
