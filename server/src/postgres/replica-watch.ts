/**
 * Whether a replica can be read from (ADR 17). Hides how far behind it is, which is told by the database's own positions and not by clocks:
 * what the database had written a second ago is there, or the replica is not used.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { type Address, CITUS_SQL, type Connection, connect, destroy } from './connections.ts'

export interface ReplicaWatch {
  /** Whether all that was written up to a position is there, and all that was written a second ago. @param position as `Replica.position` says */
  isCurrent(position: string | undefined): boolean
  /** Calls `listener` when the replica does not answer any more, so that nobody should wait for it. Returns how to stop that. */
  onSilence(listener: () => void): () => void
  count(read: 'answered' | 'failed'): void
  state(): ReplicaState
  close(): void
}

export interface ReplicaState {
  /** `in use`, or why it is not; what the way to it says is in the log alone. */
  status: string
  isUsed: boolean
  /** Seconds; what was written before that is there. Infinity while nothing is known. */
  lagSeconds: number
  /** Reads that it has answered, and those that failed there and were asked of the database. */
  answered: number
  failed: number
}

export const MAX_LAG_MS = 1000
const LOOK_EVERY_MS = 100
/** Without an answer for so long nobody waits for it any more. */
const SILENT_MS = 2000
const AGAIN_MS = 500
/** One that is about a second behind comes and goes. */
const TOLD_EVERY_MS = 10_000
/** A minute of them. */
const SAMPLES = 600

interface WatchOptions {
  address: Address
  /** A connection to the database itself; undefined while it is away. */
  database: () => Connection | undefined
  log: Logger
}

/** What the database had written at a moment. */
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
  /** The replica has what the database had written at this moment. */
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
    // Each of its servers has a log of its own, so that a position tells of the coordinator alone (docs/scaling.md).
    if (here.isOfCluster) problem = 'would be of one server of a Citus cluster'
    else if (!there.isFollowing) problem = 'is no replica, or not any more'
    else if (there.system !== here.system) problem = 'is of another database cluster'
    // It has followed another one: nothing that the database has not written can be there.
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

/** A position in the log as a number: `16/B374D848`. What is none is beyond all of them. */
function toNumber(position: string): bigint {
  const [, high, low] = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i.exec(position) ?? [undefined, 'FFFFFFFF', 'FFFFFFFF']
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}
