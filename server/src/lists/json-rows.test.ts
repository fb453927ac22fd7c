/** Rows written as JSON from PostgreSQL's texts equal the rows that the driver reads. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Field } from '@arcade/contract/entity'
import { microsecondsOfUtc, microsecondsSql, utcSql } from '#src/db/moments.ts'
import { testDatabase } from '#test/test-database.ts'
import { jsonArray, rowWriter } from './json-rows.ts'

const database = await testDatabase()

const moments = [
  '2026-01-02T03:04:05.678901Z',
  '2026-01-02 03:04:05.5+00',
  '1970-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '12345-01-02T03:04:05.67Z',
  '0044-03-15T12:00:00Z BC',
]
const isoTexts = [
  '2026-01-02T03:04:05.678Z',
  '2026-01-02T03:04:05.500Z',
  '1970-01-01T00:00:00.000Z',
  '0001-01-01T00:00:00.000Z',
  '+012345-01-02T03:04:05.670Z',
  '-000043-03-15T12:00:00.000Z',
]

const values: Record<Field['kind'], string[]> = {
  text: [`''`, `'"quoted" \\ and/or'`, String.raw`E'tab\t, line\n, bell\u0007, line separator\u2028'`, `'Zoë 🎮 لاعب'`, `'null'`],
  choice: [`'social'`, `'it''s'`],
  number: ['0', '-0.05', '49292.50', '1234567890.123', '1e3::numeric', '0.000001'],
  integer: ['0', '-1', '9007199254740992::bigint', '7::integer'],
  moment: moments.map((moment) => utcSql(`timestamptz '${moment}'`)),
  flag: ['true', 'false'],
}

test.for(Object.entries(values) as [Field['kind'], string[]][])('Lists: a %s is written as JSON', async ([kind, expressions]) => {
  const field = { label: '', kind, options: {} } as Field
  const write = rowWriter({ 'a "field"': field, missing: field }, 1)
  const rows = sql`${sql.raw(
    expressions.map((value) => `select 'skipped', ${value} as value, null as missing`).join(' union all '),
  )}`
  const texts = await database.reads.texts(rows)
  const { rows: read } = await sql<{ value: unknown; missing: null }>`${rows}`.execute(database.db)
  const expected = kind === 'moment' ? isoTexts.map((text) => new Date(text).toISOString()) : read.map(({ value }) => value)
  expect(JSON.parse(jsonArray(texts.map(write)).text)).toEqual(expected.map((value) => ({ 'a "field"': value, missing: null })))
})

test('Lists: the microseconds of a moment are the same from its text as from PostgreSQL', async () => {
  const before1970 = ['1969-12-31 23:59:59.500001+00', '1969-12-31T23:59:59.999999Z']
  const timestamps = [...moments, ...before1970].map((moment) => `timestamptz '${moment}'`)
  const selects = timestamps.map((moment) => `select ${utcSql(moment)} as sent, ${microsecondsSql(moment)} as exact`)
  const rows = await database.reads.texts(sql`${sql.raw(selects.join(' union all '))}`)
  expect(rows.map(([sent]) => microsecondsOfUtc(sent!))).toEqual(rows.map(([, exact]) => exact))
})
