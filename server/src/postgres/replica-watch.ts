/**
 * Watches whether a replica can be read from (ADR 17). Hides how its lag is measured: by positions in the write-ahead log (LSNs), not by clocks. The
 * replica is used only if it has everything that the primary had written a second ago.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { IS_CITUS } from './citus.ts'
import { type Address, type Connection, connect, destroy } from './connections.ts'

export interface ReplicaWatch {
  /** Whether the replica has everything up to an LSN, and everything written a second ago. @param lsn from `Replica.lsn` */
  isCurrent(lsn: string | undefined): boolean
  /** Calls `listener` when the replica stops answering, so that nobody waits for it. Returns a function that removes the listener. */
  onSilence(listener: () => void): () => void
  count(read: 'answered' | 'failed'): void
  state(): ReplicaState
  close(): void
}

export interface ReplicaState {
  /** `in use`, or why it is not used. Connection errors are only logged. */
  status: string
  isUsed: boolean
  /** The lag in seconds; Infinity while it is unknown. */
  lagSeconds: number
  /** The number of reads that the replica has answered, and of those that failed and were repeated at the primary. */
  answered: number
  failed: number
}

export const MAX_LAG_MS = 1000
const CHECK_EVERY_MS = 100
/** Milliseconds without an answer after which nobody waits for the replica any more. */
const SILENT_MS = 2000
const RETRY_MS = 500
/** The shortest interval at which a change of its state is logged: a replica that lags by about a second changes it all the time. */
const LOG_EVERY_MS = 10_000
/** The number of kept LSNs, which cover a minute. */
const SAMPLES = 600

interface WatchOptions {
  address: Address
  /** A connection to the primary; undefined while it is away. */
  database: () => Connection | undefined
  log: Logger
}

/** The primary's LSN at a point in time. */
interface Sample {
  at: number
  lsn: bigint
}

/** The state of a server's write-ahead log: what it has written or replayed, and whose log it is. */
interface WalStatus {
  lsn: string | null
  system: string
  isFollowing: boolean
  isOfCluster: boolean
}

const SYSTEM = '(select system_identifier::text from pg_control_system()) as system'
const OF_CLUSTER = `${IS_CITUS} as "isOfCluster"`
const PRIMARY_STATUS = `select pg_current_wal_lsn()::text as lsn, false as "isFollowing", ${OF_CLUSTER}, ${SYSTEM}`
const REPLICA_STATUS = `select pg_last_wal_replay_lsn()::text as lsn, pg_is_in_recovery() as "isFollowing", ${OF_CLUSTER}, ${SYSTEM}`

export function watchReplica(options: WatchOptions): ReplicaWatch {
  const watch = new Watcher(options)
  void watch.run()
  return watch
}

class Watcher implements ReplicaWatch {
  readonly #address: Address
  readonly #database: () => Connection | undefined
  readonly #log: Logger
  readonly #silenced = new Set<() => void>()
  readonly #counts = { answered: 0, failed: 0 }
  #client: Connection | undefined
  #isClosed = false
  #problem: string | undefined = 'was not looked at yet'
  /** The replica has everything that the primary had written at this time. */
  #freshAt = -Infinity
  /** The LSN up to which the replica has replayed the log. */
  #replayed = 0n
  #samples: Sample[] = []
  #loggedStatus = ''
  #loggedAt = -Infinity

  constructor({ address, database, log }: WatchOptions) {
    this.#address = address
    this.#database = database
    this.#log = log
  }

  /** Watches the replica until `close` is called. */
  async run(): Promise<void> {
    while (!this.#isClosed) {
      const failure = await this.#check().then(
        () => undefined,
        (error: Error) => error,
      )
      if (this.#isClosed) return
      if (failure) this.#giveUp(this.#database() ? 'cannot be reached' : 'cannot be compared with the primary, which is away')
      this.#logChange(failure)
      await pause(failure ? RETRY_MS : CHECK_EVERY_MS, undefined, { ref: false })
    }
  }

