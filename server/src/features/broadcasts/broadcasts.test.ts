/** Broadcasts: who gets the message, what becomes of each recipient, and what operators can do meanwhile. */
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import type { Broadcast } from '@arcade/contract/broadcasts/calls'
import { OUTCOMES } from '#src/broadcasts/outcomes.ts'
import { diskStore } from '#src/files/disk.ts'
import { addNumbered, isOver, NONE, numbers, outcomesOf, station, type Station } from '#test/broadcasts.ts'
import { addPlayers } from '#test/players.ts'
import { type Behaviour, RETRY_AFTER_SECONDS } from '#test/telegram.ts'
import { png, upload } from '#test/test-images.ts'

const playersOf = ({ api }: Station) => api.sent.map(({ chatId }) => chatId).toSorted((a, b) => a - b)
const numbersFrom = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)
const isSent =
  (count: number) =>
  ({ sent }: Broadcast) =>
    sent >= count

test('everybody gets the message of the preview once, and the audit tells', async () => {
  const at = await station({ miniAppUrl: 'https://game.example.org' })
  await addNumbered(at.app, 250)
  const announcementId = await at.announce({ description: 'All day' })
  const id = await at.send({ announcementId })
  expect(await at.read(id)).toMatchObject({ state: 'scheduled', ...NONE, isPlanned: false, title: 'News' })
  const done = await at.until(id, isOver)
  expect(done).toMatchObject({ state: 'done', ...NONE, total: 250, sent: 250, isPlanned: true, madeBy: 'Test Person' })
  expect(playersOf(at)).toEqual(numbersFrom(1, 250))
  expect(at.api.sent[0]).toMatchObject({
    method: 'sendMessage',
    fields: {
      text: 'News\nToday\nAll day\nReward: 5',
      entities: [{ type: 'bold', offset: 0, length: 4 }],
      reply_markup: {
        inline_keyboard: [
          [{ text: 'Claim', web_app: { url: 'https://game.example.org' } }],
          [{ text: 'Stop messages', callback_data: 'arcade:stop' }],
        ],
      },
    },
  })
  const { body } = await at.admin.call('GET', `/api/audit?recordId=${id}`)
  expect(body.entries.map(({ action }: { action: string }) => action)).toEqual([
    'broadcast.finish',
    'broadcast.start',
    'broadcast.create',
  ])
  const { body: list } = await at.admin.call('GET', '/api/broadcasts')
  expect(list).toMatchObject({ total: 1, page: 1, broadcasts: [{ id, sent: 250 }] })
})

test('a filter chooses players; those who are blocked, opted out or unreachable are skipped with their reason', async () => {
  const at = await station()
  await addNumbered(at.app, 20)
  const { db } = at.app.database
  await sql`update balances set balance = 10 where user_id <= 10`.execute(db)
  await sql`update balances set blocked_at = now(), block_reason = 'spam' where user_id = 1`.execute(db)
  await sql`insert into player_messages (user_id, opted_out_at, unreachable_at) values (2, now(), null), (3, null, now())`.execute(
    db,
  )
  const filter = { balanceMin: 10 }
  const { body: plan } = await at.admin.call('POST', '/api/broadcasts/plan', { filter })
  expect(plan).toEqual({ recipients: 7, isApproximate: false, held: 0, skipped: 3, minutes: 1 })
  const id = await at.send({ announcementId: await at.announce(), filter })
  const done = await at.until(id, isOver)
  expect(done).toMatchObject({
    ...NONE,
    total: 10,
    sent: 7,
    skipped: 3,
    filter,
    skippedFor: { blocked: 1, optedOut: 1, unreachable: 1, erased: 0, cap: 0, ended: 0, cancelled: 0 },
  })
  expect(playersOf(at)).toEqual(numbersFrom(4, 10))
  const { body } = await at.admin.call('GET', `/api/broadcasts/${id}/recipients?outcome=skipped`)
  expect(body).toMatchObject({
    after: null,
    recipients: [
      { userId: 1, name: 'Player 1', outcome: 'skipped', reason: 'The player is blocked' },
      { userId: 2, reason: 'The player wants no messages' },
      { userId: 3, reason: 'Telegram refused an earlier message' },
    ],
  })
})

