/**
 * The collations of statements and indexes (ADR 25). The locale of the database decides nothing: `letters` knows capitals and small letters,
 * `a_to_z` orders names as people do, and "C" compares everything else by code points. The first two are made in each database from what its
 * server offers, so that statements name the same collations everywhere.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Logger } from 'pino'
import { onWorkers } from '#src/postgres/citus.ts'
import { StartError } from '#src/postgres/errors.ts'

/** Returns SQL for a text in small letters. `text` is SQL that needs no brackets before an operator. */
export function lowerSql(text: string): string {
  return `lower(${text} collate letters)`
}

/** Returns SQL for a text in small letters. */
export function lower(text: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`lower(${text} collate letters)`
}

/** Returns the SQL by which names are ordered: as people do, regardless of case. */
export function aToZSql(text: string): string {
  return `${lowerSql(text)} collate a_to_z`
}

/** Returns SQL for an id that is a text, as ids are ordered. */
export function idOrderSql(column: string): string {
  return `${column} collate "C"`
}

/** Where `letters` can come from, the best first: PostgreSQL 17 brings it, before that the operating system or ICU. */
const LETTERS = [
  `(provider = builtin, locale = 'C.UTF-8')`,
  `(provider = libc, locale = 'C.UTF-8')`,
  `(provider = icu, locale = 'und')`,
]
/** The root order of ICU, which is the one of Unicode. It is deterministic: only equal texts are equal. */
const A_TO_Z = `(provider = icu, locale = 'und')`
/** What takes its place in a PostgreSQL without ICU. */
const BY_CODE_POINT = 'from "C"'

/**
 * Makes the collations unless they are there, and the indexes in the order A–Z anew if ICU orders differently since an update of the server.
 * @throws StartError if this server cannot turn capitals into small letters
 */
export async function makeCollations(db: Kysely<unknown>, log: Pick<Logger, 'warn' | 'info'>): Promise<void> {
  const has = new Set((await ownCollations(db)).map(({ name }) => name))
  if (!has.has('letters')) await makeLetters(db)
  if (!has.has('a_to_z') && !(await tryToMake(db, 'a_to_z', A_TO_Z))) await tryToMake(db, 'a_to_z', BY_CODE_POINT)
  const names = (await ownCollations(db)).find(({ name }) => name === 'a_to_z')
  if (names?.provider !== 'i')
    log.warn('This PostgreSQL was built without ICU: lists from A to Z follow code points, so Émile comes after Zoe.')
  if (names?.isOutdated === true || (await onWorkers(db, OUTDATED)).some(({ success, result }) => success && result === 't'))
    await refreshNames(db, log)
}

async function ownCollations(db: Kysely<unknown>): Promise<{ name: string; provider: string; isOutdated: boolean }[]> {
  const { rows } = await sql<{ name: string; provider: string; isOutdated: boolean }>`
    select collname as name, collprovider as provider, collversion is distinct from pg_collation_actual_version(oid) as "isOutdated"
      from pg_collation where collname in ('letters', 'a_to_z') and collnamespace = current_schema()::regnamespace`.execute(db)
  return rows
}

async function makeLetters(db: Kysely<unknown>): Promise<void> {
  for (const options of LETTERS) {
    if (!(await tryToMake(db, 'letters', options))) continue
    const { rows } = await sql<{ small: string }>`select lower('IÄИΩ' collate letters) as small`.execute(db)
    if (rows[0]?.small === 'iäиω') return
    await sql`drop collation letters`.execute(db)
  }
  throw new StartError(
    'This PostgreSQL cannot turn capitals beyond A to Z into small letters: use PostgreSQL 17 or later, or one that was built with ICU.',
  )
}

/** Returns whether this server has such a collation. */
async function tryToMake(db: Kysely<unknown>, name: string, definition: string): Promise<boolean> {
  try {
    await sql.raw(`create collation if not exists ${name} ${definition}`).execute(db)
    return true
  } catch (error) {
    if (UNKNOWN_COLLATION.has((error as { code?: string }).code ?? '')) return false
    throw error
  }
}

/** A provider that this server does not have or know, or a locale that is not installed. */
const UNKNOWN_COLLATION = new Set(['0A000', '42P17', '42704', '22023'])

const OUTDATED = `
  select coalesce(bool_or(collversion is distinct from pg_collation_actual_version(oid)), false) from pg_collation where collname = 'a_to_z'`
/** Citus does not pass this statement on. */
const REFRESH = 'alter collation a_to_z refresh version'

/** An index in the order of an older ICU would miss rows. Other servers go on reading and writing meanwhile. */
async function refreshNames(db: Kysely<unknown>, log: Pick<Logger, 'info'>): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select objid::regclass::text as name from pg_depend
     where classid = 'pg_class'::regclass and refclassid = 'pg_collation'::regclass and refobjid = 'a_to_z'::regcollation`.execute(
    db,
  )
  for (const { name } of rows) await sql`reindex index concurrently ${sql.raw(name)}`.execute(db)
  await sql.raw(REFRESH).execute(db)
  await onWorkers(db, REFRESH)
  log.info({ indexes: rows.length }, 'ICU has another version, so the indexes in the order A to Z were made anew')
}
