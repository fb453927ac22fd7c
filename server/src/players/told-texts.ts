/**
 * Texts that operators wrote about players, such as the reason of a block, as a caller may read them. For people who may not see personal
 * fields, a text that repeats one of the player's present values is withheld.
 */
import { type Kysely, sql } from 'kysely'
import { personalNames, WITHHELD } from '@arcade/contract/personal'
import { playerFields } from '@arcade/contract/players/fields'
import type { CallContext } from '#src/calls.ts'
import { columnName, playerEntity } from '#src/db/entities.ts'
import type { Tables } from '#src/db/tables.ts'
import { seesPersonal } from '#src/lists/personal.ts'

/** Returns a text about a player as the caller may read it. */
export type ReadText = <Text extends string | null>(userId: number, text: Text) => Text | string

const VALUES = sql.join(personalNames(playerFields).map((name) => sql.ref(columnName(playerEntity, name))))
/** A shorter text, such as the digits of a phone number that has a few only, would be found in many others by chance. */
const MIN_LENGTH = 4

export async function readTexts(
  db: Kysely<Tables>,
  context: Pick<CallContext, 'caller'>,
  userIds: readonly number[],
): Promise<ReadText> {
  if (seesPersonal(context) || userIds.length === 0) return (_userId, text) => text
  const { rows } = await sql<{ userId: number; values: (string | null)[] }>`
    select user_id as "userId", array[${VALUES}] as values from telegram_users where user_id = any(${userIds}::bigint[])`.execute(
    db,
  )
  const known = new Map(rows.map(({ userId, values }) => [userId, values.filter((value) => value !== null).map(comparable)]))
  return (userId, text) => {
    const written = text === null ? '' : comparable(text)
    const repeats = known.get(userId)?.some((value) => value.length >= MIN_LENGTH && written.includes(value))
    return repeats ? WITHHELD : text
  }
}

/** Returns the letters and digits of a text, so that case, spaces and signs do not matter. */
function comparable(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '')
}
