/**
 * All that the product asks of Citus 13, which divides a database among several servers (design §4): all rows of a player are on one shard,
 * chosen by the player's id; everything else stays on the coordinator. Every statement of the product is valid both there and on an ordinary
 * PostgreSQL, so other modules differ only where one of these functions tells them to.
 */
import { type QueryExecutorProvider, sql } from 'kysely'

/** An SQL condition: whether the database belongs to a Citus cluster. */
export const IS_CITUS = `exists (select from pg_extension where extname = 'citus')`

/**
 * A setting that makes a session use one connection to each server: a transaction then sees all shards of a server in one snapshot. With the
 * default, the coordinator opens more connections for each statement of more than 10 ms, which takes longer than the statement. An ordinary
 * PostgreSQL ignores this setting.
 */
export const ONE_CONNECTION_A_SERVER = 'citus.max_adaptive_executor_pool_size=1'

/** The tables that are divided, all by their column `user_id`, so that a player's rows are together. */
export const DISTRIBUTED_TABLES = [
  'telegram_users',
  'balances',
  'ledger_entries',
  'player_keys',
  'participations',
  'counter_deltas',
  'uncounted_entries',
  'player_visits',
  'player_messages',
  'broadcast_recipients',
] as const

export interface Cluster {
  /** Servers that can hold shards. */
  workers: number
  /** Those of `DISTRIBUTED_TABLES` that are divided already. */
  distributed: string[]
}

/** @returns undefined on an ordinary PostgreSQL */
export async function findCluster(db: QueryExecutorProvider): Promise<Cluster | undefined> {
  if (!(await isCitus(db))) return undefined
  const { rows } = await sql<Cluster>`
    select (select count(*) from pg_dist_node where shouldhaveshards and isactive) as workers,
           array(select relname::text from pg_dist_partition join pg_class on pg_class.oid = logicalrelid
                  where partmethod = 'h' and relname = any(${DISTRIBUTED_TABLES}) order by relname) as distributed`.execute(db)
  return rows[0]
}

/** The answer of one server that holds shards. */
export interface WorkerAnswer {
  /** Host and port. */
  server: string
  success: boolean
  /** The value of the first row, or the error's text. */
  result: string
}

/** Runs a statement on each server that holds shards. @returns nothing on an ordinary PostgreSQL */
export async function onWorkers(db: QueryExecutorProvider, statement: string): Promise<WorkerAnswer[]> {
  if (!(await isCitus(db))) return []
  const { rows } = await sql<WorkerAnswer>`
    select nodename || ':' || nodeport as server, success, result from run_command_on_workers(${statement})`.execute(db)
  return rows
}

/**
 * Changes a setting of the database on each worker, because workers do not get the settings of the console's sessions. A worker refuses to
 * change a database that Citus manages for all servers, unless it does not pass the change on.
 */
export async function setOnWorkers(db: QueryExecutorProvider, setting: string): Promise<WorkerAnswer[]> {
  const { rows } = await sql<{ statement: string }>`
    select format($command$
      do $do$ begin
        set local citus.enable_ddl_propagation = off;
        alter database %I set ${sql.raw(setting)};
      end $do$ $command$, current_database()) as statement`.execute(db)
  return onWorkers(db, rows[0]!.statement)
}

/** A connection of its own: one session divides one table after the other. */
interface Session {
  query(text: string, values?: unknown[]): Promise<unknown>
}

/**
 * Divides a table by its column `user_id`. Its rows may change meanwhile, unless Citus says that changes must wait.
 *
 * @param shards the number of shards of the first table; every other one is divided like the first
 * @param onWait called with what Citus says
 */
export async function divideTable(
  session: Session,
  table: string,
  shards: number,
  onWait: (reason: string) => void,
): Promise<void> {
  const options = divisionSql(table, shards)
  await session
    .query(`select create_distributed_table_concurrently($1, 'user_id', ${options})`, [table])
    .catch(async (error: Error) => {
      onWait(error.message)
      await session.query(`select create_distributed_table($1, 'user_id', ${options})`, [table])
    })
  // The coordinator's copy of the rows is no longer visible, but still takes room.
  await session.query('select truncate_local_data_after_distributing_table($1)', [table])
}

/** Returns the options with which Citus divides a table. */
export function divisionSql(table: string, shards: number): string {
  const [first] = DISTRIBUTED_TABLES
  return table === first ? `colocate_with => 'none', shard_count => ${shards}` : `colocate_with => '${first}'`
}

async function isCitus(db: QueryExecutorProvider): Promise<boolean> {
  const { rows } = await sql<{ isCitus: boolean }>`select ${sql.raw(IS_CITUS)} as "isCitus"`.execute(db)
  return rows[0]!.isCitus
}
