/** Reads that several callers share show everything that was saved before each of them asked. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { rounds } from '#test/size.ts'
import { testDatabase } from '#test/test-database.ts'
import { gatheredReads, sharedReads } from './shared-reads.ts'

const database = await testDatabase()

/** A read whose end the test decides. */
function heldRead() {
  const begun: { parameters: unknown[]; end: (value: string) => void; fail: (error: Error) => void }[] = []
  const read = sharedReads<string>(
    (parameters) => new Promise((resolve, reject) => void begun.push({ parameters, end: resolve, fail: reject })),
  )
  return { begun, read }
}

test('Shared reads: who asks while a read runs waits for the next one, which all of them share', async () => {
  const { begun, read } = heldRead()
  const first = read(['a', 1])
  const later = [read(['a', 1]), read(['a', 1]), read(['a', 1])]
  const other = read(['a', 2])
  expect(begun.map(({ parameters }) => parameters)).toEqual([
    ['a', 1],
    ['a', 2],
  ])
  begun[0]!.end('before')
  await expect(first).resolves.toBe('before')
  await expect.poll(() => begun.length).toBe(3)
  begun[2]!.end('after')
  await expect(Promise.all(later)).resolves.toEqual(['after', 'after', 'after'])
  begun[1]!.end('other')
  await expect(other).resolves.toBe('other')
  void read(['a', 1])
  expect(begun).toHaveLength(4)
})

test('Shared reads: one that fails fails for those who asked for it, and the next begins all the same', async () => {
  const { begun, read } = heldRead()
  const first = read([])
  const later = [read([]), read([])]
  begun[0]!.fail(new Error('gone'))
  await expect(first).rejects.toThrow('gone')
  await expect.poll(() => begun.length).toBe(2)
  begun[1]!.end('there')
  await expect(Promise.all(later)).resolves.toEqual(['there', 'there'])
})

test('Shared reads: while eight read without a pause, whoever has saved something reads it', async () => {
  const { db } = database
  await sql`create table saved (value int not null)`.execute(db)
  await sql`insert into saved values (0)`.execute(db)
  const read = database.prepared<{ value: number }>('saved', 'select value from saved')
  let isOver = false
  const readers = Array.from({ length: 8 }, async () => {
    for (let last = 0; !isOver;) {
      const [row] = await read([])
      expect(row!.value).toBeGreaterThanOrEqual(last)
      last = row!.value
    }
  })
  for (let value = 1; value <= rounds(300, 10_000); value += 1) {
    await sql`update saved set value = ${value}`.execute(db)
    const [row] = await read([])
    expect(row!.value).toBe(value)
  }
  isOver = true
  await Promise.all(readers)
})

test('Gathered reads: who asks while a read runs is answered by the next one, each with what was asked for', async () => {
  const begun: { asked: string[]; answer: PromiseWithResolvers<string[]> }[] = []
  const read = gatheredReads((asked: string[]) => {
    const answer = Promise.withResolvers<string[]>()
    begun.push({ asked, answer })
    return answer.promise
  })
  const atOnce = [read('a'), read('b')]
  await expect.poll(() => begun.length).toBe(1)
  const later = [read('c'), read('a')]
  begun[0]!.answer.resolve(['A', 'B'])
  await expect(Promise.all(atOnce)).resolves.toEqual(['A', 'B'])
  await expect.poll(() => begun.length).toBe(2)
  begun[1]!.answer.reject(new Error('gone'))
  await expect(Promise.allSettled(later)).resolves.toMatchObject([
    { reason: { message: 'gone' } },
    { reason: { message: 'gone' } },
  ])
  const last = read('d')
  await expect.poll(() => begun.length).toBe(3)
  begun[2]!.answer.resolve(['D'])
  await expect(last).resolves.toBe('D')
  expect(begun.map(({ asked }) => asked)).toEqual([['a', 'b'], ['c', 'a'], ['d']])
})
