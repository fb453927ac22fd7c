/** Runs a check in each transaction of some work, immediately before the commit, however long the transaction has waited for locks. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Transaction } from 'kysely'
import type { Tables } from './tables.ts'

/** Throws if the transaction must be rolled back. */
export type Check = (tx: Transaction<Tables>) => Promise<void>

const checks = new AsyncLocalStorage<Check>()

/** Runs `work`. Each transaction of the database that it makes runs `check` before it commits. */
export function withCommitCheck<T>(check: Check, work: () => Promise<T>): Promise<T> {
  return checks.run(check, work)
}

/** Runs the check of the present work, if there is one, and returns `result`. */
export async function runCommitCheck<T>(tx: Transaction<Tables>, result: T): Promise<T> {
  await checks.getStore()?.(tx)
  return result
}
