/** The server process: configuration → database → migrations → app → listen → stop gracefully. */
import type { Server } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { serve } from '@hono/node-server'
import { type Logger, pino } from 'pino'
import { createApp } from './app.ts'
import { actOfProcess } from '#src/audit/audit.ts'
import { sealEntries } from '#src/audit/chain.ts'
import { Failure } from './calls.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { type Backups, createBackups } from '#src/backup/backups.ts'
import { sweepHours } from '#src/counters/activity.ts'
import { foldCounters } from '#src/counters/counters.ts'
import { type Database, openDatabase } from '#src/db/database.ts'
import { findPause } from '#src/db/scheduled-work.ts'
import { makeDataDir } from '#src/postgres/data-dir.ts'
import { StartError } from '#src/postgres/errors.ts'
import { lowerThreadPriority } from '#src/postgres/priority.ts'
import { findListener } from '#src/postgres/processes.ts'
import { createImages, type Images } from '#src/files/images.ts'
import { sweepRemovedNotes } from '#src/features/notes/notes.ts'
import { purgeExpired } from '#src/features/trash/trash.ts'
import { ensureAdmin } from '#src/identity/accounts.ts'
import { createSchedule, type Schedule } from '#src/items/schedule.ts'
import { sweepPlayerKeys } from '#src/ledger/entry-once.ts'
import { sweepQuotas } from '#src/ledger/quotas.ts'
import { sweepIdempotencyKeys } from '#src/identity/idempotency.ts'
import { sweepEmailChanges } from '#src/identity/email-changes.ts'
import { sweepInvitations } from '#src/identity/invitations.ts'
import { createSetupLink } from '#src/identity/setup-links.ts'
import { openFileStore } from '#src/files/files.ts'
import { stopSheetProcess } from '#src/sheets/sheet-writer.ts'
import { openSpool } from '#src/sheets/spool.ts'
import { limitSockets } from '#src/http/socket-limits.ts'
import { loadWebApp } from '#src/http/static.ts'
import { createDeliveries, type Deliveries } from '#src/webhooks/deliveries.ts'
import { openSecretKey } from '#src/webhooks/secret-key.ts'
import { sweepFlows } from '#src/identity/oidc-links.ts'
import { preparePasswords } from '#src/identity/passwords.ts'
import type { Sessions } from '#src/identity/sessions.ts'

/** After this long a stop no longer waits for requests under way. */
const DRAIN_MS = 7000
/** A server that stops because of an error ends after this time even if the stop hangs. */
const STOP_MS = 15_000
const WEB_APP = fileURLToPath(new URL('../../web/dist', import.meta.url))

await main()

