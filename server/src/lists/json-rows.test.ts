/** Rows written as JSON from PostgreSQL's texts are the rows that the driver reads. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Field } from '@arcade/contract/entities/entity'
import { testDatabase } from '#src/testing/test-database.ts'
import { jsonArray, rowWriter } from './json-rows.ts'

const database = await testDatabase()

const values: Record<Field['kind'], string[]> = {
  text: [`''`, `'"quoted" \\ and/or'`, String.raw`E'tab\t, line\n, bell\u0007, line separator\u2028'`, `'Zoë 🎮 لاعب'`, `'null'`],
  choice: [`'social'`, `'it''s'`],
  number: ['0', '-0.05', '49292.50', '1234567890.123', '1e3::numeric', '0.000001'],
  integer: ['0', '-1', '9007199254740992::bigint', '7::integer'],
  moment: [`'2026-01-02T03:04:05.678Z'`, `'0001-01-01T00:00:00.000Z'`],
  flag: ['true', 'false'],
}

test.for(Object.entries(values) as [Field['kind'], string[]][])('Lists: a %s is written as JSON', async ([kind, expressions]) => {
  const field = { label: '', kind, options: {} } as Field
  const write = rowWriter({ 'a "field"': field, missing: field }, 1)
  const rows = sql`${sql.raw(
    expressions.map((value) => `select 'skipped', ${value} as value, null as missing`).join(' union all '),
  )}`
  const texts = await database.texts(rows)
  const { rows: read } = await sql<{ value: unknown; missing: null }>`${rows}`.execute(database.db)
  expect(JSON.parse(jsonArray(texts.map(write)).text)).toEqual(
    read.map(({ value, missing }) => ({ 'a "field"': value, missing })),
  )
})
