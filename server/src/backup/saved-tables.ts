/** The tables of a backup: every table of the console except the list of migrations, without generated columns. */
import { UNFINISHED_RESTORE } from '#src/db/unfinished-restore.ts'
import type { Connection } from '#src/postgres/connections.ts'

export interface TableToSave {
  name: string
  columns: string[]
}

/** Returns all tables, each after the tables that its rows refer to. */
export async function tablesToSave(client: Connection): Promise<TableToSave[]> {
  const { rows } = await client.query<TableToSave & { refersTo: string[] }>(TABLES)
  const sorted: TableToSave[] = []
  const add = ({ name, columns, refersTo }: (typeof rows)[number]): void => {
    if (sorted.some((one) => one.name === name)) return
    for (const one of rows) if (one.name !== name && refersTo.includes(one.name)) add(one)
    sorted.push({ name, columns })
  }
  for (const table of rows) add(table)
  return sorted
}

const TABLES = `
  select relname as name,
         (select json_agg(attname order by attnum) from pg_attribute
           where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
         (select coalesce(json_agg(f.relname), '[]') from pg_constraint join pg_class f on f.oid = confrelid
           where conrelid = c.oid and contype = 'f' and confrelid <> c.oid) as "refersTo"
    from pg_class c
   where relkind in ('r', 'p') and not relispartition and relnamespace = current_schema()::regnamespace and relname not in ('migrations', '${UNFINISHED_RESTORE}')
   order by relname collate "C"`

/**
 * Returns about how many bytes the rows of each table take, to tell how far a backup is. It waits for no lock. What PostgreSQL has not
 * counted yet, and the tables of a Citus cluster, seem to be small.
 */
export async function sizesOfTables(client: Connection): Promise<Map<string, number>> {
  const { rows } = await client.query<{ name: string; bytes: number }>(
    `select c.relname as name, (1 + c.relpages + coalesce(t.relpages, 0)) * 8192::float8 as bytes
       from pg_class c left join pg_class t on t.oid = c.reltoastrelid
      where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace`,
  )
  return new Map(rows.map(({ name, bytes }) => [name, bytes]))
}

export interface RowSum {
  rows: number
  checksum: string
}

/** Returns the number of a table's rows and the sum of their hashes, which does not depend on their order. The connection needs `asWritten`. */
export async function sumRows(client: Connection, { name, columns }: TableToSave): Promise<RowSum> {
  const row = `row(${columns.map(quote).join(', ')})::text collate "C"`
  const { rows } = await client.query<RowSum>(
    `select count(*) as rows, coalesce(sum(hashtextextended(${row}, 0)::numeric), 0)::text as checksum from ${quote(name)}`,
  )
  return rows[0] ?? { rows: 0, checksum: '0' }
}

export function copyOutStatement({ name, columns }: TableToSave): string {
  return `copy (select ${columns.map(quote).join(', ')} from ${quote(name)}) to stdout`
}

/** COPY with `freeze` saves PostgreSQL from writing the rows a second time. It requires a table that the same transaction has truncated. */
export function copyInStatement({ name, columns }: TableToSave): string {
  return `copy ${quote(name)} (${columns.map(quote).join(', ')}) from stdin with (freeze)`
}

/** Makes a connection write and read values independently of the server's settings, and removes its timeouts. */
export async function asWritten(client: Connection): Promise<void> {
  await client.query(
    `set datestyle = 'ISO, MDY'; set timezone = 'UTC'; set intervalstyle = 'iso_8601'; set extra_float_digits = 1;
     set bytea_output = 'hex'; set client_encoding = 'UTF8'`,
  )
  // Not every version of PostgreSQL has each of these settings.
  await client.query(`select set_config(name, '0', false) from pg_settings where name = any($1)`, [
    ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout'],
  ])
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
