/** Reads shared by several callers show everything that was saved before the caller asked. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { rounds } from '#test/size.ts'
import { testDatabase } from '#test/test-database.ts'
import { batchedReads, sharedReads } from './shared-reads.ts'

const database = await testDatabase()

/** Returns a read that ends when the test says so. */
function heldRead() {
  const begun: { parameters: unknown[]; end: (value: string) => void; fail: (error: Error) => void }[] = []
  const read = sharedReads<string>(
    (parameters) => new Promise((resolve, reject) => void begun.push({ parameters, end: resolve, fail: reject })),
  )
  return { begun, read }
}

test('Shared reads: callers during a read wait for the next one, and share it', async () => {
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

test('Shared reads: a failure reaches only the callers that share it, and the next read starts anyway', async () => {
  const { begun, read } = heldRead()
  const first = read([])
  const later = [read([]), read([])]
  begun[0]!.fail(new Error('gone'))
  await expect(first).rejects.toThrow('gone')
  await expect.poll(() => begun.length).toBe(2)
  begun[1]!.end('there')
  await expect(Promise.all(later)).resolves.toEqual(['there', 'there'])
})

test('Shared reads: while eight callers read without a pause, a caller reads what it has just saved', async () => {
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

test('Gathered reads: callers during a read are answered together by the next one, each with its own result', async () => {
  const begun: { asked: string[]; answer: PromiseWithResolvers<string[]> }[] = []
  const read = batchedReads((asked: string[]) => {
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
