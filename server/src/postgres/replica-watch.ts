/**
 * Watches whether a replica can be read from (ADR 17). Hides how its lag is measured: by positions in the database's log, not by clocks. The
 * replica is used only if it has everything that the primary had written a second ago.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { type Address, CITUS_SQL, type Connection, connect, destroy } from './connections.ts'

export interface ReplicaWatch {
  /** Whether the replica has everything up to a position, and everything written a second ago. @param position from `Replica.position` */
  isCurrent(position: string | undefined): boolean
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
const LOOK_EVERY_MS = 100
/** Milliseconds without an answer after which nobody waits for the replica any more. */
const SILENT_MS = 2000
const AGAIN_MS = 500
/** The shortest interval at which a change of its state is logged: a replica that lags by about a second changes it all the time. */
const TOLD_EVERY_MS = 10_000
/** The number of kept positions, which cover a minute. */
const SAMPLES = 600

interface WatchOptions {
  address: Address
  /** A connection to the primary; undefined while it is away. */
  database: () => Connection | undefined
  log: Logger
}

/** The primary's position at a point in time. */
interface Sample {
  at: number
  position: bigint
}

interface Place {
  position: string | null
  system: string
  isFollowing: boolean
  isOfCluster: boolean
}

const SYSTEM = '(select system_identifier::text from pg_control_system()) as system'
const OF_CLUSTER = `exists (${CITUS_SQL}) as "isOfCluster"`
const DATABASE = `select pg_current_wal_lsn()::text as position, false as "isFollowing", ${OF_CLUSTER}, ${SYSTEM}`
const REPLICA = `select pg_last_wal_replay_lsn()::text as position, pg_is_in_recovery() as "isFollowing", ${OF_CLUSTER}, ${SYSTEM}`

export function watchReplica({ address, database, log }: WatchOptions): ReplicaWatch {
  const silenced = new Set<() => void>()
  const counts = { answered: 0, failed: 0 }
  let client: Connection | undefined
  let isClosed = false
  let problem: string | undefined = 'was not looked at yet'
  /** The replica has everything that the primary had written at this time. */
  let freshAt = -Infinity
  let replayed = 0n
  let samples: Sample[] = []
  let told = ''
  let toldAt = -Infinity

  const lagMs = (): number => performance.now() - freshAt
  const status = (): string => problem ?? (lagMs() <= MAX_LAG_MS ? 'in use' : 'is too far behind')

  async function look(): Promise<void> {
    const at = performance.now()
    const here = await place(database(), DATABASE)
    client ??= await connectTo(address)
    const there = await Promise.race([place(client, REPLICA), pause(SILENT_MS, undefined, { ref: false })])
    if (there === undefined) {
      giveUp('does not answer')
      for (const listener of silenced) listener()
      return
    }
    const [written, replay] = [toNumber(here.position ?? '0/0'), toNumber(there.position ?? '0/0')]
    // Each server of a Citus cluster has a log of its own, so a position describes the coordinator only (docs/scaling.md).
    if (here.isOfCluster) problem = 'would be of one server of a Citus cluster'
    else if (!there.isFollowing) problem = 'is no replica, or not any more'
    else if (there.system !== here.system) problem = 'is of another database cluster'
    // The replica is ahead of the primary, so it follows another database.
    else if (replayed > written) problem = 'has what the database has not'
    else problem = undefined
    replayed = replay
    samples = [...samples.filter((sample) => sample.position <= written), { at, position: written }].slice(-SAMPLES)
    const known = samples.findLastIndex(({ position }) => position <= replay)
    if (known < 0) return
    freshAt = samples[known]!.at
    samples = samples.slice(known)
  }

  async function connectTo(to: Address): Promise<Connection> {
    const opened = await connect(to, 'arcade replica')
    if (isClosed) destroy(opened)
    opened.once('end', () => {
      if (client === opened) giveUp('is gone')
    })
    return opened
  }

  function giveUp(reason: string): void {
    problem = reason
    freshAt = -Infinity
    samples = []
    replayed = 0n
    const lost = client
    client = undefined
    if (lost) destroy(lost)
  }

  function tell(err: Error | undefined): void {
    const now = status()
    if (now === told || performance.now() - toldAt < TOLD_EVERY_MS) return
    told = now
    toldAt = performance.now()
    if (now === 'in use') log.info({ event: 'replica' }, 'The replica is in use')
    else log.warn({ event: 'replica', err }, `The replica is not used: it ${now}`)
  }

  async function run(): Promise<void> {
    while (!isClosed) {
      const failure = await look().then(
        () => undefined,
        (error: Error) => error,
      )
      if (isClosed) return
      if (failure) giveUp('cannot be reached')
      tell(failure)
      await pause(failure ? AGAIN_MS : LOOK_EVERY_MS, undefined, { ref: false })
    }
  }
  void run()

  return {
    isCurrent: (position) =>
      problem === undefined && lagMs() <= MAX_LAG_MS && (position === undefined || toNumber(position) <= replayed),
    onSilence(listener) {
      silenced.add(listener)
      return () => void silenced.delete(listener)
    },
    count: (read) => void (counts[read] += 1),
    state: () => ({ status: status(), isUsed: status() === 'in use', lagSeconds: lagMs() / 1000, ...counts }),
    close() {
      isClosed = true
      if (client) destroy(client)
    },
  }
}

async function place(client: Pick<pg.Client, 'query'> | undefined, query: string): Promise<Place> {
  const { rows } = (await client?.query<Place>(query)) ?? { rows: [] }
  if (!rows[0]) throw new Error('the database is away')
  return rows[0]
}

/** Returns a position in the log, such as `16/B374D848`, as a number. Any other text gives a number above all positions. */
function toNumber(position: string): bigint {
  const [, high, low] = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i.exec(position) ?? [undefined, 'FFFFFFFF', 'FFFFFFFF']
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}
