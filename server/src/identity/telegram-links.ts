/**
 * Links an admin's account with a Telegram account, to which the bot sends the tests of a broadcast. The console shows the admin a code, the
 * admin sends it to the bot, and the bot redeems it: this proves that both accounts belong to one person. A code works once, for ten
 * minutes, and an admin has one at a time (docs/security.md, One-time secrets). A link lets nobody in.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { Failure } from '#src/calls.ts'
import type { Tables } from '#src/db/tables.ts'
import { hashTypedCode, newTypedCode } from './typed-codes.ts'

const VALID_FOR_MINUTES = 10
/** Characters of a code, of 5 bits each: 60 bits, which nobody guesses within ten minutes. */
const CODE_LENGTH = 12
/**
 * Makes a code and ends an earlier one.
 * @param userId an admin whose rights the caller has locked (`Sessions.lockAdmin`), so that they cannot end at the same time
 * @returns the code, such as `7K3M-0QZT-V9AB`
 */
export async function createLinkCode(tx: Transaction<Tables>, userId: string): Promise<{ code: string; expiresAt: string }> {
  const code = newTypedCode(CODE_LENGTH)
  const made = { code_hash: hashTypedCode(code), expires_at: sql<Date>`now() + make_interval(mins => ${VALID_FOR_MINUTES})` }
  const { expires_at: expires } = await tx
    .insertInto('telegram_link_codes')
    .values({ user_id: userId, ...made })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(made))
    .returning('expires_at')
    .executeTakeFirstOrThrow()
  return { code, expiresAt: expires.toISOString() }
}

/**
 * Uses up a code, in any case and with or without its dashes, and links its maker with the Telegram account that sent it.
 * @returns the admin @throws Failure LINK_CODE_INVALID
 */
export async function spendLinkCode(
  tx: Transaction<Tables>,
  code: string,
  telegramId: number,
): Promise<{ id: string; fname: string; lname: string }> {
  const { rows } = await sql<{ id: string; fname: string; lname: string }>`
    delete from telegram_link_codes using users
     where users.id = user_id and user_type = 'admin' and code_hash = ${hashTypedCode(code)} and expires_at > now()
    returning users.id, fname, lname`.execute(tx)
  const [user] = rows
  if (!user) throw new Failure('LINK_CODE_INVALID')
  const link = { telegram_id: telegramId, linked_at: sql<Date>`now()` }
  await tx
    .insertInto('operator_telegrams')
    .values({ user_id: user.id, ...link })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(link))
    .execute()
  return user
}

/** Ends the code that a user made, if it has not been used. */
export async function endLinkCode(tx: Kysely<Tables>, userId: string): Promise<void> {
  await tx.deleteFrom('telegram_link_codes').where('user_id', '=', userId).execute()
}

export async function findTelegram(
  db: Kysely<Tables>,
  userId: string,
): Promise<{ telegramId: number; linkedAt: Date } | undefined> {
  return db
    .selectFrom('operator_telegrams')
    .select(['telegram_id as telegramId', 'linked_at as linkedAt'])
    .where('user_id', '=', userId)
    .executeTakeFirst()
}

/** Ends the link of a user. @returns whether there was one */
export async function unlinkTelegram(tx: Transaction<Tables>, userId: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('operator_telegrams').where('user_id', '=', userId).executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
