/** `npm run arcade -- audit …` (security.md, Operations). */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { arcade } from '#test/run-arcade.ts'
import { testDatabase } from '#test/test-database.ts'

test('security: commands write audit entries; `audit verify` reads them and names an entry that somebody changed', async () => {
  expect((await arcade('token', 'create', 'game')).code).toBe(0)
  const whole = await arcade('audit', 'verify')
  expect(whole.output).toContain('The audit trail is whole: 1 entries')
  expect(whole.code).toBe(0)
  const head = /--head: (\d+:[0-9a-f]{64})/.exec(whole.output)![1]!

  await sql`update audit_entries set record_name = 'another'`.execute((await testDatabase()).db)
  const changed = await arcade('audit', 'verify', '--head', head)
  expect(changed.output).toContain('Entry no. 1: what it says does not match its commitment.')
  expect(changed.output).toContain('The audit trail is NOT whole')
  expect(changed.code).toBe(3)

  for (const args of [['--head', 'x'], ['--heed', head], ['--head'], ['--head', head, 'more']])
    expect((await arcade('audit', 'verify', ...args)).code, args.join(' ')).toBe(1)
  const foreign = await arcade('audit', 'verify', '--head', `1:${'0'.repeat(64)}`)
  expect(foreign.output).toContain('is not in the chain')
})
