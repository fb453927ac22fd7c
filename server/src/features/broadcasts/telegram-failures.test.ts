/** Broadcasts while Telegram does not know the token, cannot be reached, loses answers or answers with errors. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Broadcast } from '@arcade/contract/broadcasts/calls'
import { addNumbered, isOver, NONE, numbers, station, type Station } from '#test/broadcasts.ts'
import { waitFor } from '#test/processes.ts'

/** Runs the background task, and ends each wait at once, until the broadcast is in a state. */
function endWaitsUntil(at: Station, id: string, isReached: (broadcast: Broadcast) => boolean): Promise<Broadcast> {
  return waitFor('the broadcast', async () => {
    await sql`update telegram_pace set waiting_until = null`.execute(at.app.database.db)
    await at.app.broadcasts.run()
    const broadcast = await at.read(id)
    return isReached(broadcast) ? broadcast : undefined
  })
}

test('when Telegram does not know the token, or refuses every message, the broadcast is paused and says why', async () => {
  const at = await station()
  await addNumbered(at.app, 200)
  const announcementId = await at.announce()
  at.api.behave(() => 401)
  const id = await at.send({ announcementId })
  const denied = await at.until(id, ({ state }) => state === 'paused')
  expect(denied).toMatchObject({ problem: 'Telegram does not accept the bot’s token: Unauthorized', failed: 0 })
  at.api.behave(() => 400)
  await at.act(id, 'resume')
  const odd = await at.until(id, ({ state, problem }) => state === 'paused' && problem !== undefined)
  expect(odd.problem).toBe('20 messages in a row failed. Telegram answered: Bad Request: message is odd')
  expect(odd.failed).toBeLessThan(60)
  at.api.behave(() => 200)
  await at.act(id, 'resume')
  const done = await at.until(id, isOver)
  expect(done.sent + done.failed).toBe(200)
})

test('without a connection everybody waits, and nobody is given up', async () => {
  const at = await station({ apiRoot: 'http://127.0.0.1:9' })
  await addNumbered(at.app, 3)
  const id = await at.send({ announcementId: await at.announce() })
  const waiting = await at.until(id, ({ state }) => state === 'waiting')
  expect(waiting).toMatchObject({ waitingFor: 'unreachable', ...NONE, total: 3, pending: 3 })
})

test('while every answer is lost, few recipients become unknown: everybody waits, and at last the broadcast is paused', async () => {
  const at = await station({ ratePerSecond: 10 })
  await addNumbered(at.app, 2000)
  const id = await at.send({ announcementId: await at.announce() })
  at.api.behave(() => 502)
  const waiting = await at.until(id, ({ state }) => state === 'waiting')
  expect(waiting).toMatchObject({ waitingFor: 'unreachable', sent: 0 })
  const paused = await endWaitsUntil(at, id, ({ state, unknown }) => state === 'paused' || unknown > 100)
  expect(paused.problem).toMatch(/^\d+ answers in a row were lost: HTTP 502\. /)
  expect(paused.unknown).toBeLessThan(40)
})

test('while Telegram answers with server errors everybody waits, and afterwards nobody has failed', async () => {
  const at = await station({ ratePerSecond: 10, busyPausesMs: [1, 1] })
  await addNumbered(at.app, 20)
  const id = await at.send({ announcementId: await at.announce() })
  at.api.behave(() => 500)
  await at.until(id, ({ state }) => state === 'waiting')
  at.api.behave(() => 200)
  await sql`update telegram_pace set waiting_until = null`.execute(at.app.database.db)
  expect(numbers(await at.until(id, isOver))).toEqual({ ...NONE, total: 20, sent: 20 })
})

test('a message that Telegram cannot send fails at its third turn; if it can send none, the broadcast is paused', async () => {
  const at = await station({ ratePerSecond: 10, busyPausesMs: [1, 1] })
  await addNumbered(at.app, 20)
  const announcementId = await at.announce()
  at.api.behave((chatId) => (chatId === 7 ? 500 : 200))
  expect(numbers(await at.until(await at.send({ announcementId }), isOver))).toEqual({ ...NONE, total: 20, sent: 19, failed: 1 })
  expect(at.api.calls()).toBe(19 + 9)
  at.api.behave(() => 500)
  const id = await at.send({ announcementId })
  const paused = await endWaitsUntil(at, id, ({ state, failed }) => state === 'paused' || failed > 10)
  expect(paused.problem).toMatch(/^Telegram could not send \d+ messages in a row: Internal Server Error/)
})
