/**
 * Forgotten passwords: a guest names an e-mail address, and a mail to it has a link that works once, within an hour. The
 * request takes the same work whether anybody has the address or not; a background task answers it. The links are beside those of admins
 * (password-links.ts), so that a stranger's request cannot end one of theirs.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { actOfProcess, audit } from '#src/audit/audit.ts'
import type { Database } from '#src/db/database.ts'
import { lower } from '#src/db/collations.ts'
import type { Tables } from '#src/db/tables.ts'
import type { Mails } from '#src/mail/mails.ts'
import { hashToken, newToken } from './tokens.ts'

const VALID_FOR_MINUTES = 60
/** Requests that one transaction answers. */
const ANSWERED_AT_ONCE = 20

export interface PasswordResets {
  /** Notes that somebody wants a link for the account of an e-mail address. Writes one row, whether there is such an account or not. */
  request(email: string): Promise<void>
  /** Mails links to those who asked and have an account. */
  answer(): Promise<void>
  /** Deletes links that ended long ago. */
  sweep(): Promise<void>
}

export function createPasswordResets({ database, mails }: { database: Database; mails: Mails }): PasswordResets {
  const { db } = database
  return {
    async request(email) {
      await sql`insert into password_requests (user_id)
        values ((select id from users where ${lower(sql.ref('email'))} = ${email.toLowerCase()}))`.execute(db)
    },
    async answer() {
      while (await database.transaction((tx) => answerSome(tx, mails)));
    },
    async sweep() {
      await sql`delete from password_resets where expires_at < now() - interval '1 day'`.execute(db)
    },
  }
}

/** Answers some requests, each by one server. @returns whether there may be more */
async function answerSome(tx: Transaction<Tables>, mails: Mails): Promise<boolean> {
  const { rows } = await sql<{ userId: string | null }>`
    delete from password_requests where id in (
      select id from password_requests order by requested_at limit ${ANSWERED_AT_ONCE} for update skip locked)
    returning user_id as "userId"`.execute(tx)
  for (const id of new Set(rows.map(({ userId }) => userId))) if (id !== null) await mailLink(tx, mails, id)
  return rows.length === ANSWERED_AT_ONCE
}

async function mailLink(tx: Transaction<Tables>, mails: Mails, userId: string): Promise<void> {
  const columns = ['id', 'fname', 'lname'] as const
  const user = await tx.selectFrom('users').select(columns).where('id', '=', userId).forKeyShare().executeTakeFirst()
  if (!user) return // removed meanwhile
  const token = newToken()
  const expiresAt = sql<Date>`now() + make_interval(mins => ${VALID_FOR_MINUTES})`
  await tx
    .insertInto('password_resets')
    .values({ token_hash: hashToken(token), user_id: userId, expires_at: expiresAt })
    .execute()
  await mails.queue(tx, { to: { userId }, kind: 'forgottenPassword', path: `/set-password?link=${token}` })
  const record = { kind: 'user', id: userId, name: `${user.fname} ${user.lname}` } as const
  await audit(tx, actOfProcess('system', 'Forgotten password'), 'user.password-mail', { record })
}

/** Returns whose link it is and whether it works; undefined if no such link was mailed. */
export async function findReset(
  db: Kysely<Tables>,
  token: string,
): Promise<{ email: string; isUsed: boolean; isInTime: boolean } | undefined> {
  return db
    .selectFrom('password_resets')
    .innerJoin('users', 'users.id', 'password_resets.user_id')
    .select(['email', sql<boolean>`used_at is not null`.as('isUsed'), sql<boolean>`expires_at > now()`.as('isInTime')])
    .where('token_hash', '=', hashToken(token))
    .executeTakeFirst()
}

/** Uses up a link. @returns whose it was, or undefined if it does not work */
export async function spendReset(tx: Transaction<Tables>, token: string): Promise<{ userId: string; email: string } | undefined> {
  return tx
    .updateTable('password_resets')
    .set({ used_at: sql<Date>`now()` })
    .from('users')
    .whereRef('users.id', '=', 'password_resets.user_id')
    .where('token_hash', '=', hashToken(token))
    .where('used_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning(['password_resets.user_id as userId', 'users.email'])
    .executeTakeFirst()
}

/** Ends the links that were mailed to a user. Used ones stay, so that their page can say that they were used. */
export async function endResetsOf(tx: Kysely<Tables>, userId: string): Promise<void> {
  await tx.deleteFrom('password_resets').where('user_id', '=', userId).where('used_at', 'is', null).execute()
  await tx
    .deleteFrom('mails')
    .where('user_id', '=', userId)
    .where('kind', '=', 'forgottenPassword')
    .where('sent_at', 'is', null)
    .execute()
}
