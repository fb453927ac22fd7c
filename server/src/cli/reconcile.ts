/** `npm run arcade -- reconcile`: checks that every balance is the sum of its ledger entries, whose numbers have no gaps. */
import { reconcile } from '#src/ledger/reconcile.ts'
import type { RunOnDatabase } from './on-database.ts'

/** The exit code if a balance differs from the sum of its ledger entries. */
const DIFFERENT = 3

export const reconcileLedger: RunOnDatabase = async ({ database, print }) => {
  let faults = 0
  const { players, entries } = await reconcile(database, ({ userId, text }) => {
    faults += 1
    print(`Player ${userId}: ${text}.`)
  })
  const read = `${players} players, ${entries} entries`
  if (faults === 0) print(`Every balance is the sum of its entries: ${read}.`)
  else print(`${faults === 1 ? '1 difference was' : `${faults} differences were`} found: ${read}.`)
  return faults === 0 ? 0 : DIFFERENT
}
