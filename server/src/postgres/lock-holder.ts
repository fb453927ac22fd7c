/**
 * The connection that a process keeps open all the time. It holds the advisory locks that show who uses the embedded PostgreSQL,
 * and it receives notifications. If it is lost, the process starts the database again or waits for it, and then connects again.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Cluster } from './cluster.ts'
import { type Address, type Connection, connect, destroy, isConnectTimeout } from './connections.ts'
import { StartError, isUnavailable } from './errors.ts'
import { findProcess } from './processes.ts'

export interface LockHolderOptions {
  /** The embedded PostgreSQL, which this process keeps running, or the address of another database. */
  target: { cluster: Cluster; dataDir: string } | { url: string }
  use: 'server' | 'command'
  log: Logger
  /** Aborts the first connection. */
  signal?: AbortSignal | undefined
  /** How long the first connection may take, in milliseconds. */
  giveUpAfterMs: number
  /** The interval of connection tests. Without an answer for this time, the connection counts as lost. */
  heartbeatMs: number
  /** Called with the database's address at the start and after each recovery, in which the port may have changed. */
  onConnected: (address: Address) => void
  /** Called when the connection counts as lost because the database is silent: it will not answer on other connections either. */
  onSilent?: (() => void) | undefined
  /** Called when another server has taken over the data directory, so this process must end. */
  onFatal: (error: Error) => void
}

export interface LockHolder {
  /** The open connection; undefined during a recovery. */
  readonly connection: Connection | undefined
  address(): Address
  listen(listener: Listener): Promise<void>
  /** Releases the locks. The last process to do so stops the embedded PostgreSQL. */
  close(timeoutMs: number): Promise<void>
}

export interface Listener {
  channel: string
  onMessage: (payload: string) => void
  /** Called when the connection is lost and when it is back, because notifications may have been missed. */
  onGap: () => void
}

/** The first key of all advisory locks of Arcade Console ("ARCD" in ASCII). LOCKS has the second keys. */
export const LOCK_SPACE = 0x41524344
/** The first key of the locks of what a person may do; the second one is a hash of the person's id. */
export const RIGHTS_SPACE = LOCK_SPACE + 1
export const LOCKS = {
  server: 1,
  use: 2,
  migration: 3,
  socialPriorities: 4,
  dailyPriorities: 5,
  admins: 6,
  backup: 7,
  fileRemovals: 8,
  /** Servers of the previous version hold it while they make and verify a scheduled backup. */
  backupSchedule: 9,
  recount: 10,
  fold: 11,
  distribution: 12,
  changes: 13,
  erasures: 14,
  moveIn: 15,
  schedule: 16,
  broadcasts: 18,
}

export async function openLockHolder(options: LockHolderOptions): Promise<LockHolder> {
  const name = `arcade ${options.use} ${process.pid} ${randomBytes(4).toString('hex')}`
  const first = await attach({ ...options, name, abort: options.signal }).catch(async (error: unknown) => {
    // This start may have started PostgreSQL, which must not keep running if nobody else uses it.
    const { target } = options
    if ('cluster' in target && !(error instanceof AlreadyRunningError)) await leave(target.cluster, name, CLOSE_FAILED_MS)
    throw error
  })
  return new RecoveringLockHolder(first, { ...options, name })
}

class RecoveringLockHolder implements LockHolder {
  readonly #options: RecoveryOptions
  readonly #listeners: Listener[] = []
  readonly #closing = new AbortController()
  readonly #heartbeat: NodeJS.Timeout
  #current: Attached | undefined
  #lastAddress: Address
  #recovery: Promise<void> | undefined

  constructor(first: Attached, options: RecoveryOptions) {
    this.#options = options
    this.#current = first
    this.#lastAddress = first.address
    this.#watch(first)
    this.#heartbeat = setInterval(() => void destroyIfDead(this.#current?.client, options), options.heartbeatMs)
    this.#heartbeat.unref()
  }

