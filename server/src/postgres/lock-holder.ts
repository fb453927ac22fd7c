/**
 * The one connection that is always there (design §4): it holds the locks that say who uses the embedded cluster, hears
 * notifications, and its loss is how a stopped database is noticed and brought back.
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
  /** An embedded cluster to keep running, or the address of a database somebody else keeps running. */
  target: { cluster: Cluster; dataDir: string } | { url: string }
  use: 'server' | 'command'
  log: Logger
  /** How long the first connection is waited for. */
  giveUpAfterMs: number
  /** The database is reachable, at this address; called again after each recovery. */
  onConnected: (address: Address) => void
  /** Going on would be wrong: another server has taken over. */
  onFatal: (error: Error) => void
}

export interface LockHolder {
  /** undefined while the connection is being brought back. */
  readonly connection: Connection | undefined
  address(): Address
  listen(listener: Listener): Promise<void>
  /** The last user of an embedded cluster stops it. */
  close(timeoutMs: number): Promise<void>
}

export interface Listener {
  channel: string
  onMessage: (payload: string) => void
  /** Messages may have been missed: called when the connection is lost, and again when it is back. */
  onGap: () => void
}

/** Two-part advisory lock numbers; the first part is ours ("ARCD"). */
export const LOCK_SPACE = 0x41524344
export const LOCKS = { server: 1, use: 2, migration: 3 }

export async function openLockHolder(options: LockHolderOptions): Promise<LockHolder> {
  const { target, log } = options
  const listeners: Listener[] = []
  const closing = new AbortController()
  const name = `arcade ${options.use} ${process.pid} ${randomBytes(4).toString('hex')}`
  const attachment = { ...options, name, abort: closing.signal }
  let current: Attached | undefined = await attach(attachment)
  let recovery: Promise<void> | undefined
  let lastAddress = current.address
  watch(current)
  const heart = setInterval(() => void beat(current?.client), HEARTBEAT_MS)
  heart.unref()

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
    const since = Date.now()
    const attached = await attach({ ...attachment, giveUpAfterMs: Infinity })
    current = attached
    watch(attached)
    try {
      for (const channel of new Set(listeners.map((listener) => listener.channel))) await attached.client.query(listenTo(channel))
    } catch {
      destroy(attached.client) // lost again: the next recovery has begun, or begins with its 'end'
    }
    if (current !== attached) return
    for (const { onGap } of listeners) onGap()
    log.warn({ afterMs: Date.now() - since }, 'The database connection is back')
  }

  return {
    get connection() {
      return current?.client
    },
    address: () => lastAddress,
    async listen(listener) {
      listeners.push(listener)
      // Without a connection, the recovery listens to all channels.
      await current?.client.query(listenTo(listener.channel)).catch((error: unknown) => {
        if (!isUnavailable(error)) throw error
      })
    },
    async close(timeoutMs) {
      if (closing.signal.aborted) return
      const deadline = Date.now() + timeoutMs
      closing.abort(new Error('The database is being closed'))
      clearInterval(heart)
      await within(recovery, CLOSE_RECOVERY_MS)
      // A cluster that was being brought back has to be stopped all the same.
      if ('cluster' in target) current ??= await within(attachIfRunning(target.cluster, name), CLOSE_RECOVERY_MS)
      if (current === undefined) return
      if ('cluster' in target) await stopIfLast(current, target.cluster, deadline)
      await within(current.client.end(), Math.max(0, deadline - Date.now()))
      destroy(current.client)
    },
  }
}

const HEARTBEAT_MS = 5_000
/** A server that is just ending has let go of its lock by then. */
const HANDOVER_MS = 300
/** PostgreSQL needs a moment to see that a process is gone. */
const VANISHED_MS = 10_000
/** Replaying the log after a crash; PostgreSQL says meanwhile that it is busy with that. */
const STARTING_MS = 120_000
const CLOSE_RECOVERY_MS = 3_000

interface Attached {
  client: Connection
  address: Address
  /** The embedded cluster's postmaster. */
  pid: number | undefined
}

interface Attachment extends LockHolderOptions {
  name: string
  abort: AbortSignal | undefined
}

/** Connects and takes the locks, starting the embedded cluster as often as needed; others start and stop it meanwhile. */
async function attach(options: Attachment): Promise<Attached> {
  const { abort, log, giveUpAfterMs } = options
  const since = Date.now()
  for (let failures = 0; ; failures += 1) {
    try {
      const attached = await attachOnce(options)
      if (attached !== undefined) return attached
      if (Date.now() - since > giveUpAfterMs)
        throw new StartError('The process that stops PostgreSQL on this DATA_DIR does not finish: end it and start again.')
    } catch (error) {
      if (error instanceof TakenOver) throw error
      if (giveUpAfterMs !== Infinity && Date.now() - since > patience(error, giveUpAfterMs)) throw startError(options, error)
      if (failures % 20 === 5) log.warn({ err: error }, 'The database is not reachable, trying again')
    }
    await pause(Math.min(500, 25 * 2 ** failures), undefined, abort && { signal: abort })
  }
}

