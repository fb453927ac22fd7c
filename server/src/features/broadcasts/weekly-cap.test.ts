/** The cap of messages that a player may get in a week. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Broadcast } from '@arcade/contract/broadcasts/calls'
import { addNumbered, isOver, station } from '#test/broadcasts.ts'

test('a player gets no more messages a week than the cap', async () => {
  const at = await station({ messagesAWeek: 2 })
  await addNumbered(at.app, 3)
  const announcementId = await at.announce()
  for (const _ of [1, 2]) await at.until(await at.send({ announcementId }), isOver)
  await sql`update broadcast_recipients set at = now() - interval '8 days' where user_id = 2 and broadcast = 1`.execute(
    at.app.database.db,
  )
  const third = await at.until(await at.send({ announcementId }), isOver)
  expect(third).toMatchObject({ total: 3, sent: 1, skipped: 2, skippedFor: { cap: 2 } })
  expect(at.api.sent.at(-1)!.chatId).toBe(2)
})

test('broadcasts that are sent at the same time stay within the cap together', async () => {
  const at = await station({ messagesAWeek: 2 })
  await addNumbered(at.app, 150)
  const announcementId = await at.announce()
  const ids = await Promise.all([1, 2, 3, 4].map(() => at.send({ announcementId })))
  const done: Broadcast[] = []
  for (const id of ids) done.push(await at.until(id, isOver))
  const messages = Map.groupBy(at.api.sent, ({ chatId }) => chatId)
  expect(Array.from(messages.values(), (some) => some.length)).toEqual(Array<number>(150).fill(2))
  expect(done.map(({ sent, skippedFor }) => sent + skippedFor.cap)).toEqual([150, 150, 150, 150])
})
