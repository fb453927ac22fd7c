/** What becomes of a chunk when its holder is slow or dead, and when two servers send at once. */
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { addNumbered, isOver, outcomesOf, planAll, station, type Station } from '#test/broadcasts.ts'
import { BOT_TOKEN, type Behaviour } from '#test/telegram.ts'
import { silent } from '#test/webhooks.ts'
import { testApp } from '#test/test-app.ts'
import { openAgain } from '#test/test-database.ts'
import { leaseChunk, prepareChunk, releaseChunk } from './chunks.ts'
import { createDelivery } from './delivery.ts'
import { finishEnded } from './ending.ts'
import { OUTCOMES } from './outcomes.ts'
import { createPace, makeAllWait } from './pace.ts'
import { beginDue, planBatch } from './planning.ts'
import { createTelegram } from './telegram.ts'

/** Makes and plans a broadcast to `count` players, without workers. */
async function planned(at: Station, count: number): Promise<string> {
  await addNumbered(at.app, count)
  const id = await at.send({ announcementId: await at.announce() })
  await planAll(at.app)
  return id
}

const CALL = { method: 'sendMessage', fields: { chat_id: 2, text: 'News' }, file: undefined } as const

test('a chunk whose holder has died is taken over: what was being sent is unknown, and a late sure answer corrects it', async () => {
  const at = await station()
  const { database } = at.app
  const id = await planned(at, 3)
  const held = Promise.withResolvers<Behaviour>()
  at.api.behave((chatId) => (chatId === 2 ? held.promise : 200))
  const deliver = createDelivery(database, createTelegram({ apiRoot: at.api.url, botToken: BOT_TOKEN }), { log: silent })

  const slow = (await leaseChunk(database, 'slow'))!
  expect(await prepareChunk(database, slow, undefined)).toEqual([1, 2, 3])
  expect(await leaseChunk(database, 'other')).toBeUndefined()
  const late = deliver({ userId: 2, broadcast: slow.broadcast }, CALL)
  await expect.poll(() => at.api.calls()).toBe(1)
  await sql`update broadcast_chunks set lease_until = now()`.execute(database.db)

  const other = (await leaseChunk(database, 'other'))!
  expect(await prepareChunk(database, other, undefined)).toEqual([1, 3])
  for (const userId of [1, 2, 3]) await deliver({ userId, broadcast: other.broadcast }, { ...CALL, fields: { chat_id: userId } })
  await releaseChunk(database, other)
  await finishEnded(database)
  expect(await at.read(id)).toMatchObject({ state: 'done', sent: 2, unknown: 1 })

  held.resolve(200)
  expect(await late).toMatchObject({ kind: 'sent' })
  await releaseChunk(database, slow)
  await finishEnded(database)
  expect(await at.read(id)).toMatchObject({ state: 'done', sent: 3, unknown: 0 })
  expect(at.api.sent.map(({ chatId }) => chatId).toSorted((a, b) => a - b)).toEqual([1, 2, 3])
})

test('a worker whose lease has ended, whose broadcast is paused or over, gets no turn; one that waits is told how long', async () => {
  const at = await station()
  const { database } = at.app
  const id = await planned(at, 1)
  const pace = createPace(database, 0.1)
  const lease = (await leaseChunk(database, 'one'))!
  const turns = [await pace.take(lease), await pace.take(lease), await pace.take(lease)]
  expect(turns.map(({ kind }) => kind)).toEqual(['go', 'go', 'go'])
  expect((turns[2] as { afterMs: number }).afterMs).toBeGreaterThan(10_000)
  expect((turns[2] as { afterMs: number }).afterMs).toBeLessThanOrEqual(20_000)
  // A clock that was set back by an hour.
  await sql`update telegram_pace set next_at = now() + interval '1 hour'`.execute(database.db)
  expect((await pace.take(lease)) as object).toMatchObject({ kind: 'go', afterMs: 0 })
  await makeAllWait(database.db, 90, 'telegram')
  await makeAllWait(database.db, 1, 'unreachable')
  expect(await pace.take(lease)).toMatchObject({ kind: 'wait', ms: expect.closeTo(90_000, -4) })
  await sql`update telegram_pace set waiting_since = now() + interval '1 hour', waiting_until = now() + interval '2 hours'`.execute(
    database.db,
  )
  expect((await pace.take(lease)).kind).toBe('go')
  await at.act(id, 'pause')
  expect((await pace.take(lease)).kind).toBe('stop')
  await at.act(id, 'resume')
  expect((await pace.take(lease)).kind).toBe('go')
  await sql`update broadcast_chunks set lease_until = now()`.execute(database.db)
  expect((await pace.take(lease)).kind).toBe('stop')
})

test('two servers share the work and the pace, and nobody gets the message twice', async () => {
  const at = await station({ ratePerSecond: 200 })
  const telegram = { botToken: BOT_TOKEN, apiRoot: at.api.url, ratePerSecond: 200 }
  const other = await testApp({ database: await openAgain(), telegram })
  onTestFinished(() => other.broadcasts.stop())
  await addNumbered(at.app, 600)
  let lastAt = 0
  at.api.behave(() => {
    lastAt = performance.now()
    return 200
  })
  const begunAt = performance.now()
  const id = await at.send({ announcementId: await at.announce() })
  const done = await at.until(id, (broadcast) => {
    void other.broadcasts.run()
    return isOver(broadcast)
  })
  expect(done.sent).toBe(600)
  expect(new Set(at.api.sent.map(({ chatId }) => chatId)).size).toBe(600)
  expect(at.api.sent).toHaveLength(600)
  // The first of 600 messages at 200 a second begins at once, the last 2,995 ms later.
  expect(lastAt - begunAt).toBeGreaterThan(2900)
  expect(new Set((await outcomesOf(at.app, id)).values())).toEqual(new Set([OUTCOMES.sent]))
})

test('planning goes on where a killed server stopped, with the same control group', async () => {
  const at = await station()
  const { database } = at.app
  await addNumbered(at.app, 500)
  const id = await at.send({ announcementId: await at.announce(), holdBack: 20 })
  await beginDue(database, undefined)
  await planBatch(database)
  const first = await outcomesOf(at.app, id)
  // As if the server had died before its commit.
  await sql`delete from broadcast_recipients`.execute(database.db)
  await sql`delete from broadcast_chunks`.execute(database.db)
  await sql`update broadcasts set planned_up_to = null`.execute(database.db)
  while ((await planBatch(database)).outcome === 'planned');
  expect(await outcomesOf(at.app, id)).toEqual(first)
  expect(await planBatch(database)).toEqual({ outcome: 'none' })
})
