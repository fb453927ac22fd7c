/** Databases on the server that the tests run against. */
import pg from 'pg'
import type { Running } from '#src/postgres/cluster.ts'

type Sql = <Row>(text: string) => Promise<Row[]>

export function urlOf({ host, port, user, password, database }: Running): string {
  return `postgresql://${user}:${encodeURIComponent(password)}@${host}:${port}/${database}`
}

export function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

/** Runs statements on a connection of its own. */
export async function onServer<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(async <Row>(text: string) => (await client.query(text)).rows as Row[])
  } finally {
    await client.end()
  }
}
