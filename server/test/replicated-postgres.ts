/** Starts an embedded PostgreSQL with a replica, for tests that stop, kill and promote replicas. */
import { appendFile, chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { freePort } from '#src/postgres/cluster.ts'
import { INITDB_OPTIONS } from '#src/postgres/cluster-init.ts'
import { programsFor } from '#src/postgres/cluster-run.ts'
import { findProcesses, signal } from '#src/postgres/processes.ts'
import { waitFor } from './processes.ts'
import { onServer } from './test-server.ts'

export interface TestPostgres {
  /** For the console: an ordinary role that owns the database. */
  url: string
  /** For statements that only a superuser may run. */
  adminUrl: string
  start(): Promise<void>
  /** Sends a signal to all processes of this PostgreSQL. */
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>
}

export interface ReplicatedPostgres {
  primary: TestPostgres
  replica: TestPostgres
  /** A replica of an unrelated PostgreSQL. It is not running yet. */
  stranger: TestPostgres
  stop(): Promise<void>
}

const DATABASE = 'console'
const SETTINGS = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
shared_buffers = '32MB'
fsync = off
wal_keep_size = '1GB'
hot_standby_feedback = on
max_standby_streaming_delay = 0  # queries that conflict with replay are cancelled at once
wal_receiver_status_interval = '1s'
wal_retrieve_retry_interval = '100ms'
`

export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const base = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-replicated-'))
  await chmod(base, 0o711)
  const primary = await createPostgres(path.join(base, 'primary'))
  const replica = await copyOf(primary, path.join(base, 'replica'))
  const stranger = await copyOf(await createPostgres(path.join(base, 'other')), path.join(base, 'stranger'))
  await primary.start()
  await replica.start()
  await onServer(primary.adminUrl, async (sql) => {
    await sql(`create role ${DATABASE} login`)
    await sql(`create database ${DATABASE} owner ${DATABASE}`)
  })
  return {
    primary,
    replica,
    stranger,
    async stop() {
      for (const server of [primary, replica, stranger]) await server.signal('SIGKILL')
      await rm(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
    },
  }
}

interface Created extends TestPostgres {
  dir: string
  port: number
}

async function createPostgres(dir: string): Promise<Created> {
  await mkdir(dir, { mode: 0o700 })
  const programs = await programsFor(dir)
  await programs.giveToPostgres(dir)
  await programs.run('initdb', [`--pgdata=${dir}`, ...INITDB_OPTIONS, '--auth=trust'])
  return postgresIn(dir, SETTINGS)
}

/** Creates a replica by copying a PostgreSQL that has not run yet. */
async function copyOf({ dir: source, port }: Created, dir: string): Promise<Created> {
  await cp(source, dir, { recursive: true })
  await chmod(dir, 0o700)
  await writeFile(path.join(dir, 'standby.signal'), '')
  return postgresIn(dir, `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres'\n`)
}

async function postgresIn(dir: string, settings: string): Promise<Created> {
  const port = await freePort()
  await appendFile(path.join(dir, 'postgresql.conf'), `${settings}port = ${port}\n`)
  const adminUrl = `postgresql://postgres@127.0.0.1:${port}/postgres`
  const own = () => findProcesses(({ cwd }) => cwd === dir)
  const server: Created = {
    dir,
    port,
    adminUrl,
    url: `postgresql://${DATABASE}@127.0.0.1:${port}/${DATABASE}`,
    async start() {
      await rm(path.join(dir, 'postmaster.pid'), { force: true }) // left behind if it was killed
      const programs = await programsFor(dir)
      programs.spawn('postgres', ['-D', dir], { stdio: 'ignore' }).unref()
      await waitFor(`PostgreSQL in ${dir}`, () => answers(adminUrl))
    },
    async signal(name) {
      await waitFor(`${name} to reach all`, async () => {
        const found = await own()
        for (const { pid } of found) signal(pid, name)
        return name !== 'SIGKILL' || found.length === 0
      })
    },
  }
  return server
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}
