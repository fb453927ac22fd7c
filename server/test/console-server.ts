/** Starts a real Arcade Console for end-to-end tests and benchmarks: a process on a fresh data directory, and a handle of its database. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pino } from 'pino'
import type { Role } from '@arcade/contract/team/fields'
import { importDirectory } from '#src/import/import.ts'
import { type Database, openDatabase } from '#src/db/database.ts'
import { actOfProcess } from '#src/audit/audit.ts'
import { createAccount } from '#src/identity/accounts.ts'
import { createPasswordLink } from '#src/identity/password-links.ts'
import { hashPassword } from '#src/identity/passwords.ts'
import { createSessions } from '#src/identity/sessions.ts'
import { createSetupLink } from '#src/identity/setup-links.ts'
import { embeddedCluster } from '#src/postgres/cluster.ts'
import { type KeptRows, keptRows } from './kept-rows.ts'
import { BASE_ENV } from './base-env.ts'
import { urlOf } from './test-server.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** Realistic data of a small console, in the import's format. scripts/sample.ts writes it. */
export const SAMPLE = resolve(ROOT, 'sample')
export const PASSWORD = 'correct horse'

export interface Person {
  id: string
  email: string
  token: string
}

export interface ConsoleServer {
  url: string
  dataDir: string
  pid: number
  database: Database
  /** Empties every table; with `sample`, fills them with the sample data. The first call imports the data, later ones copy the rows. */
  reset(options: { sample: boolean }): Promise<void>
  /** Returns the path of a new set-up link. @throws Error if there is an admin */
  newSetupLink(): Promise<string>
  /** Makes a link with which a user sets a password, and returns its path. Its maker is another admin, who is added if necessary. */
  newPasswordLink(userId: string): Promise<string>
  /** Creates an account with a users document and a session. An admin without a role is an owner. */
  addPerson(person: { fname: string; lname: string; email: string; userType: 'admin' | 'user'; role?: Role }): Promise<Person>
  /** Starts another server on the same database and files. Killing it loses nothing, because the first server runs the PostgreSQL. */
  startAnother(env?: Record<string, string>): Promise<{ url: string; kill(): Promise<void> }>
  stop(): Promise<void>
}

/** `sample` is the directory that `reset` imports. A DATA_DIR in `env` may exist already and is not removed. */
export async function startConsoleServer(
  env: Record<string, string> = {},
  { sample: directory = SAMPLE } = {},
): Promise<ConsoleServer> {
  const dataDir = env['DATA_DIR'] ?? (await mkdtemp(join(tmpdir(), 'arcade-console-')))
  const start = (more: Record<string, string> = {}) =>
    spawn(process.execPath, [resolve(ROOT, 'server/src/main.ts')], {
      env: { ...BASE_ENV, PORT: '0', DATA_DIR: dataDir, ...env, ...more },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  const child = start()
  const url = await readyAddress(child.stdout)
  const database = await openDatabase({
    dataDir,
    url: env['DATABASE_URL'],
    log: pino({ level: 'silent' }),
    use: 'command',
  })
  const sessions = await createSessions(database)
  const passwordHash = await hashPassword(PASSWORD)
  let rows: KeptRows | undefined
  return {
    url,
    dataDir,
    pid: child.pid ?? 0,
    database,
    async reset({ sample }) {
      rows ??= await keptRows(database)
      if (!rows.isKept('nothing')) await rows.keep('nothing')
      if (sample && !rows.isKept('sample')) {
        await rows.putBack('nothing')
        await importDirectory({ database, directory, rejectedPath: join(dataDir, 'rejected.ndjson') })
        await rows.keep('sample')
      }
      await rows.putBack(sample ? 'sample' : 'nothing')
    },
    async newSetupLink() {
      const path = await createSetupLink(database, actOfProcess('command', 'test'))
      if (path === undefined) throw new Error('there is an admin already')
      return path
    },
    async newPasswordLink(userId) {
      const admins = database.db.selectFrom('users').select('id').where('user_type', '=', 'admin').where('id', '<>', userId)
      const maker = { fname: 'Mae', lname: 'Maker', email: 'mae@gmail.com', passwordHash, userType: 'admin' } as const
      return database.transaction(async (tx) => {
        const { id: madeBy } = (await admins.executeTakeFirst()) ?? (await createAccount(tx, maker))
        return (await createPasswordLink(tx, { userId, madeBy })).path
      })
    },
    async addPerson(person) {
      const { id } = await database.transaction((tx) => createAccount(tx, { ...person, passwordHash }))
      return { id, email: person.email, token: await sessions.begin(id) }
    },
    async startAnother(more = {}) {
      const log = pino({ level: 'silent' })
      const another = start({
        DATABASE_URL: env['DATABASE_URL'] ?? urlOf((await embeddedCluster({ dataDir, log }).find())!),
        ...more,
      })
      return {
        url: await readyAddress(another.stdout),
        async kill() {
          another.kill('SIGKILL')
          if (another.signalCode === null) await once(another, 'exit')
        },
      }
    },
    async stop() {
      await database.close()
      child.kill('SIGTERM')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      if (env['DATA_DIR'] === undefined) await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function readyAddress(stdout: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stdout })) {
    const address = /^Arcade Console ready at (http:\S+)$/.exec(line)?.[1]
    if (address) {
      stdout.resume()
      return address
    }
  }
  throw new Error('the server ended before it was ready')
}