/** How long an error may go on. */
function patience(error: unknown, usualMs: number): number {
  if (error instanceof Silent || !isUnavailable(error)) return -1
  return (error as { code?: unknown }).code === '57P03' ? STARTING_MS : usualMs
}

/** undefined when the cluster was just being stopped by its last user. */
async function attachOnce({ target, use, name, abort }: Attachment): Promise<Attached | undefined> {
  if ('url' in target) {
    const address = { connectionString: target.url }
    return { client: await connect(address, name), address, pid: undefined }
  }
  const { pid, ...address } = await target.cluster.ensureRunning(abort)
  const client = await connect(address, name).catch((error: unknown) => {
    throw isConnectTimeout(error) ? new Silent(pid, { cause: error }) : error
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

async function attachIfRunning(cluster: Cluster, name: string): Promise<Attached | undefined> {
  const running = await cluster.find()
  if (running === undefined) return undefined
  const { pid, ...address } = running
  return { client: await connect(address, name), address, pid }
}

async function tryLock(client: pg.Client, lock: string, number: number): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(`select ${lock}(${LOCK_SPACE}, ${number}) as taken`)
  return rows[0]?.taken ?? false
}

class TakenOver extends StartError {}

/** A postmaster that exists, and accepts connections as far as the kernel does that for it. */
class Silent extends Error {
  readonly pid: number

  constructor(pid: number, options: ErrorOptions) {
    super(`process ${pid} does not answer`, options)
    this.pid = pid
  }
}

/** One server a data directory: what it keeps in memory and in files is its own. */
async function takeServerLock(
  client: pg.Client,
  { dataDir, name, abort }: { dataDir: string; name: string; abort: AbortSignal | undefined },
): Promise<void> {
  const since = Date.now()
  for (;;) {
    if (await tryLock(client, 'pg_try_advisory_lock', LOCKS.server)) return
    const holder = await lockHolder(client)
    const pid = Number(holder?.name.split(' ')[2])
    if (holder?.name === name) {
      await client.query('select pg_terminate_backend($1)', [holder.backend]) // our own lost connection, still open at the other end
    } else if (
      holder !== undefined &&
      Date.now() - since > ((await findProcess(pid)) === undefined ? VANISHED_MS : HANDOVER_MS)
    ) {
      throw new TakenOver(`Another Arcade Console is already running on DATA_DIR ${dataDir} (process ${pid}).`)
    }
    await pause(50, undefined, abort && { signal: abort })
  }
}

async function lockHolder(client: pg.Client): Promise<{ backend: number; name: string } | undefined> {
  const { rows } = await client.query<{ backend: number; name: string }>(
    `select a.pid as backend, a.application_name as name
     from pg_locks l join pg_stat_activity a using (pid)
     where l.locktype = 'advisory' and l.classid = ${LOCK_SPACE} and l.objid = ${LOCKS.server} and l.granted
       and l.database = (select oid from pg_database where datname = current_database())`,
  )
  return rows[0]
}

/** Who gets the exclusive use lock is the last one; newcomers can't get theirs any more and start the cluster again. */
async function stopIfLast({ client, pid }: Attached, cluster: Cluster, deadline: number): Promise<void> {
  try {
    await client.query('select pg_advisory_unlock_all()')
    if (!(await tryLock(client, 'pg_try_advisory_lock', LOCKS.use)) || pid === undefined) return
  } catch (error) {
    if (!isUnavailable(error)) throw error
    return // it stopped by itself
  }
  await cluster.stop(pid, Math.max(0, deadline - Date.now()))
}

/** A connection whose other end vanished without a word looks alive until one asks. */
async function beat(client: pg.Client | undefined): Promise<void> {
  if (client === undefined) return
  const timer = setTimeout(() => destroy(client), HEARTBEAT_MS)
  await client.query('select 1').catch(() => destroy(client))
  clearTimeout(timer)
}

/** The promise's value if it comes in time and is no error. */
async function within<T>(promise: Promise<T> | undefined, timeoutMs: number): Promise<T | undefined> {
  return Promise.race([promise?.catch(() => undefined), pause(timeoutMs, undefined, { ref: false })])
}

function listenTo(channel: string): string {
  return `listen "${channel.replaceAll('"', '""')}"`
}

function startError({ target }: Attachment, error: unknown): Error {
  if (error instanceof StartError) return error
  const reason = error instanceof Error ? error.message : String(error)
  if ('url' in target) return new StartError(`The database of DATABASE_URL is not usable: ${reason}`, { cause: error })
  if (error instanceof Silent)
    return new StartError(
      `PostgreSQL on ${target.dataDir} (process ${error.pid}) runs but does not answer: end it with kill -9 ${error.pid} and start again.`,
      { cause: error },
    )
  return new StartError(`PostgreSQL on ${target.dataDir} is not usable: ${reason}`, { cause: error })
}
