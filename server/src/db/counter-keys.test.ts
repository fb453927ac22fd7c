/** Names of counters are stored, so they are written out here: one that changes loses what was counted under the old one. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { testDatabase } from '#src/testing/test-database.ts'
import {
  activityNames,
  activityOfNameSql,
  allParticipantsNames,
  bucketText,
  type CounterKey,
  counterName,
  counterNameSql,
  hourNamesBefore,
  itemActivityNames,
  itemOfNameSql,
} from './counter-keys.ts'
import { addToCounter, counterSql, readCounters } from './counters.ts'

const database = await testDatabase()
const { db } = database
const at = new Date('2026-11-21T08:59:59.999Z')
const item = { kind: 'social', itemId: 'a:b' } as const

const stored: [CounterKey, string][] = [
  [{ of: 'players' }, 'telegramUsers'],
  [{ of: 'users', userType: 'admin' }, 'users:admin'],
  [{ of: 'participants', ...item }, 'participants:social:a:b'],
  [{ of: 'activity', bucket: 'hour', at, series: 'players' }, 'activity@h:2026-11-21T08:players'],
  [{ of: 'activity', bucket: 'day', at, series: 'daily' }, 'activity@d:2026-11-21:daily'],
  [{ of: 'activity', bucket: 'month', at, series: 'announcement' }, 'activity@m:2026-11:announcement'],
  [{ of: 'itemActivity', bucket: 'hour', at, ...item }, 'taken@h:2026-11-21T08:social:a:b'],
  [{ of: 'itemActivity', bucket: 'day', at, ...item }, 'taken@d:2026-11-21:social:a:b'],
]

test.each(stored)('Counters: %o is stored under its name', (key, expected) => {
  expect(counterName(key)).toBe(expected)
})

test('Counters: a name in SQL is the one that is written', async () => {
  const named = [
    counterNameSql({ of: 'players' }),
    counterNameSql({ of: 'users', userType: 'user' }),
    counterNameSql({ of: 'participants', kind: 'kind', itemId: 'id' }),
  ]
  const { rows } = await sql<{ name: string }>`
    select unnest(array[${sql.raw(named.join(', '))}]) as name from (values ('social', 'a:b')) as item (kind, id)`.execute(db)
  expect(rows.map((row) => row.name)).toEqual(
    [{ of: 'players' } as const, { of: 'users', userType: 'user' } as const, { of: 'participants', ...item } as const].map(
      counterName,
    ),
  )
})

test('Counters: the value in SQL is the one that is read, of the item alone', async () => {
  const other = { kind: 'social', itemId: 'a' } as const
  await database.transaction(async (tx) => {
    await addToCounter(tx, { counter: { of: 'participants', ...item }, delta: 3 })
    await addToCounter(tx, { counter: { of: 'participants', ...other }, delta: 4 })
  })
  const value = sql.raw(counterSql({ of: 'participants', kind: `'social'`, itemId: `'a:b'` }))
  expect((await sql`select ${value} as value`.execute(db)).rows).toEqual([{ value: 3 }])
  expect(await readCounters(db, [{ of: 'participants', ...other }, { of: 'players' }])).toEqual([4, 0])
})

test('Counters: a range holds the buckets of its time and no others, and their names are read again', async () => {
  const hours = Array.from({ length: 60 }, (_, hour) => new Date(at.getTime() - hour * 3_600_000))
  const [from, to] = activityNames('hour', hours[23]!, at)
  const names = hours.map((hour) => counterName({ of: 'activity', bucket: 'hour', at: hour, series: 'players' }))
  expect(names.filter((one) => one >= from && one < to)).toEqual(names.slice(1, 24))
  const parts = sql.raw(`${activityOfNameSql.at} as at, ${activityOfNameSql.series} as series`)
  const { rows } = await sql`select ${parts} from unnest(${names.slice(0, 2)}::text[]) as name`.execute(db)
  expect(rows).toEqual(hours.slice(0, 2).map((hour) => ({ at: bucketText('hour', hour), series: 'players' })))
})

test.each([
  ['by the hour', itemActivityNames('hour', at, new Date(at.getTime() + 3_600_000)), { of: 'itemActivity', bucket: 'hour', at }],
  ['by the day', itemActivityNames('day', at, new Date('2026-11-22')), { of: 'itemActivity', bucket: 'day', at }],
  ['of all time', allParticipantsNames, { of: 'participants' }],
] as const)('Counters: the item is read from a name again, %s', async (_, [from, to], key) => {
  const one = counterName({ ...key, ...item })
  expect(one >= from && one < to).toBe(true)
  const { kind, itemId } = itemOfNameSql(`'${from}'`)
  const { rows } =
    await sql`select ${sql.raw(kind)} as kind, ${sql.raw(itemId)} as "itemId" from (values (${one}::text)) as n (name)`.execute(
      db,
    )
  expect(rows).toEqual([item])
})

test('Counters: hours before a moment, and no days', () => {
  const hour = (moment: Date) => counterName({ of: 'itemActivity', bucket: 'hour', at: moment, ...item })
  const isIn = (one: string) => hourNamesBefore(at).some(([from, to]) => one >= from && one < to)
  expect(
    [hour(new Date('2020-01-01')), hour(at), counterName({ of: 'itemActivity', bucket: 'day', at, ...item })].map(isIn),
  ).toEqual([true, false, false])
})

test('Counters: a key lacks no part', () => {
  // @ts-expect-error -- which user type
  const users: CounterKey = { of: 'users' }
  // @ts-expect-error -- which item
  const participants: CounterKey = { of: 'participants', kind: 'social' }
  // @ts-expect-error -- which kind of item
  const ofKind: CounterKey = { of: 'participants', itemId: 'a' }
  // @ts-expect-error -- when
  const activity: CounterKey = { of: 'activity', bucket: 'day', series: 'players' }
  // @ts-expect-error -- by the hour, day or month
  const bucket: CounterKey = { of: 'activity', at, series: 'players' }
  // @ts-expect-error -- items are not counted by the month
  const month: CounterKey = { of: 'itemActivity', bucket: 'month', at, ...item }
  // @ts-expect-error -- there is no such counter
  const nothing: CounterKey = { of: 'visits' }
  // @ts-expect-error -- a name that no key made
  const deltas: Parameters<typeof import('./counters.ts').addToCounters>[1] = new Map([['telegramUsers', 1]])
  // @ts-expect-error -- which item, in SQL
  const inSql: Parameters<typeof counterSql>[0] = { of: 'participants', kind: '$1' }
  expect([users, participants, ofKind, activity, bucket, month, nothing, deltas, inSql]).toHaveLength(9)
})
