/** `arcade distribute`: divides the tables of players among the servers of a Citus cluster, once and while the console serves. */
import { actOfProcess, audit } from '#src/audit/audit.ts'
import { foldCounters } from '#src/counters/counters.ts'
import type { Database } from '#src/db/database.ts'
import { DISTRIBUTED_TABLES, divideTable, findCluster, setOnWorkers } from '#src/postgres/citus.ts'
import { StartError } from '#src/postgres/errors.ts'
import { LOCKS, tryLock } from '#src/postgres/lock-holder.ts'
import { destroy } from '#src/postgres/connections.ts'
import type { RunOnDatabase } from './on-database.ts'

/** Shards of each table: this many pieces can move between servers later, but more shards make every search slower (docs/scaling.md). */
export const SHARDS = 32
export const MAX_SHARDS = 1024

export function distribute(shards: number): RunOnDatabase {
  return ({ database, print }) => distributeTables(database, shards, print)
}

/** @param shards the number of shards of each table; ignored if some tables are distributed already: the others then get their number */
export async function distributeTables(database: Database, shards: number, print: (line: string) => void): Promise<void> {
  const cluster = await findCluster(database.db)
  if (!cluster)
    throw new StartError(
      'This PostgreSQL has no Citus, so nothing was changed. On a Citus cluster: create extension citus, add its workers, and run this again.',
    )
  if (cluster.workers === 0)
    throw new StartError('No server of this Citus cluster holds shards, so nothing was changed: add one with citus_add_node.')
  for (const { server, success, result } of await setOnWorkers(database.db, 'enable_mergejoin = off'))
    if (!success) print(`${server}: merge joins could not be switched off, which deep pages may miss: ${result}`)
  const missing = DISTRIBUTED_TABLES.filter((table) => !cluster.distributed.includes(table))
  if (missing.length === 0) {
    print(`The tables of players are distributed among ${cluster.workers} servers already.`)
    return
  }
  await foldCounters(database)
  await divide(database, { tables: missing, shards, print })
  const record = { kind: 'installation', id: 'distribution', name: 'Citus' } as const
  await audit(database.db, actOfProcess('command', 'arcade distribute'), 'data.distribute', {
    record,
    detail: { tables: missing, servers: cluster.workers, shards },
  })
  print(`The tables of players are distributed among ${cluster.workers} servers.`)
}

/** Distributes the tables one after the other, because a session may not distribute two at the same time. */
async function divide(
  database: Database,
  { tables, shards, print }: { tables: readonly string[]; shards: number; print: (line: string) => void },
): Promise<void> {
  const client = await database.connect('arcade distribute')
  try {
    if (!(await tryLock(client, 'pg_try_advisory_lock', LOCKS.distribution)))
      throw new StartError('Another `arcade distribute` is already running.')
    for (const table of tables) {
      const start = performance.now()
      await divideTable(client, table, shards, (reason) => {
        print(`${table}: changes wait until it is divided, for Citus says: ${reason}`)
      })
      print(`${table}: divided in ${((performance.now() - start) / 1000).toFixed(1)} s`)
    }
  } finally {
    destroy(client)
  }
}
