/** What is known about a player who is being erased, to find what operators wrote about the person. */
import { sql, type Transaction } from 'kysely'
import { playerList } from '@arcade/contract/players/fields'
import { playerDetails } from '@arcade/contract/game/calls'
import { columnName, playerEntity, sourceSql } from '#src/db/entities.ts'
import type { Tables } from '#src/db/tables.ts'
import { isElsewhere } from '#src/erasure/elsewhere.ts'
import type { ErasedPerson } from '#src/erasure/person.ts'
import { servedPlayers } from '#src/players/players-list.ts'
import { whereFilter } from '#src/lists/where.ts'

/** Fields whose values cannot mean anything but this person. Names and handles are whatever a player chose. */
const identifying: readonly string[] = ['email', 'phoneNumber', 'tonWalletAddress', 'bscWallet']

/** Rows that are compared one by one, because a frequent text is found among them sooner than by an index. */
const COMPARED_ROWS = 10_000

export async function personOf(
  tx: Transaction<Tables>,
  { userId, anonymousId }: { userId: number; anonymousId: number },
): Promise<ErasedPerson> {
  const { rows: fields } = await sql<{ name: string; value: string }>`
    select name, value from telegram_users, lateral (values ${sql.join(
      playerDetails.map((name) => sql`(${name}::text, ${sql.ref(columnName(playerEntity, name))})`),
    )}) as field (name, value)
     where user_id = ${userId} and value <> ''`.execute(tx)
  // Participations keep the names that the player had then.
  const { rows: earlier } = await sql<{ value: string }>`
    select distinct value from participations, lateral (values (username), (first_name), (last_name)) as name (value)
     where user_id = ${userId} and value <> ''`.execute(tx)
  const identifiers = fields.filter(({ name }) => identifying.includes(name)).map(({ value }) => value)
  return {
    kind: 'player',
    id: String(userId),
    anonymousId: String(anonymousId),
    texts: [...fields, ...earlier].map(({ value }) => value),
    identifiers: [String(userId), ...identifiers, ...identifiers.map((text) => text.replaceAll(/\D/g, ''))],
    lists: [playerList.name, 'audit'],
    findsOthers: (search) => findsOthers(tx, search, userId),
    findsElsewhere: (word) => isElsewhere(tx, { word, people: 'users' }),
  }
}

async function findsOthers(tx: Transaction<Tables>, search: string, userId: number): Promise<boolean> {
  const source = sql.raw(sourceSql(playerEntity))
  const { matches, conditions = [matches] } = whereFilter(servedPlayers, { search }, undefined).sql
  const isOther = sql`user_id > 0 and user_id <> ${userId}`
  const some = sql`(select * from ${source} limit ${sql.lit(COMPARED_ROWS)}) as telegram_users`
  const searches = [sql`${some} where ${matches}`, ...conditions.map((condition) => sql`${source} where ${condition}`)]
  for (const searched of searches) {
    const { rows } = await sql`select user_id from ${searched} and ${isOther} limit 1`.execute(tx)
    if (rows.length > 0) return true
  }
  return false
}
