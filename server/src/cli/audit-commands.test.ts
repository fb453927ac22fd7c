/** `arcade audit` as the operator of the machine runs it, without a server. */
import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openDatabase } from '#src/db/database.ts'
import { startCommand } from '#test/faults/console-process.ts'
import { temporaryDataDir } from '#test/processes.ts'

test('security: the commands leave entries, `audit verify` reads them, and says what somebody changed', async () => {
  const dataDir = await temporaryDataDir()
  expect((await startCommand(dataDir, 'token', 'create', 'game').ended).code).toBe(0)
  const whole = await startCommand(dataDir, 'audit', 'verify').ended
  expect(whole.output).toContain('The audit trail is whole: 1 entries')
  expect(whole.code).toBe(0)
  const head = /--head: (\d+:[0-9a-f]{64})/.exec(whole.output)![1]!

  const database = await openDatabase({ dataDir, use: 'command', log: pino({ level: 'silent' }) })
  await sql`update audit_entries set record_name = 'another'`.execute(database.db)
  await database.close()
  const changed = await startCommand(dataDir, 'audit', 'verify', '--head', head).ended
  expect(changed.output).toContain('Entry no. 1 says something else than when it was sealed.')
  expect(changed.output).toContain('The audit trail is NOT whole')
  expect(changed.code).toBe(3)

  for (const args of [['--head', 'x'], ['--heed', head], ['--head'], ['--head', head, 'more']])
    expect((await startCommand(dataDir, 'audit', 'verify', ...args).ended).code, args.join(' ')).toBe(1)
  const foreign = await startCommand(dataDir, 'audit', 'verify', '--head', `1:${'0'.repeat(64)}`).ended
  expect(foreign.output).toContain('is not in the chain')
})
