/** When broadcasts begin, stop and end: at their times, by quiet hours, and when their announcement is deleted or switched off. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Broadcast } from '@arcade/contract/broadcasts/calls'
import { addNumbered, isOver, station } from '#test/broadcasts.ts'

const isSent =
  (count: number) =>
  ({ sent }: Broadcast) =>
    sent >= count

/** Begins a broadcast to 300 players, and waits for its first messages. */
async function beginSending(ratePerSecond: number) {
  const at = await station({ ratePerSecond })
  await addNumbered(at.app, 300)
  const announcementId = await at.announce()
  const id = await at.send({ announcementId })
  await at.until(id, isSent(3))
  return { at, announcementId, id }
}

test('deleting the announcement pauses its broadcast, which says why, and can go on', async () => {
  const { at, announcementId, id } = await beginSending(50)
  expect((await at.admin.call('DELETE', `/api/announcements/${announcementId}`)).status).toBe(200)
  const problem = 'The announcement was deleted. Resume to send it to the others all the same, or cancel.'
  expect(await at.read(id)).toMatchObject({ state: 'paused', problem })
  const { body } = await at.admin.call('GET', `/api/audit?recordId=${id}`)
  expect(body.entries[0]).toMatchObject({
    action: 'broadcast.pause',
    actorName: 'Test Person',
    detail: JSON.stringify({ problem }),
  })
  expect((await at.act(id, 'resume')).status).toBe(200)
  expect(await at.until(id, isOver)).toMatchObject({ state: 'done', sent: 300 })
})

test('switching the announcement off pauses its broadcast, and switching it on does not', async () => {
  const { at, announcementId, id } = await beginSending(5)
  const toggle = (status: boolean) => at.admin.call('POST', `/api/announcements/${announcementId}/status`, { status })
  expect((await toggle(false)).status).toBe(200)
  expect(await at.read(id)).toMatchObject({ state: 'sending' })
  expect((await toggle(true)).status).toBe(200)
  const problem = 'The announcement was switched off. Resume to send it to the others all the same, or cancel.'
  expect(await at.read(id)).toMatchObject({ state: 'paused', problem })
})

test('it begins at its time with the announcement of that time, and ends at its end', async () => {
  const at = await station({ ratePerSecond: 50 })
  await addNumbered(at.app, 300)
  const { db } = at.app.database
  const announcementId = await at.announce()
  const hour = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
  const id = await at.send({ announcementId, sendAt: hour(1), endsAt: hour(2) })
  await at.app.broadcasts.run()
  expect(await at.read(id)).toMatchObject({ state: 'scheduled', sendAt: expect.any(String), endsAt: expect.any(String) })
  const newer = { type: 'desc', title: 'Newer', subtitle: 'Later', reward: 6 }
  expect((await at.admin.call('PUT', `/api/announcements/${announcementId}`, newer)).status).toBe(200)
  await sql`update broadcasts set send_at = now() - interval '1 minute' where id = ${id}`.execute(db)
  await at.until(id, isSent(3))
  expect(at.api.sent[0]!.fields['text']).toBe('Newer\nLater\nReward: 6')
  await sql`update broadcasts set ends_at = now() where id = ${id}`.execute(db)
  const done = await at.until(id, ({ state, pending }) => state === 'done' && pending === 0)
  expect(done.sent + done.skippedFor.ended).toBe(300)
  expect(done.skippedFor.ended).toBeGreaterThan(0)
})

test('a scheduled broadcast gets other times, which are checked; one that has begun keeps its own', async () => {
  const at = await station()
  await addNumbered(at.app, 3)
  const hour = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
  const id = await at.send({ announcementId: await at.announce(), sendAt: hour(1), endsAt: hour(2) })
  const move = (times: object) => at.admin.call('PUT', `/api/broadcasts/${id}/times`, times)
  const [sendAt, endsAt] = [hour(24), hour(30)]
  expect(await move({ sendAt, endsAt })).toMatchObject({ status: 200 })
  expect(await at.read(id)).toMatchObject({ state: 'scheduled', sendAt, endsAt })
  const { body } = await at.admin.call('GET', `/api/audit?recordId=${id}`)
  expect(body.entries[0]).toMatchObject({ action: 'broadcast.reschedule', detail: JSON.stringify({ sendAt, endsAt }) })
  for (const wrong of [
    { sendAt: hour(3), endsAt: hour(2) },
    { endsAt: hour(-1) },
    { sendAt: 'soon' },
    { sendAt: '1999-01-01T00:00:00Z' },
  ])
    expect(await move(wrong)).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } })
  expect(await at.read(id)).toMatchObject({ sendAt, endsAt })
  expect(await move({})).toMatchObject({ status: 200 })
  expect(await at.until(id, isOver)).toMatchObject({ state: 'done', sent: 3 })
  expect(await move({ sendAt })).toMatchObject({ status: 409, body: { code: 'BROADCAST_OVER' } })
  const other = await at.send({ announcementId: await at.announce() })
  await sql`update broadcasts set state = 'planning' where id = ${other}`.execute(at.app.database.db)
  const late = await at.admin.call('PUT', `/api/broadcasts/${other}/times`, { sendAt })
  expect(late).toMatchObject({ status: 409, body: { code: 'BROADCAST_BEGUN' } })
})

test('quiet hours make it wait until they end', async () => {
  const hour = new Date().getUTCHours()
  const at = await station({ quietHours: { from: hour, to: (hour + 2) % 24, zone: 'UTC' } })
  await addNumbered(at.app, 3)
  const id = await at.send({ announcementId: await at.announce() })
  const waiting = await at.until(id, ({ isPlanned, state }) => isPlanned && state === 'waiting')
  expect(waiting.waitingFor).toBe('quietHours')
  expect(new Date(waiting.waitingUntil!).getUTCHours()).toBe((hour + 2) % 24)
  expect(at.api.calls()).toBe(0)
})
