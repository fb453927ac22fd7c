/** `npm run arcade -- reconcile`: checks that every balance is the sum of its ledger entries, whose numbers have no gaps. */
import type { Database } from '#src/db/database.ts'
import { reconcile } from '#src/ledger/reconcile.ts'

/** The exit code if a balance differs from the sum of its ledger entries. */
const DIFFERENT = 3

export async function reconcileLedger(database: Database): Promise<number> {
  let faults = 0
  const { players, entries } = await reconcile(database, ({ userId, text }) => {
    faults += 1
    process.stdout.write(`Player ${userId}: ${text}.\n`)
  })
  const read = `${players} players, ${entries} entries`
  if (faults === 0) process.stdout.write(`Every balance is the sum of its entries: ${read}.\n`)
  else process.stdout.write(`${faults === 1 ? '1 difference was' : `${faults} differences were`} found: ${read}.\n`)
  return faults === 0 ? 0 : DIFFERENT
}
