/** Acts that can be tried: a dry run is the act up to its end and is then taken back, so that it tells exactly what would be. */
import type { Transaction } from 'kysely'
import type { Database } from './database.ts'
import type { Tables } from './tables.ts'

/** Runs `work` in a transaction, and gives its result even where that is taken back. */
export async function transactionOrDryRun<Result>(
  database: Database,
  isDryRun: boolean,
  work: (tx: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  const act = database.transaction(async (tx) => {
    const result = await work(tx)
    if (isDryRun) throw new TakenBack(result)
    return result
  })
  return act.catch((error: unknown) => {
    if (error instanceof TakenBack) return error.result as Result
    throw error
  })
}

class TakenBack extends Error {
  readonly result: unknown

  constructor(result: unknown) {
    super('A dry run ends here')
    this.result = result
  }
}
