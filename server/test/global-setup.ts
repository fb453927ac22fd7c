/**
 * Starts one PostgreSQL for a run of the tests, with a migrated database that the test workers copy: an embedded PostgreSQL in a
 * temporary directory, or the server at TEST_DATABASE_URL, whose role must be allowed to create databases.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import { embeddedCluster } from '#src/postgres/cluster.ts'
import { openDatabase } from '#src/db/database.ts'
import { processStartTime } from '#src/postgres/processes.ts'
import { type Catalog, readCatalog } from './catalog.ts'
import { citusUrl, dropClusterDatabase } from './citus.ts'
import { dropDatabase, onServer, urlOf, withDatabase } from './test-server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    testServer: { url: string; template: string; catalog: Catalog }
  }
}

export default async function setUp({ provide }: TestProject): Promise<() => Promise<void>> {
  if (!citusUrl) process.stdout.write('A cluster is left out: CITUS_URL, the address of a Citus coordinator, is not given.\n')
  const server = await startServer()
  const template = `arcade_test_${process.pid}`
  await onServer(server.url, (sql) => sql(`create database ${template}`))
  const database = await openDatabase({ dataDir: os.tmpdir(), url: withDatabase(server.url, template), log, use: 'command' })
  await database.close()
  const catalog = await onServer(withDatabase(server.url, template), readCatalog)
  provide('testServer', { url: server.url, template, catalog })

  return async () => {
    await onServer(server.url, async (sql) => {
      const rows = await sql<{ name: string }>(
        `select datname as name from pg_database where datname like '${template.replaceAll('_', '\\_')}%'`,
      )
      for (const { name } of rows) await (citusUrl ? dropClusterDatabase(server.url, name) : dropDatabase(sql, name))
    })
    await server.stop()
  }
}

const log = pino({ level: 'silent' })
const PREFIX = 'arcade-test-cluster-'

async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const external = citusUrl ?? process.env['TEST_DATABASE_URL']
  if (external) return { url: external, stop: async () => undefined }
  await sweep()
  const dataDir = await mkdtemp(path.join(os.tmpdir(), `${PREFIX}${process.pid}-${await processStartTime(process.pid)}-`))
  const cluster = clusterIn(dataDir)
  const running = await cluster.ensureRunning()
  return {
    url: urlOf(running),
    async stop() {
      await cluster.stop(running.pid, 5_000)
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

function clusterIn(dataDir: string) {
  // Fast rather than durable: a power failure may lose the tests' rows.
  return embeddedCluster({
    dataDir,
    log,
    isForTests: true,
    // Four workers test several servers each, with up to 16 connections a server.
    overrides: { fsync: 'off', full_page_writes: 'off', shared_buffers: '128MB', max_connections: '400' },
  })
}

/** Stops and removes the embedded PostgreSQLs of earlier runs that were killed. */
async function sweep(): Promise<void> {
  for (const name of await readdir(os.tmpdir())) {
    if (!name.startsWith(PREFIX)) continue
    const [pid, birth] = name.slice(PREFIX.length).split('-')
    if ((await processStartTime(Number(pid))) === birth) continue
    const dataDir = path.join(os.tmpdir(), name)
    const cluster = clusterIn(dataDir)
    await cluster.ensureRunning().then(
      ({ pid: postmaster }) => cluster.stop(postmaster, 5_000),
      () => undefined,
    )
    await rm(dataDir, { recursive: true, force: true })
  }
}
