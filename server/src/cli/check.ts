/** `npm run arcade -- check [--repair]`: compares derived data with the records they derive from, and repairs them while the console serves. */
import type { Kysely } from 'kysely'
import { actOfProcess, audit } from '#src/audit/audit.ts'
import { counterText } from '#src/counters/counter-keys.ts'
import type { Database } from '#src/db/database.ts'
import { itemsWithoutDocument, writeHistoryItems } from '#src/items/history-items.ts'
import { reconcile } from '#src/ledger/reconcile.ts'
import { recount } from '#src/counters/recount.ts'
import type { Tables } from '#src/db/tables.ts'
import type { FileStore } from '#src/files/disk.ts'
import { faultTexts, findFileFaults, mendFileFault } from '#src/files/file-check.ts'
import { openFileStore } from '#src/files/files.ts'
import type { RunOnDatabase } from './on-database.ts'

interface CheckOptions {
  database: Database
  store: FileStore
  isRepair?: boolean
  /** Called with each difference, as a sentence. */
  onDifference: (text: string) => void
  onStep?: (text: string) => void
}

interface CheckReport {
  differences: number
  repaired: number
}

/** Compares counters, balances, history documents and files with the records, and repairs differences if asked. It never changes the ledger. */
export async function checkConsole({
  database,
  store,
  isRepair,
  onDifference,
  onStep = () => {},
}: CheckOptions): Promise<CheckReport> {
  const report = { differences: 0, repaired: 0 }
  const differs = (text: string): void => {
    report.differences += 1
    onDifference(text)
  }
  const act = actOfProcess('command', 'arcade check --repair')
  const leaveEntry = (tx: Kysely<Tables>, repaired: Record<string, unknown>) =>
    audit(tx, act, 'data.repair', { record: { kind: 'installation', id: 'check' }, detail: repaired })

  onStep('Counting players, users and participations …')
  const miscounts = await recount(database, {
    onMiscount: ({ name, counted, rows }) => differs(`The counter of ${counterText(name)} says ${counted}, there are ${rows}.`),
    corrected: isRepair ? (tx, counters) => leaveEntry(tx, { counters }) : undefined,
  })
  if (isRepair) report.repaired += miscounts

  onStep('Comparing balances with their entries …')
  await reconcile(database, ({ userId, text }) => differs(`Player ${userId}: ${text}.`))

  onStep('Looking for history documents …')
  const items = await itemsWithoutDocument(database.db)
  for (const { kind, id } of items) differs(`The ${kindNames[kind]} ${id} has no history document.`)
  if (isRepair && items.length > 0) {
    report.repaired += await database.transaction(async (tx) => {
      let documents = 0
      for (const [kind, ofKind] of Map.groupBy(items, (item) => item.kind))
        documents += (await writeHistoryItems(tx, kind, { changed: [], unchanged: ofKind.map(({ id }) => id) })).length
      await leaveEntry(tx, { documents })
      return documents
    })
  }

  onStep('Comparing files …')
  for await (const fault of findFileFaults(database.db, store)) {
    differs(`The file ${fault.key} ${faultTexts[fault.kind]}`)
    if (!isRepair) continue
    const isMended = await database.transaction(async (tx) => {
      const mended = await mendFileFault(tx, fault)
      if (mended) await leaveEntry(tx, { file: fault.key, fault: fault.kind })
      return mended
    })
    if (isMended) report.repaired += 1
  }
  return report
}

const kindNames = { social: 'social task', daily: 'daily task', announcement: 'announcement' }

export function check({ isRepair }: { isRepair: boolean }): RunOnDatabase {
  return async ({ database, config, print, note }) => {
    const { differences, repaired } = await checkConsole({
      database,
      store: openFileStore(config),
      isRepair,
      onDifference: print,
      onStep: note,
    })
    const differ = differences === 1 ? '1 difference was' : `${differences} differences were`
    const summary = isRepair
      ? `${differ} found, ${repaired} repaired.`
      : `${differ} found. To repair what can be, while the console serves: npm run arcade -- check --repair`
    print(differences === 0 ? 'All counters, balances, history documents and files are as the records say.' : summary)
    return differences > repaired ? 1 : 0
  }
}
