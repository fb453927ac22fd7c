import { expect, onTestFinished, test } from 'vitest'
import { startCommandWith } from '#test/faults/console-process.ts'
import { sentStatements, type SentStatement } from '#src/postgres/connections.ts'
import { temporaryDataDir } from './processes.ts'
import { testDatabase, workerUrl } from './test-database.ts'

test('design §4 a process that a test starts reports the statements that it sends to the database', async () => {
  await testDatabase()
  const heard: string[] = []
  const listen = (statement: unknown): void => void heard.push((statement as SentStatement).text)
  sentStatements.subscribe(listen)
  onTestFinished(() => sentStatements.unsubscribe(listen))
  const { code, output } = await startCommandWith({ DATABASE_URL: workerUrl() }, await temporaryDataDir(), 'check').ended
  expect(code, output).toBe(0)
  // No other program reads the ledger like this, so the statement came from `arcade check`.
  expect(heard.filter((text) => /\bfrom ledger_entries\b/.test(text)).length).toBeGreaterThan(0)
})
