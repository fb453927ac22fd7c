/** Names of counters are stored, so the tests spell them out: a changed name would lose what was counted under the old one. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { testDatabase } from '#test/test-database.ts'
import {
  activityNames,
  activityOfNameSql,
  allPaidNames,
  allParticipantsNames,
  balanceBucketSql,
  balanceNamesFrom,
  balancesIn,
  bucketText,
  type CounterKey,
  counterName,
  counterNameSql,
  hourNamesBefore,
  itemActivityNames,
  itemOfNameSql,
  itemPaidNames,
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
  [{ of: 'activity', bucket: 'day', at, series: 'paid' }, 'activity@d:2026-11-21:paid'],
  [{ of: 'paid', ...item }, 'paid:social:a:b'],
  [{ of: 'itemPaid', bucket: 'hour', at, ...item }, 'paid@h:2026-11-21T08:social:a:b'],
  [{ of: 'itemPaid', bucket: 'day', at, ...item }, 'paid@d:2026-11-21:social:a:b'],
  [{ of: 'balances', bucket: '0512' }, 'balances:0512'],
]

test.each(stored)('Counters: %o is stored under its documented name', (key, expected) => {
  expect(counterName(key)).toBe(expected)
})

test('Counters: names built in SQL equal those built in TypeScript', async () => {
  const named = [
    counterNameSql({ of: 'players' }),
    counterNameSql({ of: 'users', userType: 'user' }),
    counterNameSql({ of: 'participants', kind: 'kind', itemId: 'id' }),
    counterNameSql({ of: 'paid', kind: 'kind', itemId: 'id' }),
    counterNameSql({ of: 'itemPaid', bucket: 'day', at: `timestamp '2026-11-21 08:59:59'`, kind: 'kind', itemId: 'id' }),
    counterNameSql({ of: 'balances', balance: '12345.67' }),
  ]
  const keys: CounterKey[] = [
    { of: 'players' },
    { of: 'users', userType: 'user' },
    { of: 'participants', ...item },
    { of: 'paid', ...item },
    { of: 'itemPaid', bucket: 'day', at, ...item },
    { of: 'balances', bucket: '0512' },
  ]
  const { rows } = await sql<{ name: string }>`
    select unnest(array[${sql.raw(named.join(', '))}]) as name from (values ('social', 'a:b')) as item (kind, id)`.execute(db)
  expect(rows.map((row) => row.name)).toEqual(keys.map(counterName))
})

test('Counters: a bucket of balances holds those with the same first two digits and length, and buckets sort in order', async () => {
  const balances = [
    '-5',
    '0',
    '0.99',
    '1',
    '9.5',
    '10',
    '12.4',
    '99',
    '100',
    '109.9',
    '110',
    '12000',
    '12999.999',
    '9007199254740992',
  ]
  const { rows } = await sql<{ balance: string; bucket: string }>`
    select balance::text as balance, ${sql.raw(balanceBucketSql('balance'))} as bucket from unnest(${balances}::numeric[]) as b (balance)`.execute(
    db,
  )
  for (const { balance, bucket } of rows) {
    const range = balancesIn(bucket)
    const [value, low, end] = [Number(balance), range?.low ?? -Infinity, range ? range.low + range.width : 0]
    expect([balance, value >= low, value < end]).toEqual([balance, true, true])
    expect([balance, !range || value < 1 || range.width <= Math.max(1, value / 10)]).toEqual([balance, true])
  }
  const buckets = rows.map(({ bucket }) => bucket)
  expect(buckets).toEqual(buckets.toSorted())
  expect([...new Set(buckets)]).toEqual(['-', '010', '011', '019', '0210', '0212', '0299', '0310', '0311', '0512', '1690'])
  const [from, to] = balanceNamesFrom('0212')
  const isIn = (bucket: string) => [counterName({ of: 'balances', bucket })].every((one) => one >= from && one < to)
  expect(buckets.filter(isIn)).toEqual(['0212', '0299', '0310', '0310', '0311', '0512', '0512', '1690'])
})

test('Counters: the value read in SQL equals the value read in TypeScript, for the given item only', async () => {
  const other = { kind: 'social', itemId: 'a' } as const
  await database.transaction(async (tx) => {
    await addToCounter(tx, { counter: { of: 'participants', ...item }, delta: 3 })
    await addToCounter(tx, { counter: { of: 'participants', ...other }, delta: 4 })
  })
  const value = sql.raw(counterSql({ of: 'participants', kind: `'social'`, itemId: `'a:b'` }))
  expect((await sql`select ${value} as value`.execute(db)).rows).toEqual([{ value: 3 }])
  expect(await readCounters(db, [{ of: 'participants', ...other }, { of: 'players' }])).toEqual([4, 0])
})

test('Counters: a range holds exactly the buckets of its time, and times can be read back from their names', async () => {
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
  ['paid by the hour', itemPaidNames('hour', at, new Date(at.getTime() + 3_600_000)), { of: 'itemPaid', bucket: 'hour', at }],
  ['paid by the day', itemPaidNames('day', at, new Date('2026-11-22')), { of: 'itemPaid', bucket: 'day', at }],
  ['paid of all time', allPaidNames, { of: 'paid' }],
] as const)('Counters: the item can be read back from a name, %s', async (_, [from, to], key) => {
  const one = counterName({ ...key, ...item })
  expect(one >= from && one < to).toBe(true)
  const { kind, itemId } = itemOfNameSql(`'${from}'`)
  const { rows } =
    await sql`select ${sql.raw(kind)} as kind, ${sql.raw(itemId)} as "itemId" from (values (${one}::text)) as n (name)`.execute(
      db,
    )
  expect(rows).toEqual([item])
})

test('Counters: hours before a time, without days', () => {
  const hour = (moment: Date) => counterName({ of: 'itemActivity', bucket: 'hour', at: moment, ...item })
  const isIn = (one: string) => hourNamesBefore(at).some(([from, to]) => one >= from && one < to)
  expect(
    [hour(new Date('2020-01-01')), hour(at), counterName({ of: 'itemActivity', bucket: 'day', at, ...item })].map(isIn),
  ).toEqual([true, false, false])
})

test('Counters: a key with a missing part does not compile', () => {
  // @ts-expect-error -- the user type is missing
  const users: CounterKey = { of: 'users' }
  // @ts-expect-error -- the item is missing
  const participants: CounterKey = { of: 'participants', kind: 'social' }
  // @ts-expect-error -- the kind of item is missing
  const ofKind: CounterKey = { of: 'participants', itemId: 'a' }
  // @ts-expect-error -- the time is missing
  const activity: CounterKey = { of: 'activity', bucket: 'day', series: 'players' }
  // @ts-expect-error -- the bucket (hour, day or month) is missing
  const bucket: CounterKey = { of: 'activity', at, series: 'players' }
  // @ts-expect-error -- items have no monthly buckets
  const month: CounterKey = { of: 'itemActivity', bucket: 'month', at, ...item }
  // @ts-expect-error -- there is no such counter
  const nothing: CounterKey = { of: 'visits' }
  // @ts-expect-error -- a name that was not made from a key
  const deltas: Parameters<typeof import('./counters.ts').addToCounters>[1] = new Map([['telegramUsers', 1]])
  // @ts-expect-error -- the item is missing, in SQL
  const inSql: Parameters<typeof counterSql>[0] = { of: 'participants', kind: '$1' }
  expect([users, participants, ofKind, activity, bucket, month, nothing, deltas, inSql]).toHaveLength(9)
})