test('who opts out or is blocked after planning is asked for again before the chunk is sent', async () => {
  const at = await station()
  await addNumbered(at.app, 150)
  const { db } = at.app.database
  const id = await at.send({ announcementId: await at.announce(), sendAt: '2020-01-01T00:00:00Z' })
  await sql`insert into telegram_pace (waiting_since, waiting_until, reason) values (now(), now() + interval '1 hour', 'telegram')`.execute(
    db,
  )
  const planned = await at.until(id, ({ isPlanned }) => isPlanned)
  expect(planned).toMatchObject({ state: 'waiting', waitingFor: 'telegram', ...NONE, total: 150, pending: 150 })
  await sql`insert into player_messages (user_id, opted_out_at) values (120, now())`.execute(db)
  await sql`update balances set blocked_at = now(), block_reason = 'spam' where user_id = 7`.execute(db)
  await at.admin.call('POST', '/api/telegram-users/9/erase', { userId: 9, confirmation: 9 })
  await sql`update telegram_pace set waiting_until = now()`.execute(db)
  const done = await at.until(id, isOver)
  expect(done).toMatchObject({ ...NONE, total: 150, sent: 147, skipped: 3, skippedFor: { blocked: 1, optedOut: 1, erased: 1 } })
})

test('a tenth held back gets nothing, at random, and is counted', async () => {
  const at = await station()
  await addNumbered(at.app, 300)
  const { body: plan } = await at.admin.call('POST', '/api/broadcasts/plan', { holdBack: 10 })
  expect(plan).toMatchObject({ recipients: 270, held: 30, smallestDifference: expect.closeTo(0.2253, 3) })
  const announcementId = await at.announce()
  const held: number[][] = []
  for (const _ of ['one', 'other']) {
    const id = await at.send({ announcementId, holdBack: 10 })
    const done = await at.until(id, isOver)
    expect(done.held + done.sent).toBe(300)
    expect(done.held).toBeGreaterThan(8)
    expect(done.held).toBeLessThan(62)
    held.push([...(await outcomesOf(at.app, id))].filter(([, outcome]) => outcome === OUTCOMES.held).map(([userId]) => userId))
  }
  expect(held[0]).not.toEqual(held[1])
  expect(at.api.sent).toHaveLength(600 - held.flat().length)
})

test('each answer of Telegram has its outcome; refused players are left out next time', async () => {
  const at = await station()
  await addNumbered(at.app, 6)
  const answers: Record<number, Behaviour> = {
    1: 403,
    2: { status: 403, body: { ok: false, description: 'Forbidden: user is deactivated' } },
    3: { status: 400, body: { ok: false, description: 'Bad Request: chat not found' } },
    4: 400,
    5: 502,
  }
  at.api.behave((chatId) => answers[chatId] ?? 200)
  const announcementId = await at.announce()
  const first = await at.until(await at.send({ announcementId }), isOver)
  expect(first).toMatchObject({ ...NONE, total: 6, sent: 1, refused: 3, failed: 1, unknown: 1, blocksPerThousand: 500 })
  expect(first.refusedFor).toEqual({ blocked: 1, deactivated: 1, notFound: 1 })
  at.api.behave(() => 200)
  const second = await at.until(await at.send({ announcementId }), isOver)
  expect(second).toMatchObject({ ...NONE, total: 6, sent: 3, skipped: 3, skippedFor: { unreachable: 3 } })
})

