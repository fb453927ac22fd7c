/** Creates the app for tests, on a real database but without a port, and clients that call it as a guest, user, admin, bot or player. */
import os from 'node:os'
import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import type { Role } from '@arcade/contract/team/fields'
import type { BotScope } from '@arcade/contract/bot-tokens/fields'
import { type App, createApp } from '#src/app.ts'
import { type Backups, createBackups } from '#src/backup/backups.ts'
import type { TelegramSettings } from '#src/broadcasts/broadcasts.ts'
import { type Config, readConfig } from '#src/config.ts'
import { actOfProcess } from '#src/audit/audit.ts'
import { createBotToken } from '#src/identity/bot-tokens.ts'
import type { Database } from '#src/db/database.ts'
import { createAccount } from '#src/identity/accounts.ts'
import type { Files } from '#src/files/files.ts'
import { diskStore, type FileStore } from '#src/files/disk.ts'
import { createImages, type Images } from '#src/files/images.ts'
import type { WebApp } from '#src/http/static.ts'
import { hashPassword } from '#src/identity/passwords.ts'
import type { Sessions } from '#src/identity/sessions.ts'
import type { Passwords } from '#src/identity/sign-in-passwords.ts'
import { openSpool } from '#src/sheets/spool.ts'
import { secretKey } from '#src/webhooks/secret-key.ts'
import { BOT_TOKEN, signInitData } from './init-data.ts'
import { beforeTablesAreEmptied, testDatabase } from './test-database.ts'

export const MAX_EXPORTS = 4
export const PASSWORD = 'correct horse'
const ORIGIN = 'http://console.localhost'

export interface TestAnswer {
  status: number
  headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read answers of every shape
  body: any
}

export interface Client {
  id: string
  headers: Record<string, string>
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestAnswer>
}

export interface TestApp {
  database: Database
  sessions: Sessions
  passwords: Passwords
  passkeys: App['passkeys']
  files: Files
  visits: App['visits']
  mails: App['mails']
  passwordResets: App['passwordResets']
  /** Sends a request without adding credentials. `peer` is the address that it comes from. */
  fetch(path: string, init?: RequestInit, peer?: string): Promise<Response>
  /** The app's handler, for tests that open a port. */
  nodeFetch: App['http']['fetch']
  /** The paths that the app has, apart from the web app's. */
  paths: string[]
  live: App['live']
  broadcasts: App['broadcasts']
  readiness: App['readiness']
  backups: Backups
  guest: Client
  /** Creates an account and signs it in. @param as the user type, or the role of an admin; an admin is an owner */
  signUp(as: 'admin' | 'user' | Role, email?: string): Promise<Client>
  /** Creates a bot token and returns a client that uses it. */
  bot(name?: string, scope?: BotScope): Promise<Client>
  /** Returns a client with a player's initData. */
  player(userId: number): Client
}

let passwordHash: string | undefined
let people = 0
/** The image decoder's process, shared by all apps of a test file. */
const sharedImages = createImages()

