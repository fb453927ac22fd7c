import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from './database.ts'
import { createDatabase } from '#test/test-database.ts'
import { onServer } from '#test/test-server.ts'

test('formats of values that are set for the database change nothing', async () => {
  const url = await createDatabase('other_formats')
  const settings = {
    datestyle: 'German, DMY',
    intervalstyle: 'iso_8601',
    timezone: 'Asia/Kolkata',
    extra_float_digits: '-5',
    bytea_output: 'escape',
  }
  await onServer(url, async (run) => {
    for (const [name, value] of Object.entries(settings))
      await run(`alter database ${new URL(url).pathname.slice(1)} set ${name} = '${value}'`)
  })
  const opened = await openDatabase({ dataDir: '/nowhere', url, log: pino({ level: 'silent' }), use: 'server' })
  onTestFinished(() => opened.close())
  const { rows } =
    await sql`select timestamptz '2026-01-02T03:04:05.678Z' as at, extract(epoch from timestamptz '2026-01-02T03:04:05.678Z')::float8 as epoch,
    '\\x00ff'::bytea as bytes, timestamptz '2026-01-02T03:04:05.678Z'::text as text`.execute(opened.db)
  const expected = { at: new Date('2026-01-02T03:04:05.678Z'), epoch: 1_767_323_045.678, bytes: Buffer.from([0, 255]) }
  expect(rows).toEqual([{ ...expected, text: '2026-01-02 03:04:05.678+00' }])
})