async function main(): Promise<void> {
  const log = pino({ level: 'info' }, pino.destination({ dest: 1, sync: true }))
  const starting = new AbortController()
  let running: Running | undefined
  let stopping: Promise<void> | undefined
  let askedAt: number | undefined
  let exitCode = 0
  const stop = (): void => {
    if (!running) return starting.abort(new Error('stopped before it was ready'))
    stopping ??= running
      .stop()
      .catch((error: unknown) => {
        exitCode = 1
        log.error({ err: error }, 'The server could not stop in order')
      })
      .then(() => process.exit(exitCode))
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      // npm passes Ctrl-C on, too, so a second signal within a second is ignored. A later one ends the server; the next start cleans up.
      if (running && askedAt !== undefined && performance.now() - askedAt > 1000) {
        log.warn({ signal }, 'A second signal ends the server at once')
        process.exit(1)
      }
      askedAt ??= performance.now()
      stop()
    })
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (err) => {
      log.fatal({ event: 'unexpected-error', err }, 'Unexpected error: the server stops')
      if (exitCode !== 0) return
      exitCode = 1
      setTimeout(() => process.exit(exitCode), STOP_MS).unref()
      stop()
    })
  try {
    running = await start(readConfig(), log, starting.signal)
    if (starting.signal.aborted) stop()
  } catch (error) {
    if (starting.signal.aborted) {
      // The server was asked to stop, so the exit code does not depend on how its start failed.
      if (error !== starting.signal.reason) log.warn({ err: error }, 'Cleaning up after the cancelled start failed')
      process.exit(exitCode)
    }
    if (!(error instanceof ConfigError) && !(error instanceof StartError)) log.fatal({ err: error }, 'The server could not start')
    process.stderr.write(`Arcade Console cannot start: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(1)
  }
}

interface Running {
  stop(): Promise<void>
}

async function start(config: Config, log: Logger, signal: AbortSignal): Promise<Running> {
  const { dataDir, databaseUrl: url, databaseReplicaUrl: replicaUrl, databaseLimits: limits } = config
  await makeDataDir(dataDir)
  const opening = openDatabase({ dataDir, url, replicaUrl, limits, log, use: 'server', signal })
  const [database, webApp] = await Promise.all([opening, loadWebApp(WEB_APP), preparePasswords()]).catch(
    async (error: unknown) => {
      await opening.then((opened) => opened.close()).catch(() => {})
      throw error
    },
  )
  await lowerThreadPriority()
  try {
    const fileStore = openFileStore(config)
    await fileStore.check().catch((error: unknown) => {
      if (error instanceof StartError) throw error
      log.warn({ err: error }, 'Files cannot be stored at the moment')
    })
    const images = createImages()
    const secretKey = await openSecretKey({ given: config.secretKey, dataDir })
    const backups = createBackups({ database, fileStore, settings: config.backups, dataDir, log })
    const spool = await openSpool({ directory: join(dataDir, 'spool'), log })
    const app = await createApp({
      config,
      database,
      fileStore,
      images,
      spool,
      log,
      webApp,
      secretKey,
      backups,
    })
    const deliveries = createDeliveries({ database, key: secretKey, networks: config.webhookNetworks, log })
    const setupPath = await prepareFirstAdmin(config, database, app.sessions)
    // Read before the server says that it is ready, because nothing may fail after that.
    const scheduledPause = await findPause(database.db)
    const schedule = createSchedule({ database, log })
    await schedule.start()
    const { server, address } = await listen(config, app.http.fetch)
    const tasks = startBackgroundTasks(log, backgroundTasks({ ...app, database, deliveries, backups }))
    process.stdout.write(`Arcade Console ready at ${address}\n`)
    if (scheduledPause)
      process.stdout.write(`Scheduled work is paused. ${scheduledPause.reason} To let it run: npm run arcade -- resume\n`)
    if (setupPath)
      process.stdout.write(`Create the first admin (within 30 minutes, once): ${config.publicOrigin ?? address}${setupPath}\n`)
    return { stop: () => stopAll({ ...app, config, database, backups, images, server, tasks, schedule }) }
  } catch (error) {
    await database.close()
    throw error
  }
}

type App = Awaited<ReturnType<typeof createApp>>

interface ServerParts extends Pick<App, 'readiness' | 'live' | 'broadcasts' | 'visits' | 'mails'> {
  config: Config
  database: Database
  backups: Backups
  images: Images
  server: Server
  tasks: { stop: () => void }
  schedule: Schedule
}

/** Stops a server: what runs in the background first, then the requests under way, the database last. */
async function stopAll(stopped: ServerParts): Promise<void> {
  const { config, database, backups, broadcasts, images, server, tasks, schedule, readiness, live, visits, mails } = stopped
  const deadline = performance.now() + DRAIN_MS
  tasks.stop()
  const scheduleEnd = schedule.stop()
  live.stop()
  mails.stop()
  const ends = [backups.stop(), broadcasts.stop()].map((end) => Promise.race([end, pause(DRAIN_MS, undefined, { ref: false })]))
  const stopSeen = readiness.beginStop()
  // With an embedded database there is no other server to which a load balancer could send requests.
  if (config.databaseUrl !== undefined) await stopSeen
  await drain(server, deadline)
  await Promise.all([...ends, scheduleEnd])
  images.stop()
  await stopSheetProcess()
  await visits.write().catch(() => {}) // the database may be gone; the next visits of these players are noted again
  await database.close()
}

/** Creates the configured admin. Returns the path of a one-time set-up link if there is still no admin (design §7). */
async function prepareFirstAdmin(config: Config, database: Database, sessions: Sessions): Promise<string | undefined> {
  const { firstAdmin, passwordPolicy: policy } = config
  const act = actOfProcess('system', 'Start of the server')
  if (firstAdmin)
    await ensureAdmin(database, sessions, { ...firstAdmin, act, policy, unlessAdminExists: true }).catch((error: unknown) => {
      throw error instanceof Failure ? new ConfigError(`ADMIN_PASSWORD: ${error.message}`) : error
    })
  return createSetupLink(database, act)
}

function listen(config: Config, fetch: Parameters<typeof serve>[0]['fetch']): Promise<{ server: Server; address: string }> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException): void => {
      void explainFailure(error, config.port).then((reason) => reject(new StartError(reason)))
    }
    const server = serve({ fetch, port: config.port, hostname: config.host }, ({ port }) => {
      server.off('error', refuse) // a later error ends the process like any unexpected one
      const host = config.host.includes(':') ? `[${config.host}]` : config.host
      resolve({ server, address: `http://${host}:${port}` })
    }) as Server
    limitSockets(server)
    server.once('error', refuse)
  })
}

