/**
 * One connection that a process keeps open all the time (design §4). It holds the advisory locks that say who uses the embedded
 * cluster and receives notifications; when it is lost, the database is started again or waited for, and the connection is renewed.
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
  /** The embedded cluster, which this process keeps running, or the address of a database that somebody else runs. */
  target: { cluster: Cluster; dataDir: string } | { url: string }
  use: 'server' | 'command'
  log: Logger
  /** Gives the first connection up. */
  signal?: AbortSignal | undefined
  /** How long the first connection may take. */
  giveUpAfterMs: number
  /** How often the connection is tested; without an answer for as long it counts as lost. */
  heartbeatMs: number
  /** Called with the database's address at the start and after each recovery, because the port may have changed. */
  onConnected: (address: Address) => void
  /** Called when the connection counts as lost because the database was silent: it will not answer on others, either. */
  onSilent?: (() => void) | undefined
  /** Called when another server has taken the data directory over, so that this process has to end. */
  onFatal: (error: Error) => void
}

export interface LockHolder {
  /** undefined during a recovery. */
  readonly connection: Connection | undefined
  address(): Address
  listen(listener: Listener): Promise<void>
  /** Gives the locks back. The last process to do so stops the embedded cluster. */
  close(timeoutMs: number): Promise<void>
}

export interface Listener {
  channel: string
  onMessage: (payload: string) => void
  /** Called when the connection is lost and again when it is back, because messages may have been missed. */
  onGap: () => void
}

/** Advisory locks have two numbers here: this one ("ARCD") is common to all of Arcade Console's, LOCKS holds the second. */
export const LOCK_SPACE = 0x41524344
export const LOCKS = {
  server: 1,
  use: 2,
  migration: 3,
  socialPriorities: 4,
  dailyPriorities: 5,
  admins: 6,
  backup: 7,
  fileRemovals: 8,
  backupSchedule: 9,
  recount: 10,
  fold: 11,
  distribution: 12,
  changes: 13,
}

export async function openLockHolder(options: LockHolderOptions): Promise<LockHolder> {
  const { target, log } = options
  const listeners: Listener[] = []
  const closing = new AbortController()
  const name = `arcade ${options.use} ${process.pid} ${randomBytes(4).toString('hex')}`
  const abort = options.signal ? AbortSignal.any([closing.signal, options.signal]) : closing.signal
  const attachOptions = { ...options, name, abort }
  let current: Attached | undefined = await attach(attachOptions).catch(async (error: unknown) => {
    // The cluster may run because of this start; if nobody else uses it, it must not stay behind.
    if ('cluster' in target && !(error instanceof AlreadyRunningError)) await leave(target.cluster, name, CLOSE_FAILED_MS)
    throw error
  })
  let recovery: Promise<void> | undefined
  let lastAddress = current.address
  watch(current)
  const heartbeat = setInterval(() => void destroyIfDead(current?.client, options), options.heartbeatMs)
  heartbeat.unref()

  function watch({ client, address }: Attached): void {
    lastAddress = address
    options.onConnected(address)
    client.on('notification', ({ channel, payload }) => {
      for (const listener of listeners) if (listener.channel === channel) listener.onMessage(payload ?? '')
    })
    const onEnd = () => {
      if (current?.client !== client || closing.signal.aborted) return
      current = undefined
      recovery = recover().catch((error: unknown) => {
        if (!closing.signal.aborted) options.onFatal(error as Error)
      })
    }
    if (client.isEnded) onEnd()
    else client.once('end', onEnd)
  }

  async function recover(): Promise<void> {
    log.warn('The database connection was lost')
    for (const { onGap } of listeners) onGap()
    const since = performance.now()
    // A signal that would have given the start up has nothing to say any more.
    const attached = await attach({ ...attachOptions, abort: closing.signal, giveUpAfterMs: Infinity })
    current = attached
    watch(attached)
    try {
      for (const channel of new Set(listeners.map((listener) => listener.channel))) await attached.client.query(listenTo(channel))
    } catch {
      destroy(attached.client) // the connection's 'end' starts the next recovery, if that has not happened yet
    }
    if (current !== attached) return
    for (const { onGap } of listeners) onGap()
    log.warn({ afterMs: performance.now() - since }, 'The database connection is back')
  }

  return {
    get connection() {
      return current?.client
    },
    address: () => lastAddress,
    async listen(listener) {
      listeners.push(listener)
      // A recovery under way will listen to the new channel, too.
      await current?.client.query(listenTo(listener.channel)).catch((error: unknown) => {
        if (!isUnavailable(error)) throw error
      })
    },
    async close(timeoutMs) {
      if (closing.signal.aborted) return
      const deadline = performance.now() + timeoutMs
      closing.abort(new Error('The database is being closed'))
      clearInterval(heartbeat)
      await resultWithin(recovery, CLOSE_RECOVERY_MS)
      if (current !== undefined) await detach(current, target, deadline - performance.now())
      // A recovery may have started the cluster again just before it was aborted.
      else if ('cluster' in target) await leave(target.cluster, name, deadline - performance.now())
    },
  }
}

