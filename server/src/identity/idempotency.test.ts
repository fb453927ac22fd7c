/** Work in steps with an Idempotency-Key: what becomes of a key that another request took over. Other tests: http/idempotency.test.ts. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { CallContext } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { testDatabase } from '#test/test-database.ts'
import { createOnceInSteps } from './idempotency.ts'

/** Begins a request with the same key. It ends when the test calls `end` or `fail`. */
function begin(database: Database, input: string) {
  const began = Promise.withResolvers<void>()
  const { promise, resolve: end, reject: fail } = Promise.withResolvers<string>()
  const context = {
    idempotencyKey: { caller: 'user:ada', hash: Buffer.from('k'), fingerprint: Buffer.from(input) },
    signal: new AbortController().signal,
  } as unknown as CallContext
  const answer = createOnceInSteps(database, context, () => {
    began.resolve()
    return promise
  })
  for (const mayFail of [answer, promise]) mayFail.catch(() => {})
  return { answer, end, fail, began: began.promise }
}

/** Begins two requests with one key. The first one takes longer than a minute, so the second one has taken the key over. */
async function beginTwo() {
  const database = await testDatabase()
  const slow = begin(database, 'one')
  await slow.began
  await sql`update idempotency_keys set created_at = created_at - interval '1 minute'`.execute(database.db)
  const second = begin(database, 'two')
  await second.began
  const kept = async () =>
    (await database.db.selectFrom('idempotency_keys').select('answer').execute()).map(({ answer }) => answer)
  return { database, slow, second, kept }
}

test('§7 a slow request that fails does not free a key that another one has taken over', async () => {
  const { database, slow, second, kept } = await beginTwo()
  slow.fail(new Error('too late'))
  await expect(slow.answer).rejects.toThrow('too late')
  expect(await kept()).toEqual([null])
  second.end('of the second')
  expect(await second.answer).toBe('of the second')
  const repeated = begin(database, 'two')
  expect(await repeated.answer).toBe('of the second')
})

test('§7 a slow request that succeeds does not store its answer under a key that another one has taken over', async () => {
  const { slow, second, kept } = await beginTwo()
  slow.end('of the first')
  expect(await slow.answer).toBe('of the first')
  expect(await kept()).toEqual([null])
  second.fail(new Error('no'))
  await expect(second.answer).rejects.toThrow('no')
  expect(await kept()).toEqual([])
})

test('§7 a request that fails frees its own key', async () => {
  const database = await testDatabase()
  const failing = begin(database, 'one')
  failing.fail(new Error('no'))
  await expect(failing.answer).rejects.toThrow('no')
  const next = begin(database, 'two')
  next.end('done')
  expect(await next.answer).toBe('done')
})