test.each<Behaviour>(['drop', 'close', 'hang'])(
  'an answer that is lost (%s) is unknown: it is sent again only by an operator',
  async (lost) => {
    // Only the hanging answers wait for the timeout. It is long enough for the other answers on a busy machine.
    const at = await station({ timeoutMs: 5000 })
    await addNumbered(at.app, 120)
    at.api.behave((chatId) => (chatId === 7 || chatId === 110 ? lost : 200))
    const id = await at.send({ announcementId: await at.announce() })
    const done = await at.until(id, isOver)
    expect(numbers(done)).toEqual({ ...NONE, total: 120, sent: 118, unknown: 2 })
    const { body } = await at.admin.call('GET', `/api/broadcasts/${id}/recipients?outcome=unknown`)
    expect(body.recipients.map(({ userId }: { userId: number }) => userId)).toEqual([7, 110])
    const before = at.api.calls()
    await at.app.broadcasts.run()
    expect(at.api.calls()).toBe(before)
    at.api.behave(() => 200)
    expect(await at.act(id, 'resend-unknown')).toMatchObject({ status: 200, body: { affected: 2 } })
    expect(numbers(await at.until(id, isOver))).toEqual({ ...NONE, total: 120, sent: 120 })
    expect(at.api.calls()).toBe(before + 2)
    expect(await at.act(id, 'resend-unknown')).toMatchObject({ body: { affected: 0 } })
    expect((await at.read(id)).state).toBe('done')
  },
)

test('429: everybody waits until the time that Telegram names, and the message is sent after it', async () => {
  const at = await station()
  await addNumbered(at.app, 30)
  let limited = 0
  at.api.behave((_chatId, call) => {
    if (call !== 10) return 200
    limited = performance.now()
    return 429
  })
  const id = await at.send({ announcementId: await at.announce() })
  const waiting = await at.until(id, ({ state }) => state === 'waiting')
  expect(waiting.waitingFor).toBe('telegram')
  expect(Date.parse(waiting.waitingUntil!)).toBeGreaterThan(Date.now() - 100)
  const callsMeanwhile = at.api.calls()
  const done = await at.until(id, isOver)
  expect(performance.now() - limited).toBeGreaterThanOrEqual(RETRY_AFTER_SECONDS * 1000 - 50)
  expect(numbers(done)).toEqual({ ...NONE, total: 30, sent: 30 })
  expect(at.api.calls()).toBe(31)
  expect(callsMeanwhile).toBeLessThan(31)
})

test('seconds after it began, the time when it is done is expected by its pace, not as if a whole minute had passed', async () => {
  const at = await station({ ratePerSecond: 20 })
  await addNumbered(at.app, 120)
  const id = await at.send({ announcementId: await at.announce() })
  const { pending, expectedAt, perMinute } = await at.until(id, (one) => isSent(40)(one) && one.expectedAt !== undefined)
  expect(perMinute).toBeGreaterThanOrEqual(40)
  const secondsLeft = (Date.parse(expectedAt ?? '') - Date.now()) / 1000
  expect(secondsLeft).toBeGreaterThan(0)
  expect(secondsLeft).toBeLessThan((pending / perMinute) * 60 * 0.7) // 40 of a minute that has not passed would take that long
  await at.act(id, 'cancel')
})

