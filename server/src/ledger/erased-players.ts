/**
 * Remembers erased players (ADR 22), so that an import does not restore them: keyed hashes of their ids. Neither the time nor the new id is
 * stored, so nothing leads from here to the player's remaining data.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/db/tables.ts'

const KEY = 'erased-players'

export async function noteErased(db: Kysely<Tables>, userId: number): Promise<void> {
  await sql`insert into secrets (name, value) values (${KEY}, ${randomBytes(32)}) on conflict do nothing`.execute(db)
  const hash = await hasher(db)
  await sql`insert into erased_players (id_hash) values (${hash!(userId)}) on conflict do nothing`.execute(db)
}

/** Returns the players who were erased. */
export async function findErased(db: Kysely<Tables>, userIds: Iterable<number>): Promise<Set<number>> {
  const hash = await hasher(db)
  if (!hash) return new Set()
  const ids = new Map(Array.from(userIds, (id) => [hash(id).toString('hex'), id]))
  const { rows } = await sql<{ hash: string }>`
    select encode(id_hash, 'hex') as hash from erased_players where id_hash in (select decode(hash, 'hex') from unnest(${[...ids.keys()]}::text[]) as asked (hash))`.execute(
    db,
  )
  return new Set(rows.map((row) => ids.get(row.hash)!))
}

/** Returns the key, or undefined if no player was ever erased. */
async function hasher(db: Kysely<Tables>): Promise<((userId: number) => Buffer) | undefined> {
  const secret = await db.selectFrom('secrets').select('value').where('name', '=', KEY).executeTakeFirst()
  return secret && ((userId) => createHmac('sha256', secret.value).update(String(userId)).digest())
}
