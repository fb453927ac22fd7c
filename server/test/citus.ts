/**
 * Runs the tests on a Citus cluster. CITUS_URL is the address of its coordinator: each test worker then gets a database in which the
 * tables of players are distributed. Every server of the cluster must let the same role in.
 */
import os from 'node:os'
import { pino } from 'pino'
import { openDatabase } from '#src/db/database.ts'
import type { Migration } from '#src/db/migrate.ts'
import { DISTRIBUTED_TABLES, divisionSql } from '#src/postgres/citus.ts'
import { onServer, withDatabase } from './test-server.ts'

/** Shards of each table. Fewer than in production, since each test empties all of them. */
const SHARDS = 4

export const citusUrl = process.env['CITUS_URL']

interface Node {
  host: string
  port: number
}

/** Creates an empty database on every server of the cluster and registers the workers with the coordinator. */
export async function createClusterDatabase(url: string, name: string): Promise<void> {
  const workers = await workersOf(url)
  for (const node of [undefined, ...workers]) {
    await onServer(addressOf(url, node), (sql) => sql(`create database ${name}`))
    await onServer(withDatabase(addressOf(url, node), name), (sql) => sql('create extension citus'))
  }
  await onServer(withDatabase(url, name), async (sql) => {
    const { hostname, port } = new URL(url)
    await sql(`select citus_set_coordinator_host('${hostname}', ${port || 5432})`)
    for (const { host, port: workerPort } of workers) await sql(`select citus_add_node('${host}', ${workerPort})`)
  })
}

/**
 * Creates a migrated database whose tables are distributed as `arcade distribute` does it. Returns its address.
 * @param migrations replaces the product's migrations, such as by those of an earlier version
 */
export async function createDistributedDatabase(url: string, name: string, migrations?: Migration[]): Promise<string> {
  await createClusterDatabase(url, name)
  const address = withDatabase(url, name)
  const log = pino({ level: 'silent' })
  const database = await openDatabase({ dataDir: os.tmpdir(), url: address, log, use: 'command', migrations })
  await database.close()
  await onServer(address, async (sql) => {
    const tables = await sql<{ tablename: string }>(`select tablename from pg_tables where schemaname = 'public'`)
    const existing = new Set(tables.map(({ tablename }) => tablename))
    for (const table of DISTRIBUTED_TABLES.filter((one) => existing.has(one)))
      await sql(`select create_distributed_table('${table}', 'user_id', ${divisionSql(table, SHARDS)})`)
  })
  return address
}

export async function dropClusterDatabase(url: string, name: string): Promise<void> {
  for (const node of [...(await workersOf(url)), undefined])
    await onServer(addressOf(url, node), (sql) => sql(`drop database if exists ${name} with (force)`))
}

/** Lists the workers, as the database in CITUS_URL knows them. */
function workersOf(url: string): Promise<Node[]> {
  return onServer(url, (sql) => sql<Node>('select nodename as host, nodeport as port from pg_dist_node where groupid <> 0'))
}

function addressOf(url: string, node: Node | undefined): string {
  const address = new URL(url)
  if (node) [address.hostname, address.port] = [node.host, String(node.port)]
  return address.href
}