test('pausing stops at once, resuming goes on, and cancelling skips the others', async () => {
  const at = await station({ ratePerSecond: 100 })
  await addNumbered(at.app, 1000)
  const id = await at.send({ announcementId: await at.announce() })
  await at.until(id, isSent(5))
  expect((await at.act(id, 'pause')).status).toBe(200)
  expect((await at.act(id, 'pause')).status).toBe(200)
  await at.until(id, ({ perMinute }) => perMinute >= 0)
  const paused = await at.until(id, ({ pending, sent }) => pending + sent === 1000)
  expect(paused.state).toBe('paused')
  const calls = at.api.calls()
  await at.app.broadcasts.run()
  await at.app.broadcasts.run()
  expect(at.api.calls()).toBeLessThanOrEqual(calls + 32)
  expect((await at.act(id, 'resume')).status).toBe(200)
  await at.until(id, isSent(paused.sent + 40))
  expect((await at.act(id, 'cancel')).status).toBe(200)
  await at.until(id, ({ pending }) => pending === 0)
  // Workers whose turn was given before the cancellation still send their message. They are waited for before messages are counted.
  await at.app.broadcasts.stop()
  const cancelled = await at.read(id)
  expect(cancelled.pending).toBe(0)
  expect(cancelled).toMatchObject({ state: 'cancelled', total: 1000, unknown: 0, failed: 0 })
  expect(cancelled.sent + cancelled.skippedFor.cancelled).toBe(1000)
  expect(at.api.sent).toHaveLength(cancelled.sent)
  for (const what of ['pause', 'resume', 'cancel'] as const)
    expect(await at.act(id, what)).toMatchObject({ status: 409, body: { code: 'BROADCAST_OVER' } })
  const { body } = await at.admin.call('GET', `/api/broadcasts/${id}/recipients?outcome=skipped`)
  expect(body.recipients).toHaveLength(50)
  expect(body.recipients[0].reason).toBe('The broadcast was cancelled before it was the player’s turn')
  const { body: next } = await at.admin.call('GET', `/api/broadcasts/${id}/recipients?outcome=skipped&after=${body.after}`)
  expect(next.recipients[0].userId).toBe(body.recipients[49].userId + 1)
})

test('an image is uploaded with the first message, and named in the others', async () => {
  const at = await station({ ratePerSecond: 5 })
  await addNumbered(at.app, 4)
  const { key, name } = (await upload(at.app, at.admin, png)).body
  const announcementId = await at.announce({ image: key, imageName: name })
  const done = await at.until(await at.send({ announcementId }), isOver)
  expect(done.sent).toBe(4)
  expect(at.api.sent.map(({ method }) => method)).toEqual(Array(4).fill('sendPhoto'))
  expect(at.api.sent[0]!.photoBytes).toBeGreaterThan(50)
  expect(at.api.sent[3]).toMatchObject({
    photoBytes: undefined,
    fields: { photo: 'photo-of-the-tests', caption: expect.any(String) },
  })
})

test('an image that was gone, or could not be read for a while, is sent when the broadcast is resumed', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'arcade-broadcast-image-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const at = await station({}, { fileStore: diskStore(directory) })
  await addNumbered(at.app, 2)
  const { key, name } = (await upload(at.app, at.admin, png)).body
  const id = await at.send({ announcementId: await at.announce({ image: key, imageName: name }) })
  await rename(join(directory, key), join(directory, 'elsewhere'))
  const paused = await at.until(id, ({ state }) => state === 'paused')
  expect(paused).toMatchObject({ problem: 'The image of the announcement is not there any more.', sent: 0 })
  await mkdir(join(directory, key)) // what is there cannot be read
  await at.act(id, 'resume')
  const unreadable = await at.until(
    id,
    ({ state, problem }) => state === 'paused' && problem?.includes('cannot be read') === true,
  )
  expect(unreadable.sent).toBe(0)
  await rm(join(directory, key), { recursive: true })
  await rename(join(directory, 'elsewhere'), join(directory, key))
  await at.act(id, 'resume')
  expect(await at.until(id, isOver)).toMatchObject({ state: 'done', sent: 2 })
})

test('a broadcast whose recipients cannot be chosen holds up no other', async () => {
  const at = await station()
  await addNumbered(at.app, 2)
  const announcementId = await at.announce()
  const [first, second] = [await at.send({ announcementId }), await at.send({ announcementId })]
  const { db } = at.app.database
  await sql`update broadcasts set filter = '{"search": 1}' where id = ${first}`.execute(db)
  expect(await at.until(second, isOver)).toMatchObject({ state: 'done', sent: 2 })
  await sql`update broadcasts set filter = '{}' where id = ${first}`.execute(db)
  expect(await at.until(first, isOver)).toMatchObject({ state: 'done', sent: 2 })
})

