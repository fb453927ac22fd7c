/** Dry runs: an act runs to its end and is then rolled back, so the result is exactly what would happen. */
import type { Transaction } from 'kysely'
import type { Database } from './database.ts'
import type { Tables } from './tables.ts'

/** Runs `work` in a transaction and returns its result, also if the transaction is rolled back. */
export async function transactionOrDryRun<Result>(
  database: Database,
  isDryRun: boolean,
  work: (tx: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  const act = database.transaction(async (tx) => {
    const result = await work(tx)
    if (isDryRun) throw new DryRunRollback(result)
    return result
  })
  return act.catch((error: unknown) => {
    if (error instanceof DryRunRollback) return error.result as Result
    throw error
  })
}

class DryRunRollback extends Error {
  readonly result: unknown

  constructor(result: unknown) {
    super('Rolls back a dry run')
    this.result = result
  }
}