/** Says why the server cannot listen. Names the process that uses the port: a server whose npm was killed runs on without a terminal. */
async function explainFailure(error: NodeJS.ErrnoException, port: number): Promise<string> {
  if (error.code !== 'EADDRINUSE') return error.message
  const pid = await findListener(port)
  return `port ${port} is in use${pid === undefined ? '' : ` by process ${pid} (kill ${pid} ends it)`}; set PORT to another one`
}

type BackgroundTask = [everySeconds: number, name: string, run: () => Promise<unknown>]

interface BackgroundServices extends Pick<
  App,
  | 'sessions'
  | 'attempts'
  | 'signInGuard'
  | 'passwords'
  | 'passkeys'
  | 'passwordResets'
  | 'mails'
  | 'files'
  | 'broadcasts'
  | 'visits'
> {
  database: Database
  deliveries: Deliveries
  backups: Backups
}

function backgroundTasks(services: BackgroundServices): BackgroundTask[] {
  const { database, sessions, attempts, signInGuard, passwords, files, visits, broadcasts, deliveries, backups } = services
  const { passkeys, passwordResets, mails } = services
  return [
    [1, 'seal the audit', () => sealEntries(database)],
    [1, 'send webhooks', () => deliveries.sendDue()],
    [1, 'mail links to those who forgot their password', () => passwordResets.answer()],
    [1, 'send mails', () => mails.sendDue()],
    [1, 'send broadcasts', () => broadcasts.run()],
    [5, 'note visits of players', () => visits.write()],
    [10, 'fold counters', () => foldCounters(database)],
    [10, 'remove unused files', () => files.sweep()],
    [3600, 'remove old hours of activity', () => sweepHours(database)],
    [3600, 'remove ended sessions', () => sessions.sweep()],
    [3600, 'remove old attempts', () => attempts.sweep()],
    [3600, 'remove sign-in checks', () => signInGuard.sweep()],
    [600, 'remove expired challenges of passkeys', () => passkeys.sweep()],
    [600, 'remove unfinished sign-ins at the sign-in service', () => sweepFlows(database.db)],
    [3600, 'remove expired password links', () => passwords.sweep()],
    [3600, 'remove links that were mailed', () => passwordResets.sweep()],
    [3600, 'remove old invitations', () => sweepInvitations(database.db)],
    [3600, 'remove unconfirmed changes of e-mail', () => sweepEmailChanges(database.db)],
    [60, 'remove old mails', () => mails.sweep()],
    [3600, 'remove idempotency keys', () => sweepIdempotencyKeys(database)],
    [3600, 'remove old deliveries', () => deliveries.sweep()],
    [3600, 'remove keys of players’ calls', () => sweepPlayerKeys(database)],
    [3600, 'remove unused buckets of limits', () => sweepQuotas(database)],
    [3600, 'remove deleted notes', () => sweepRemovedNotes(database)],
    [10, 'make due backups', () => backups.runDue()],
    [60, 'purge the trash', () => purgeExpired({ database, files })],
  ]
}

/** Runs each background task at its interval. A failure is logged, and the task runs again after the next interval. */
function startBackgroundTasks(log: Logger, tasks: BackgroundTask[]): { stop: () => void } {
  const timers = tasks.map(([everySeconds, task, run]) =>
    setInterval(() => {
      run().catch((error: unknown) => log.warn({ err: error, task }, 'A background task failed and will be tried again'))
    }, everySeconds * 1000).unref(),
  )
  return { stop: () => timers.forEach((timer) => clearInterval(timer)) }
}

/** Closes the server when the requests under way are answered. @param deadline the `performance.now` at which it stops waiting for them */
async function drain(server: Server, deadline: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), deadline - performance.now())
  await closed
  clearTimeout(timer)
}