  get connection(): Connection | undefined {
    return this.#current?.client
  }

  address(): Address {
    return this.#lastAddress
  }

  async listen(listener: Listener): Promise<void> {
    this.#listeners.push(listener)
    // A running recovery will listen to the new channel, too.
    await this.#current?.client.query(listenTo(listener.channel)).catch((error: unknown) => {
      if (!isUnavailable(error)) throw error
    })
  }

  async close(timeoutMs: number): Promise<void> {
    if (this.#closing.signal.aborted) return
    const deadline = performance.now() + timeoutMs
    this.#closing.abort(new Error('The database is being closed'))
    clearInterval(this.#heartbeat)
    await resultWithin(this.#recovery, CLOSE_RECOVERY_MS)
    const { target, name } = this.#options
    if (this.#current !== undefined) await detach(this.#current, target, deadline - performance.now())
    // A recovery may have started PostgreSQL again just before it was aborted.
    else if ('cluster' in target) await leave(target.cluster, name, deadline - performance.now())
  }

  /** Passes the connection's notifications on, and starts a recovery when it is lost. */
  #watch({ client, address }: Attached): void {
    this.#lastAddress = address
    this.#options.onConnected(address)
    client.on('notification', ({ channel, payload }) => {
      for (const listener of this.#listeners) if (listener.channel === channel) listener.onMessage(payload ?? '')
    })
    const handleEnd = (): void => {
      if (this.#current?.client !== client || this.#closing.signal.aborted) return
      this.#current = undefined
      this.#recovery = this.#recover().catch((error: unknown) => {
        if (!this.#closing.signal.aborted) this.#options.onFatal(error as Error)
      })
    }
    if (client.isEnded) handleEnd()
    else client.once('end', handleEnd)
  }

  async #recover(): Promise<void> {
    const { log } = this.#options
    log.warn('The database connection was lost')
    this.#reportGap()
    const since = performance.now()
    // From here on only `close` aborts, no longer the signal of the start.
    const attached = await attach({ ...this.#options, abort: this.#closing.signal, giveUpAfterMs: Infinity })
    this.#current = attached
    this.#watch(attached)
    try {
      const channels = new Set(this.#listeners.map(({ channel }) => channel))
      for (const channel of channels) await attached.client.query(listenTo(channel))
    } catch {
      destroy(attached.client) // the connection's 'end' starts the next recovery, unless it has started already
    }
    if (this.#current !== attached) return
    this.#reportGap()
    log.warn({ afterMs: performance.now() - since }, 'The database connection is back')
  }

  #reportGap(): void {
    for (const { onGap } of this.#listeners) onGap()
  }
}

/** Milliseconds within which a stopping server releases its lock. */
const HANDOVER_MS = 300
/** Milliseconds within which PostgreSQL notices that a client process has died, and releases its locks. */
const VANISHED_MS = 10_000
/** Milliseconds for which PostgreSQL may replay its log after a crash; until then it refuses connections with 57P03. */
const STARTING_MS = 120_000
const CLOSE_RECOVERY_MS = 3_000
const CLOSE_FAILED_MS = 7_500

interface Attached {
  client: Connection
  address: Address
  /** The postmaster of the embedded PostgreSQL. */
  pid: number | undefined
}

type RecoveryOptions = Omit<AttachOptions, 'abort'>

interface AttachOptions extends LockHolderOptions {
  /** The application name of its connection, which other processes see. */
  name: string
  abort: AbortSignal | undefined
}

/** Connects and takes the locks. Starts the embedded PostgreSQL as often as needed, because other processes may stop it at the same time. */
async function attach(options: AttachOptions): Promise<Attached> {
  const { abort, log, giveUpAfterMs } = options
  const since = performance.now()
  for (let failures = 0; ; failures += 1) {
    try {
      const attached = await attachOnce(options)
      if (attached !== undefined) return attached
      if (performance.now() - since > giveUpAfterMs)
        throw new StartError('The process that stops PostgreSQL on this DATA_DIR does not finish: end it and start again.')
    } catch (error) {
      abort?.throwIfAborted()
      if (error instanceof AlreadyRunningError) throw error
      if (giveUpAfterMs !== Infinity && performance.now() - since > allowedMs(error, giveUpAfterMs))
        throw startError(options, error)
      if (failures % 20 === 5) log.warn({ err: error }, 'The database is not reachable, trying again')
    }
    await pause(Math.min(500, 25 * 2 ** failures), undefined, abort && { signal: abort }).catch(() => abort?.throwIfAborted())
  }
}

/** Returns how long to keep trying after an error; negative for not at all. */
function allowedMs(error: unknown, usualMs: number): number {
  if (error instanceof NoAnswerError || !isUnavailable(error)) return -1
  return (error as { code?: unknown }).code === '57P03' ? STARTING_MS : usualMs
}

/** Connects and takes the locks. Returns undefined if the last user of the embedded PostgreSQL is just stopping it. */
async function attachOnce({ target, use, name, abort }: AttachOptions): Promise<Attached | undefined> {
  if ('url' in target) {
    const address = { connectionString: target.url }
    return { client: await connect(address, name), address, pid: undefined }
  }
  const { pid, ...address } = await target.cluster.ensureRunning(abort)
  const client = await connect(address, name).catch((error: unknown) => {
    throw isConnectTimeout(error) ? new NoAnswerError(pid, { cause: error }) : error
  })
  try {
    abort?.throwIfAborted()
    if (!(await tryLock(client, 'pg_try_advisory_lock_shared', LOCKS.use))) {
      await client.end()
      return undefined
    }
    if (use === 'server') await takeServerLock(client, { dataDir: target.dataDir, name, abort })
    return { client, address, pid }
  } catch (error) {
    await client.end().catch(() => undefined)
    throw error
  }
}

/** Stops the embedded PostgreSQL, whose locks this process does not hold, unless others use it. */
async function leave(cluster: Cluster, name: string, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs
  const running = await cluster.find().catch(() => undefined)
  if (running === undefined) return
  const { pid, ...address } = running
  const client = await resultWithin(connect(address, name), CLOSE_RECOVERY_MS)
  if (client !== undefined) await detach({ client, address, pid }, { cluster }, deadline - performance.now())
}

/** Releases the locks, stops the embedded PostgreSQL if nobody else uses it, and closes the connection. */
async function detach(
  { client, pid }: Attached,
  target: { cluster: Cluster } | { url: string },
  timeoutMs: number,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  if ('cluster' in target && pid !== undefined) await stopIfLast({ client, pid }, target.cluster, timeoutMs)
  await resultWithin(client.end(), Math.max(0, deadline - performance.now()))
  destroy(client)
}

/** @param lock the PostgreSQL function that takes the lock @param number one of LOCKS */
export async function tryLock(client: Pick<pg.Client, 'query'>, lock: string, number: number): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(`select ${lock}(${LOCK_SPACE}, ${number}) as taken`)
  return rows[0]?.taken ?? false
}

/** The error if another server uses this data directory. */
class AlreadyRunningError extends StartError {}

/** The error if the postmaster exists and the kernel accepts connections for it, but it does not answer (it may be stopped by SIGSTOP). */
class NoAnswerError extends Error {
  readonly pid: number

  constructor(pid: number, options: ErrorOptions) {
    super(`process ${pid} does not answer`, options)
    this.pid = pid
  }
}

/** Takes the server's lock: only one server may use a data directory, because it keeps state in memory. */
async function takeServerLock(
  client: pg.Client,
  { dataDir, name, abort }: { dataDir: string; name: string; abort: AbortSignal | undefined },
): Promise<void> {
  const since = performance.now()
  for (;;) {
    if (await tryLock(client, 'pg_try_advisory_lock', LOCKS.server)) return
    const holder = await advisoryLockHolder(client, LOCKS.server)
    const pid = Number(holder?.name.split(' ')[2])
    if (holder?.name === name) {
      await client.query('select pg_terminate_backend($1::int)', [holder.backend]) // this process has lost the connection, which PostgreSQL has not noticed yet
    } else if (
      holder !== undefined &&
      performance.now() - since > ((await findProcess(pid)) === undefined ? VANISHED_MS : HANDOVER_MS)
    ) {
      throw new AlreadyRunningError(
        `Another Arcade Console is already running on DATA_DIR ${dataDir} (process ${pid}; kill ${pid} ends it).`,
      )
    }
    await pause(50, undefined, abort && { signal: abort })
  }
}

/** Returns the PostgreSQL process that holds one of LOCKS in this database, with its application name. */
export async function advisoryLockHolder(
  client: pg.Client,
  number: number,
): Promise<{ backend: number; name: string } | undefined> {
  const { rows } = await client.query<{ backend: number; name: string }>(
    `select a.pid as backend, a.application_name as name
     from pg_locks l join pg_stat_activity a using (pid)
     where l.locktype = 'advisory' and l.classid = ${LOCK_SPACE} and l.objid = ${number} and l.granted
       and l.database = (select oid from pg_database where datname = current_database())`,
  )
  return rows[0]
}

/**
 * Stops the embedded PostgreSQL if this process gets the exclusive lock on its use: then it is the last user. A process that starts at the
 * same time cannot get the shared lock, and starts PostgreSQL again.
 */
async function stopIfLast(
  { client, pid }: { client: Connection; pid: number },
  cluster: Cluster,
  timeoutMs: number,
): Promise<void> {
  try {
    await client.query('select pg_advisory_unlock_all()')
    if (!(await tryLock(client, 'pg_try_advisory_lock', LOCKS.use))) return
  } catch (error) {
    if (!isUnavailable(error)) throw error
    return // PostgreSQL has stopped already
  }
  await cluster.stop(pid, Math.max(0, timeoutMs))
}

/** Tests the connection by a query, because a connection whose other end has vanished looks alive until it is used. */
async function destroyIfDead(
  client: pg.Client | undefined,
  { heartbeatMs, onSilent }: Pick<LockHolderOptions, 'heartbeatMs' | 'onSilent'>,
): Promise<void> {
  if (client === undefined) return
  let isAnswered = false
  const giveUp = (): void => {
    if (isAnswered) return
    destroy(client)
    onSilent?.()
  }
  // If this process itself was stopped for a while, it reads the answer before the immediate runs.
  const timer = setTimeout(() => setImmediate(giveUp), heartbeatMs)
  await client.query('select 1').catch(() => destroy(client))
  isAnswered = true
  clearTimeout(timer)
}

/** Returns the promise's value, or undefined if it is late or rejects. */
async function resultWithin<T>(promise: Promise<T> | undefined, timeoutMs: number): Promise<T | undefined> {
  const timer = new AbortController()
  const late = pause(timeoutMs, undefined, { signal: timer.signal })
  return Promise.race([promise?.catch(() => undefined), late]).finally(() => timer.abort())
}

function listenTo(channel: string): string {
  return `listen "${channel.replaceAll('"', '""')}"`
}

function startError({ target }: AttachOptions, error: unknown): Error {
  if (error instanceof StartError) return error
  const reason = error instanceof Error ? error.message : String(error)
  if ('url' in target) return new StartError(`The database of DATABASE_URL is not usable: ${reason}`, { cause: error })
  if (error instanceof NoAnswerError)
    return new StartError(
      `PostgreSQL on ${target.dataDir} (process ${error.pid}) runs but does not answer: end it with kill -9 ${error.pid} and start again.`,
      { cause: error },
    )
  return new StartError(`PostgreSQL on ${target.dataDir} is not usable: ${reason}`, { cause: error })
}
