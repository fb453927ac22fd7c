import { expect, test } from 'vitest'
import { citusUrl } from '#test/citus.ts'
import { openAgain, testDatabase } from '#test/test-database.ts'
import type { CounterKey } from './counter-keys.ts'
import type { Database } from '#src/db/database.ts'
import { addToCounter, foldCounters, readCounters } from './counters.ts'

const database = await testDatabase()
const a: CounterKey = { of: 'players' }
const b: CounterKey = { of: 'participants', kind: 'social', itemId: 'b' }

test('design §4 a counter that never changed is 0', async () => {
  expect(await readCounters(database.db, [a, b])).toEqual([0, 0])
})

test('design §4 changes count at once, negative ones too, and folding preserves the sum', async () => {
  await database.transaction(async (tx) => {
    await addToCounter(tx, { counter: a, delta: 5 })
    await addToCounter(tx, { counter: a, delta: -2, userId: 7 })
    await addToCounter(tx, { counter: b, delta: 1 })
  })
  expect(await readCounters(database.db, [a, b])).toEqual([3, 1])
  await foldCounters(database)
  expect(await database.db.selectFrom('counter_deltas').select('id').execute()).toEqual([])
  expect(await readCounters(database.db, [a, b])).toEqual([3, 1])
})

test('design §4 a change that is rolled back never counts', async () => {
  const failed = database.transaction(async (tx) => {
    await addToCounter(tx, { counter: a, delta: 5 })
    throw new Error('no')
  })
  await expect(failed).rejects.toThrow('no')
  await foldCounters(database)
  expect(await readCounters(database.db, [a])).toEqual([0])
})

test('design §4 sums stay exact while many add, several servers fold and one reads', async () => {
  const other = await openAgain()
  const writers = 6
  const changes = 40
  // Values only rise, so reading half of a fold shows as a fall. A cluster allows that for the milliseconds of a commit (docs/scaling.md).
  const mayFall = citusUrl ? writers * changes : 0
  let isWriting = true
  const read = async () => {
    let last = 0
    while (isWriting) {
      const [value = 0] = await readCounters(database.db, [a])
      expect(last - value).toBeLessThanOrEqual(mayFall)
      last = value
    }
  }
  const fold = async (server: Database) => {
    while (isWriting) await foldCounters(server)
  }
  const write = async (userId: number) => {
    for (let change = 0; change < changes; change += 1)
      await database.transaction((tx) => addToCounter(tx, { counter: a, delta: 1, userId }))
  }
  const background = [read(), fold(database), fold(other)]
  await Promise.all(Array.from({ length: writers }, (_, user) => write(user)))
  isWriting = false
  await Promise.all(background)
  expect(await readCounters(database.db, [a])).toEqual([writers * changes])
  await foldCounters(database)
  expect(await database.db.selectFrom('counters').selectAll().execute()).toMatchObject([{ value: writers * changes }])
})

test('design §4 a reader sees the counters of its snapshot', async () => {
  await database.transaction((tx) => addToCounter(tx, { counter: a, delta: 1 }))
  await database.db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      expect(await readCounters(tx, [a])).toEqual([1])
      await database.transaction((other) => addToCounter(other, { counter: a, delta: 1 }))
      await foldCounters(database)
      expect(await readCounters(tx, [a])).toEqual([1])
    })
  expect(await readCounters(database.db, [a])).toEqual([2])
})