/** A server that is just ending gives its lock back within this time. */
const HANDOVER_MS = 300
/** PostgreSQL notices within this time that a client process has died, and frees its locks. */
const VANISHED_MS = 10_000
/** PostgreSQL may replay its log for this long after a crash; until then it refuses connections with 57P03. */
const STARTING_MS = 120_000
const CLOSE_RECOVERY_MS = 3_000
const CLOSE_FAILED_MS = 7_500

interface Attached {
  client: Connection
  address: Address
  /** The embedded cluster's postmaster. */
  pid: number | undefined
}

interface AttachOptions extends LockHolderOptions {
  name: string
  abort: AbortSignal | undefined
}

/** Connects and takes the locks. It starts the embedded cluster as often as needed, because other processes may stop it meanwhile. */
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

/** How long to keep trying after such an error; negative for not at all. */
function allowedMs(error: unknown, usualMs: number): number {
  if (error instanceof NoAnswerError || !isUnavailable(error)) return -1
  return (error as { code?: unknown }).code === '57P03' ? STARTING_MS : usualMs
}

/** undefined when the last user of the cluster was just stopping it. */
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

/** Stops a running cluster, to which this process is not attached, unless others use it. */
async function leave(cluster: Cluster, name: string, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs
  const running = await cluster.find().catch(() => undefined)
  if (running === undefined) return
  const { pid, ...address } = running
  const client = await resultWithin(connect(address, name), CLOSE_RECOVERY_MS)
  if (client !== undefined) await detach({ client, address, pid }, { cluster }, deadline - performance.now())
}

/** Gives the locks back, stops an embedded cluster that nobody else uses, and closes the connection. */
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

/** @param lock the function of PostgreSQL that takes it @param number one of LOCKS */
export async function tryLock(client: Pick<pg.Client, 'query'>, lock: string, number: number): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(`select ${lock}(${LOCK_SPACE}, ${number}) as taken`)
  return rows[0]?.taken ?? false
}

/** Another server has this data directory. */
class AlreadyRunningError extends StartError {}

/** The postmaster exists and the kernel accepts connections for it, but it does not answer (it may be stopped by SIGSTOP). */
class NoAnswerError extends Error {
  readonly pid: number

  constructor(pid: number, options: ErrorOptions) {
    super(`process ${pid} does not answer`, options)
    this.pid = pid
  }
}

/** A data directory has one server at a time, because that server keeps state of it in memory. */
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
      await client.query('select pg_terminate_backend($1::int)', [holder.backend]) // this process lost that connection, but PostgreSQL has not noticed yet
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

/** PostgreSQL's process that holds one of LOCKS in this database, with its application name. */
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
 * Stops the cluster if this process gets the exclusive lock on its use, because then it is the last user. A process that starts
 * meanwhile cannot get the shared lock and starts the cluster again.
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
    return // the cluster has stopped already
  }
  await cluster.stop(pid, Math.max(0, timeoutMs))
}

/** Sends a query, because a connection whose other end vanished silently looks alive until it is used. */
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
  // A process that was stopped for a while itself reads the answer before the immediate.
  const timer = setTimeout(() => setImmediate(giveUp), heartbeatMs)
  await client.query('select 1').catch(() => destroy(client))
  isAnswered = true
  clearTimeout(timer)
}

/** The promise's value; undefined when it is late or rejects. */
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