test('paid sending stays within the Stars that were confirmed, and tells what it has cost', async () => {
  const at = await station()
  await addNumbered(at.app, 10)
  const announcementId = await at.announce()
  const id = await at.send({ announcementId, paid: { starsEach: 0.5, most: 5 } })
  expect(await at.until(id, isOver)).toMatchObject({ sent: 10, starsSpent: 5, paid: { starsEach: 0.5, most: 5 } })
  expect(at.api.sent[0]!.fields['allow_paid_broadcast']).toBe(true)
  const tooDear = await at.until(await at.send({ announcementId, paid: { starsEach: 0.5, most: 4.5 } }), isOver)
  expect(tooDear).toMatchObject({ state: 'cancelled', sent: 0, starsSpent: 0 })
  expect(tooDear.problem).toBe('10 messages would cost 5 Stars, more than the 4.5 that were confirmed.')
  // 3 * 0.1 > 0.3 in binary fractions.
  const filter = { search: 'Player 3' }
  await addPlayers(at.app.database.db, [
    { user_id: 30, first_name: 'Player 3' },
    { user_id: 31, first_name: 'Player 3' },
  ])
  const exact = await at.until(await at.send({ announcementId, filter, paid: { starsEach: 0.1, most: 0.3 } }), isOver)
  expect(exact).toMatchObject({ state: 'done', sent: 3, starsSpent: 0.3 })
})

test('what cannot be sent is refused, and the reason is told', async () => {
  const off = await station({ botToken: undefined })
  const announcementId = await off.announce()
  expect(await off.admin.call('POST', '/api/broadcasts', { announcementId })).toMatchObject({
    status: 409,
    body: { code: 'TELEGRAM_OFF' },
  })
  const at = await station()
  const refused = async (input: object) => (await at.admin.call('POST', '/api/broadcasts', input)).body.code
  expect(await refused({ announcementId: 'none' })).toBe('ANNOUNCEMENT_NOT_FOUND')
  expect(await refused({ announcementId, endsAt: '2020-01-01T00:00:00Z' })).toBe('INVALID_INPUT')
  for (const sendAt of ['0000-01-01T00:00:00Z', '1999-12-31T23:59:59Z', '9999-12-31T23:59:59-12:00'])
    expect(await refused({ announcementId, sendAt }), sendAt).toBe('INVALID_INPUT')
  expect(await refused({ announcementId, holdBack: 21 })).toBe('INVALID_INPUT')
  expect(await refused({ announcementId, filter: { nonsense: 1 } })).toBe('INVALID_INPUT')
  const long = await at.announce({ description: 'x'.repeat(4090) })
  expect(await refused({ announcementId: long })).toBe('MESSAGE_TOO_LONG')
  expect(await at.act('none', 'pause')).toMatchObject({ status: 404, body: { code: 'NO_SUCH_BROADCAST' } })
  const id = await at.send({ announcementId, sendAt: '2099-12-31T00:00:00Z' })
  await at.admin.call('DELETE', `/api/announcements/${announcementId}`)
  await sql`update broadcasts set send_at = now() where id = ${id}`.execute(at.app.database.db)
  expect(await at.until(id, isOver)).toMatchObject({
    state: 'cancelled',
    problem: 'The announcement was deleted before its time.',
  })
})

test('while a restored backup waits, nothing is sent', async () => {
  const at = await station()
  await addNumbered(at.app, 3)
  await sql`insert into scheduled_work_pauses (reason) values ('restored')`.execute(at.app.database.db)
  const id = await at.send({ announcementId: await at.announce() })
  await at.app.broadcasts.run()
  expect((await at.read(id)).state).toBe('scheduled')
})
