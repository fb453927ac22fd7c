/** Databases on the server that the tests run against. */
import pg from 'pg'
import type { Running } from '#src/postgres/cluster.ts'

type Sql = <Row>(text: string) => Promise<Row[]>

/** How long a connection may take to end, in ms: generous, for busy machines. */
const END_MS = 60_000

export function urlOf({ host, port, user, password, database }: Running): string {
  return `postgresql://${user}:${encodeURIComponent(password)}@${host}:${port}/${database}`
}

export function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

/**
 * Drops a database, if it exists, after it has ended connections that tests left open. It does not use `with (force)`: PostgreSQL refuses
 * that to an ordinary role while autovacuum works in the database, whereas a plain drop ends autovacuum.
 */
export async function dropDatabase(sql: Sql, name: string): Promise<void> {
  const [found] = await sql(`select from pg_database where datname = '${name}'`)
  if (found === undefined) return
  await sql(`alter database ${name} with allow_connections false`)
  await sql(
    `select pg_terminate_backend(pid, ${END_MS}) from pg_stat_activity where datname = '${name}' and usename = current_user`,
  )
  await sql(`drop database ${name}`)
}

/** Runs `work` on a new connection, which it closes afterwards. */
export async function onServer<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(async <Row>(text: string) => (await client.query(text)).rows as Row[])
  } finally {
    await client.end()
  }
}