export async function testApp(
  options: {
    rateLimit?: boolean
    metricsToken?: string
    passwordPolicy?: 'standard' | 'strict'
    secondFactor?: 'optional' | 'admins'
    publicOrigin?: string
    trustedProxies?: string[]
    fileStore?: FileStore
    images?: Images
    log?: Logger
    /** The spool's limit in bytes. With 0, an export that the client does not read keeps its database snapshot open. */
    spoolBytes?: number
    maxExports?: number
    entryCaps?: Record<string, number>
    initData?: Partial<Config['initData']>
    webhookNetworks?: string[]
    /** The SMTP server that gets the mails, such as `smtp://127.0.0.1:2525`; no mails without it. */
    smtpUrl?: string
    telegram?: Partial<TelegramSettings>
    /** The sign-in service. */
    oidc?: Config['oidc']
    webApp?: WebApp
    database?: Database
    /** Where backups are made, with the temporary database that verifies them beside it. */
    backupsIn?: string
  } = {},
): Promise<TestApp> {
  const database = options.database ?? (await testDatabase())
  const log = options.log ?? pino({ level: 'silent' })
  const spool = await openSpool({
    directory: join(os.tmpdir(), `arcade-test-spool-${process.pid}`),
    log,
    ...(options.spoolBytes !== undefined && { limitBytes: options.spoolBytes }),
  })
  const fileStore = options.fileStore ?? diskStore(join(os.tmpdir(), `arcade-test-files-${process.pid}`))
  const dataDir = options.backupsIn ?? join(os.tmpdir(), `arcade-test-backups-${process.pid}`)
  const settings = { address: join(dataDir, 'backups'), times: undefined, keep: 7 }
  const backups = createBackups({ database, fileStore, settings, dataDir, log })
  beforeTablesAreEmptied(() => backups.stop()) // one that the test has begun
  const { http, ...app } = await createApp({
    config: {
      host: '127.0.0.1',
      publicOrigin: options.publicOrigin,
      registrationEmailHost: 'gmail.com',
      rateLimit: options.rateLimit ?? false,
      metricsToken: options.metricsToken,
      passwordPolicy: options.passwordPolicy ?? 'standard',
      secondFactor: options.secondFactor ?? 'optional',
      trustedProxies: options.trustedProxies ?? [],
      maxExports: options.maxExports ?? MAX_EXPORTS,
      trashDays: 30,
      entryCaps: new Map(Object.entries(options.entryCaps ?? {})),
      initData: { botToken: BOT_TOKEN, botId: undefined, maxAgeSeconds: 3600, ...options.initData },
      webhookNetworks: options.webhookNetworks ?? [],
      mail: options.smtpUrl === undefined ? undefined : readConfig({ SMTP_URL: options.smtpUrl, PUBLIC_URL: ORIGIN }).mail,
      oidc: options.oidc,
      telegram: {
        botToken: undefined,
        apiRoot: 'http://127.0.0.1:9', // the discard service: nothing answers there
        ratePerSecond: 25,
        messagesAWeek: undefined,
        quietHours: undefined,
        miniAppUrl: undefined,
        ...options.telegram,
      },
    },
    database,
    fileStore,
    images: options.images ?? sharedImages,
    spool,
    log,
    secretKey: secretKey('of the tests'),
    backups,
    ...(options.webApp && { webApp: options.webApp }),
  })
  const fetch = async (path: string, init?: RequestInit, peer?: string): Promise<Response> =>
    http.fetch(
      new Request(ORIGIN + path, init),
      peer === undefined ? {} : { incoming: { socket: { remoteAddress: peer } } as never },
    )
  const client = (id: string, identity: Record<string, string>): Client => ({
    id,
    headers: identity,
    async call(method, path, body, headers = {}) {
      const response = await fetch(path, {
        method,
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...identity, ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const type = response.headers.get('content-type') ?? ''
      const isJson = type.startsWith('application/json')
      if (type.startsWith('text/event-stream')) await response.body?.cancel() // an event stream never ends by itself
      return {
        status: response.status,
        headers: response.headers,
        body: isJson ? await response.json() : response.bodyUsed ? undefined : await response.arrayBuffer(),
      }
    },
  })
  return {
    ...app,
    database,
    fetch,
    nodeFetch: http.fetch,
    paths: http.routes.map(({ path }) => path),
    backups,
    guest: client('', {}),
    async signUp(as, email = `person${++people}@gmail.com`) {
      passwordHash ??= await hashPassword(PASSWORD)
      const type = as === 'user' ? { userType: as } : { userType: 'admin' as const, ...(as !== 'admin' && { role: as }) }
      const account = { fname: 'Test', lname: 'Person', email, passwordHash, ...type }
      const { id } = await database.transaction((tx) => createAccount(tx, account))
      return client(id, { cookie: `session=${await app.sessions.begin(id)}` })
    },
    async bot(name = `bot ${++people}`, scope = 'play') {
      const { token } = await createBotToken(database, actOfProcess('command', 'test'), { name, scope })
      return client(name, { authorization: `Bearer ${token}` })
    },
    player: (userId) =>
      client(String(userId), { authorization: `tma ${signInitData({ user: JSON.stringify({ id: userId }) })}` }),
  }
}
