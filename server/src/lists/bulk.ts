/** Acts on many rows at once, and only on the number of rows that the operator confirmed. */
import type { Transaction } from 'kysely'
import { BULK_NAMED_ROWS, BULK_SHOWN_REFUSALS, type BulkOutput } from '@arcade/contract/bulk'
import type { ErrorCode } from '@arcade/contract/errors'
import { STEP_UP_RECORDS } from '@arcade/contract/second-factor/fields'
import { type CallContext, Failure } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { transactionOrDryRun } from '#src/db/dry-run.ts'
import type { Tables } from '#src/db/tables.ts'
import { refuseBeyondBulk } from '#src/identity/role-limits.ts'
import { refuseWithoutStepUp } from '#src/identity/second-factor.ts'

export interface Refusal {
  id: string
  title: string
  reason: string
  code?: ErrorCode
}

export interface Done {
  /** The rows with their titles; if there are very many, the first ones, with the number of all in `affected`. */
  rows: { id: string; title: string }[]
  affected?: number
  refusals?: Refusal[]
}

export interface BulkAct {
  dryRun: boolean
  expected: number | undefined
}

const byTitle = new Intl.Collator('en', { numeric: true })

/**
 * Runs `work`, including its audit entries, in a transaction or as a dry run.
 * @throws Failure LIMIT_REACHED if it affects more rows than the caller's role may change at once, also as a dry run;
 * STEP_UP_NEEDED above STEP_UP_RECORDS rows; STALE if it affects another number of rows than expected
 */
export async function actOnMany(
  database: Database,
  context: CallContext,
  { dryRun, expected }: BulkAct,
  work: (tx: Transaction<Tables>) => Promise<Done>,
): Promise<BulkOutput> {
  return transactionOrDryRun(database, dryRun, async (tx) => {
    const { rows, affected = rows.length, refusals = [] } = await work(tx)
    await refuseBeyondBulk(tx, context, affected)
    if (!dryRun && affected > STEP_UP_RECORDS) await refuseWithoutStepUp(tx, context)
    const summary: BulkOutput = {
      success: true,
      affected,
      named: rows
        .toSorted((a, b) => byTitle.compare(a.title, b.title))
        .slice(0, BULK_NAMED_ROWS)
        .map(({ id, title }) => ({ id, title })),
      refused: refusals.length,
      refusals: refusals.slice(0, BULK_SHOWN_REFUSALS),
    }
    if (!dryRun && expected !== undefined && expected !== affected) throw staleTarget()
    return summary
  })
}

export function staleTarget(): Failure {
  return new Failure('STALE', { message: 'The affected rows have changed. Please look at the list again.' })
}
