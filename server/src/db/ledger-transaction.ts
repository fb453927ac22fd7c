/**
 * A transaction of prepared statements of the ledger, for the few acts that one statement cannot express. It holds one of the ledger's
 * connections (database.ts) while it runs.
 */
import type { Pool } from '#src/postgres/connections.ts'
import { isStalePlan } from '#src/postgres/errors.ts'

/** A prepared statement. A `name` must always mean the same SQL. */
export interface NamedStatement {
  name: string
  text: string
}

export type RunStatement = <Row>(statement: NamedStatement, values: unknown[]) => Promise<Row[]>

/** Commits if `work` returns a value, and rolls back if it returns undefined or fails. */
export async function ledgerTransaction<T>(
  pool: Pool,
  work: (run: RunStatement) => Promise<T | undefined>,
): Promise<T | undefined> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const result = await work(async <Row>(statement: NamedStatement, values: unknown[]) => {
      const { rows } = await client.query({ ...statement, values })
      return rows as Row[]
    })
    await client.query(result === undefined ? 'rollback' : 'commit')
    client.release()
    return result
  } catch (error) {
    const isStale = isStalePlan(error)
    const isUsable =
      !isStale &&
      (await client.query('rollback').then(
        () => true,
        () => false,
      ))
    client.release(!isUsable)
    if (isStale) return ledgerTransaction(pool, work)
    throw error
  }
}