  isCurrent(lsn: string | undefined): boolean {
    if (this.#problem !== undefined || this.#lagMs() > MAX_LAG_MS) return false
    return lsn === undefined || toNumber(lsn) <= this.#replayed
  }

  onSilence(listener: () => void): () => void {
    this.#silenced.add(listener)
    return () => void this.#silenced.delete(listener)
  }

  count(read: 'answered' | 'failed'): void {
    this.#counts[read] += 1
  }

  state(): ReplicaState {
    const status = this.#status()
    return { status, isUsed: status === 'in use', lagSeconds: this.#lagMs() / 1000, ...this.#counts }
  }

  close(): void {
    this.#isClosed = true
    if (this.#client) destroy(this.#client)
  }

  #lagMs(): number {
    return performance.now() - this.#freshAt
  }

  #status(): string {
    return this.#problem ?? (this.#lagMs() <= MAX_LAG_MS ? 'in use' : 'is too far behind')
  }

  async #check(): Promise<void> {
    const at = performance.now()
    const primary = await readWalStatus(this.#database(), PRIMARY_STATUS)
    this.#client ??= await this.#connect()
    const replica = await Promise.race([readWalStatus(this.#client, REPLICA_STATUS), pause(SILENT_MS, undefined, { ref: false })])
    if (replica === undefined) {
      this.#giveUp('does not answer')
      for (const listener of this.#silenced) listener()
      return
    }
    this.#problem = problemOf(replica, primary, this.#replayed)
    this.#replayed = toNumber(replica.lsn ?? '0/0')
    this.#measureLag({ at, lsn: toNumber(primary.lsn ?? '0/0') })
  }

  /** Finds the latest point in time up to which the replica has everything. */
  #measureLag(primary: Sample): void {
    const samples = [...this.#samples.filter(({ lsn }) => lsn <= primary.lsn), primary].slice(-SAMPLES)
    const known = samples.findLastIndex(({ lsn }) => lsn <= this.#replayed)
    this.#samples = known < 0 ? samples : samples.slice(known)
    if (known >= 0) this.#freshAt = samples[known]!.at
  }

  async #connect(): Promise<Connection> {
    const opened = await connect(this.#address, 'arcade replica')
    if (this.#isClosed) destroy(opened)
    opened.once('end', () => {
      if (this.#client === opened) this.#giveUp('is gone')
    })
    return opened
  }

  #giveUp(reason: string): void {
    this.#problem = reason
    this.#freshAt = -Infinity
    this.#samples = []
    this.#replayed = 0n
    const lost = this.#client
    this.#client = undefined
    if (lost) destroy(lost)
  }

  /** Logs the replica's status if it has changed. */
  #logChange(err: Error | undefined): void {
    const status = this.#status()
    if (status === this.#loggedStatus || performance.now() - this.#loggedAt < LOG_EVERY_MS) return
    this.#loggedStatus = status
    this.#loggedAt = performance.now()
    if (status === 'in use') this.#log.info({ event: 'replica' }, 'The replica is in use')
    else this.#log.warn({ event: 'replica', err }, `The replica is not used: it ${status}`)
  }
}

/** Returns why reads must not use the replica, or undefined. @param replayed the replica's LSN at the last check */
function problemOf(replica: WalStatus, primary: WalStatus, replayed: bigint): string | undefined {
  // Each server of a Citus cluster has a log of its own, so an LSN describes the coordinator only (docs/scaling.md).
  if (primary.isOfCluster) return 'cannot be used: its position describes only one server of the Citus cluster'
  if (!replica.isFollowing) return 'is no replica, or not any more'
  if (replica.system !== primary.system) return 'is of another database cluster'
  if (replayed > toNumber(primary.lsn ?? '0/0')) return 'is ahead of the primary, so it follows another database'
  return undefined
}

async function readWalStatus(client: Pick<pg.Client, 'query'> | undefined, query: string): Promise<WalStatus> {
  const { rows } = (await client?.query<WalStatus>(query)) ?? { rows: [] }
  if (!rows[0]) throw new Error('the database is away')
  return rows[0]
}

/** Returns an LSN, such as `16/B374D848`, as a number. Any other text gives a number above all LSNs. */
function toNumber(lsn: string): bigint {
  const [, high, low] = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i.exec(lsn) ?? [undefined, 'FFFFFFFF', 'FFFFFFFF']
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}
