/**
 * Keeps copies of all tables of a database under names and puts them back. Writes only tables that have changed since. It compares
 * checksums rather than `xmin`, which rows of distributed tables of a Citus cluster do not have.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'

export interface KeptRows {
  /** Copies all tables into a schema of this name, which must be one lower-case word. */
  keep(name: string): Promise<void>
  isKept(name: string): boolean
  putBack(name: string): Promise<void>
}

interface Table {
  name: string
  /** All columns except generated ones, as a list for SQL. */
  columns: string
  /** Tables to which this one has foreign keys. */
  refersTo: string[]
}

export async function keptRows(database: Database): Promise<KeptRows> {
  const { db } = database
  const tables = await tablesOf(db)
  /** For each table, the name of the copy that it holds now, and the checksum that the table had then. */
  const present = new Map<string, { name: string; checksum: string }>()
  const kept = new Set<string>()

  /** Returns a checksum of each table's rows, which does not depend on their order. */
  const checksums = async (tx: Kysely<Tables>): Promise<Map<string, string>> => {
    const each = tables.map(
      ({ name }) =>
        sql`select ${sql.lit(name)} as name, count(*) || ' ' || coalesce(sum(hashtextextended(row_of::text, 0)), 0) as checksum
              from ${sql.table(name)} as row_of`,
    )
    const { rows } = await sql<{ name: string; checksum: string }>`${sql.join(each, sql` union all `)}`.execute(tx)
    return new Map(rows.map(({ name, checksum }) => [name, checksum]))
  }

  const remember = (name: string, changed: readonly Table[], now: Map<string, string>): void => {
    for (const table of changed) present.set(table.name, { name, checksum: now.get(table.name) ?? '' })
  }

  /** Locks out writers: a server that folds counters moves rows between tables, and both tables must be copied in the same state. */
  const withoutWriters = <T>(work: (tx: Transaction<Tables>) => Promise<T>): Promise<T> =>
    database.transaction(async (tx) => {
      await sql`lock table ${sql.join(tables.map((table) => sql.table(table.name)))} in share row exclusive mode`.execute(tx)
      return work(tx)
    })

  return {
    async keep(name) {
      const now = await withoutWriters(async (tx) => {
        await sql`create schema ${sql.id(name)}`.execute(tx)
        for (const table of tables)
          await sql`create table ${sql.id(name, table.name)} as table ${sql.table(table.name)}`.execute(tx)
        return checksums(tx)
      })
      remember(name, tables, now)
      kept.add(name)
    },
    isKept: (name) => kept.has(name),
    async putBack(name) {
      const { changed, after } = await withoutWriters(async (tx) => {
        const now = await checksums(tx)
        const isChanged = (table: Table): boolean => {
          const was = present.get(table.name)
          return (
            was?.name !== name ||
            was.checksum !== now.get(table.name) ||
            tables.some((one) => table.refersTo.includes(one.name) && isChanged(one))
          )
        }
        const different = tables.filter(isChanged)
        if (different.length === 0) return { changed: different, after: now }
        // To delete few rows is faster than `truncate`, which replaces the files of a table and its indexes.
        for (const table of different.toReversed()) await sql`delete from ${sql.table(table.name)}`.execute(tx)
        for (const table of different)
          await sql`insert into ${sql.table(table.name)} (${sql.raw(table.columns)})
            select ${sql.raw(table.columns)} from ${sql.id(name, table.name)}`.execute(tx)
        return { changed: different, after: await checksums(tx) }
      })
      remember(name, changed, after)
    },
  }
}

/** Lists all tables except those of migrations. A table comes after the ones that its foreign keys refer to. */
async function tablesOf(db: Database['db']): Promise<Table[]> {
  const { rows } = await sql<Table>`
    select relname as name,
           (select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
             where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
           (select coalesce(json_agg(f.relname), '[]') from pg_constraint join pg_class f on f.oid = confrelid
             where conrelid = c.oid and contype = 'f' and confrelid <> c.oid) as "refersTo"
      from pg_class c
     where relkind = 'r' and relnamespace = current_schema()::regnamespace and relname not like '%migration%'
     order by relname`.execute(db)
  const sorted: Table[] = []
  const add = (table: Table): void => {
    if (sorted.includes(table)) return
    for (const one of rows) if (table.refersTo.includes(one.name)) add(one)
    sorted.push(table)
  }
  for (const table of rows) add(table)
  return sorted
}
