/** The schedule of announcements (design §7): what saving, the switch by hand, bulk acts, versions and copies do to it. */
import { describe, expect, test } from 'vitest'
import { auditTrail } from '#test/audit-trail.ts'
import { type Client, type TestApp, testApp } from '#test/test-app.ts'
import { download, png, upload } from '#test/test-images.ts'

const path = '/api/announcements'
const input = { type: 'desc', title: 'Season 2', subtitle: 'Fresh levels', description: 'New', reward: 10 }
const HOUR_MS = 3_600_000
const hours = (n: number) => new Date(Date.now() + n * HOUR_MS).toISOString()
const inWords = (moment: string) => `${moment.slice(0, 10)} at ${moment.slice(11, 16)} UTC`

async function opening() {
  const app = await testApp()
  return { app, admin: await app.signUp('admin') }
}

async function add(admin: Client, changes: object = {}): Promise<string> {
  const answer = await admin.call('POST', path, { ...input, ...changes })
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 })
  return answer.body.id
}

const get = async (admin: Client, id: string) => (await admin.call('GET', `${path}/${id}`)).body
const update = (admin: Client, id: string, changes: object) => admin.call('PUT', `${path}/${id}`, { ...input, ...changes })
const toggle = async (admin: Client, id: string, status: boolean) => {
  const answer = await admin.call('POST', `${path}/${id}/status`, { status })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}
const setDates = ({ database: { db } }: TestApp, id: string, columns: object) =>
  db.updateTable('announcements').set(columns).where('id', '=', id).execute()
const marks = ({ database: { db } }: TestApp, id: string) =>
  db.selectFrom('announcements').select(['start_pending', 'end_pending']).where('id', '=', id).executeTakeFirstOrThrow()
const undo = async (admin: Client, { headers }: { headers: Headers }) =>
  (await admin.call('POST', `/api/acts/${headers.get('x-request-id')}/undo`, {})).body

const UPDATED = 'Status Updated Successfuly!' // sic, §8

describe('saving', () => {
  test('design §7 a new announcement with a start is scheduled, and a save does not start it again', async () => {
    const { app, admin } = await opening()
    const startsAt = hours(-1)
    const id = await add(admin, { startsAt, endsAt: hours(1), maxParticipants: 2, dailyBudget: 20 })
    expect(await get(admin, id)).toMatchObject({ status: false, state: 'scheduled', maxParticipants: 2, dailyBudget: 20 })
    await setDates(app, id, { status: true, start_pending: false }) // as the scheduler does
    expect((await get(admin, id)).state).toBe('live')
    expect((await update(admin, id, { title: 'Saved', startsAt })).status).toBe(200)
    expect(await get(admin, id)).toMatchObject({ status: false, state: 'draft', startsAt })
    expect(await marks(app, id)).toEqual({ start_pending: false, end_pending: true })
  })

  test('design §7 an announcement that stays live cannot start later; a start that has come has taken effect', async () => {
    const { app, admin } = await opening()
    const id = await add(admin)
    await toggle(admin, id, false)
    const refused = await update(admin, id, { staysActive: true, startsAt: hours(1) })
    expect([refused.status, Object.keys(refused.body.fields)]).toEqual([400, ['startsAt']])
    expect((await update(admin, id, { staysActive: true, startsAt: hours(-1), endsAt: hours(1) })).status).toBe(200)
    expect(await get(admin, id)).toMatchObject({ status: true, state: 'live' })
    expect(await marks(app, id)).toEqual({ start_pending: false, end_pending: true })
  })
})

describe('the switch by hand wins', () => {
  test('design §7 activating before the start removes the start, and says so', async () => {
    const { app, admin } = await opening()
    const [startsAt, endsAt] = [hours(1), hours(2)]
    const id = await add(admin, { startsAt, endsAt })
    expect(await toggle(admin, id, false)).toEqual({
      success: true,
      message: UPDATED,
      status: true,
      schedule: `The start on ${inWords(startsAt)} no longer applies.`,
    })
    expect(await get(admin, id)).toMatchObject({ state: 'live', startsAt: null, endsAt })
    expect(await marks(app, id)).toEqual({ start_pending: false, end_pending: true })
    const [entry] = await auditTrail(app.database.db, 'announcement.activate')
    expect(entry?.changes).toEqual({ status: [false, true], startsAt: [startsAt, null] })
    expect(await toggle(admin, id, true)).toEqual({ success: true, message: UPDATED, status: false })
    expect(await get(admin, id)).toMatchObject({ state: 'draft', startsAt: null, endsAt })
  })

  test('design §7 activating after the end removes the end, and says so', async () => {
    const { app, admin } = await opening()
    const [startsAt, endsAt] = [hours(-2), hours(-1)]
    const id = await add(admin)
    await setDates(app, id, { starts_at: startsAt, ends_at: endsAt, end_pending: true })
    expect(await toggle(admin, id, false)).toMatchObject({ schedule: `The end on ${inWords(endsAt)} no longer applies.` })
    expect(await get(admin, id)).toMatchObject({ state: 'live', startsAt, endsAt: null })
    expect(await marks(app, id)).toEqual({ start_pending: false, end_pending: false })
  })

  test('design §7 a start that is due and that the scheduler has not reached yet does not follow the switch', async () => {
    const { app, admin } = await opening()
    const id = await add(admin, { startsAt: hours(-1) })
    expect(await toggle(admin, id, false)).not.toHaveProperty('schedule')
    expect(await marks(app, id)).toMatchObject({ start_pending: false })
    expect(await toggle(admin, id, true)).not.toHaveProperty('schedule')
    expect((await get(admin, id)).state).toBe('draft')
  })

  test('Bulk: the status of several is switched with what it does to their schedules; undone with their dates', async () => {
    const { app, admin } = await opening()
    const startsAt = hours(1)
    const ids = [await add(admin, { startsAt }), await add(admin, { startsAt }), await add(admin)]
    const setStatus = (more: object) => admin.call('POST', `${path}/status`, { target: { filter: {} }, status: true, ...more })
    const schedule = 'The starts of 2 announcements no longer apply.'
    expect((await setStatus({ dryRun: true })).body).toMatchObject({ affected: 3, schedule })
    expect((await get(admin, ids[0]!)).startsAt).toBe(startsAt)
    const done = await setStatus({ expected: 3 })
    expect(done.body).toMatchObject({ affected: 3, schedule })
    for (const id of ids) expect(await get(admin, id)).toMatchObject({ state: 'live', startsAt: null, version: 2 })
    expect(await undo(admin, done)).toMatchObject({ affected: 3 })
    expect(await Promise.all(ids.map((id) => get(admin, id)))).toMatchObject([
      { state: 'scheduled', startsAt, version: 3 },
      { state: 'scheduled', startsAt },
      { state: 'draft', startsAt: null },
    ])
    expect(await marks(app, ids[0]!)).toMatchObject({ start_pending: true })
  })
})

describe('Bulk', () => {
  test('Undo: an announcement whose end has come meanwhile does not become active again', async () => {
    const { app, admin } = await opening()
    const id = await add(admin, { endsAt: hours(1) })
    await toggle(admin, id, false)
    const off = await admin.call('POST', `${path}/${id}/status`, { status: true })
    await setDates(app, id, { ends_at: hours(-1), end_pending: false })
    expect(await undo(admin, off)).toMatchObject({
      code: 'CHANGED_SINCE',
      message: 'Nothing was undone, because this has changed since: Season 2 (its end has come).',
    })
    expect(await get(admin, id)).toMatchObject({ status: false, state: 'ended' })
  })

  test('Bulk: ending makes announcements inactive and leaves drafts; undone they are live again, which is news', async () => {
    const { app, admin } = await opening()
    const live = await add(admin)
    await toggle(admin, live, false)
    const scheduled = await add(admin, { startsAt: hours(1) })
    const draft = await add(admin)
    const news = async () =>
      (await app.database.db.selectFrom('announcements').select('news').where('id', '=', live).executeTakeFirstOrThrow()).news
    const before = await news()
    const ended = await admin.call('POST', `${path}/end`, { target: { filter: {} }, expected: 2 })
    expect(ended.body).toMatchObject({ affected: 2 })
    expect(await get(admin, live)).toMatchObject({ state: 'ended', status: false, version: 3 })
    expect(await get(admin, scheduled)).toMatchObject({ state: 'ended', startsAt: null })
    expect(await get(admin, draft)).toMatchObject({ state: 'draft', version: 1 })
    expect((await auditTrail(app.database.db, 'announcement.end')).map(({ changes }) => changes)).toContainEqual({
      status: [true, false],
      endsAt: [null, expect.any(String)],
    })
    expect(await undo(admin, ended)).toMatchObject({ affected: 2 })
    expect(await get(admin, live)).toMatchObject({ state: 'live', endsAt: null })
    expect(await get(admin, scheduled)).toMatchObject({ state: 'scheduled' })
    expect(await news()).toBeGreaterThan(before)
  })

  test('Bulk: moving dates keeps the status, and can be undone', async () => {
    const { admin } = await opening()
    const [startsAt, endsAt] = [hours(1), hours(2)]
    const id = await add(admin, { startsAt, endsAt })
    const shifted = await admin.call('POST', `${path}/shift`, { target: { ids: [id] }, minutes: 30 })
    expect(shifted.body).toMatchObject({ affected: 1, refused: 0 })
    const later = (moment: string) => new Date(Date.parse(moment) + HOUR_MS / 2).toISOString()
    expect(await get(admin, id)).toMatchObject({ startsAt: later(startsAt), endsAt: later(endsAt), state: 'scheduled' })
    expect(await undo(admin, shifted)).toMatchObject({ affected: 1 })
    expect(await get(admin, id)).toMatchObject({ startsAt, endsAt, state: 'scheduled', version: 3 })
    const early = await admin.call('POST', `${path}/shift`, { target: { ids: [id] }, minutes: -90 })
    expect(early.body).toMatchObject({ affected: 0, refusals: [{ id, reason: 'It would start in the past.' }] })
  })
})

describe('versions, trash and copies', () => {
  test('design §7 an earlier version comes back without being started', async () => {
    const { app, admin } = await opening()
    const id = await add(admin, { startsAt: hours(-1) })
    await setDates(app, id, { start_pending: false })
    await update(admin, id, { startsAt: null })
    const [{ seq }] = (await admin.call('GET', `/api/audit?recordId=${id}`)).body.entries.slice(-1)
    const restored = await admin.call('POST', `${path}/${id}/restore`, { id, seq, version: 2 })
    expect(restored.body).toMatchObject({ success: true })
    expect(await get(admin, id)).toMatchObject({ state: 'draft', startsAt: expect.any(String) })
    expect(await marks(app, id)).toEqual({ start_pending: false, end_pending: false })
  })

  test('§7 an announcement comes back from the trash scheduled, unless its start has passed', async () => {
    const { app, admin } = await opening()
    const id = await add(admin, { startsAt: hours(1), maxParticipants: 4 })
    const back = async () => {
      await admin.call('DELETE', `${path}/${id}`)
      const { records } = (await admin.call('GET', '/api/trash')).body
      expect((await admin.call('POST', '/api/trash/restore-one', { id: records[0].id })).status).toBe(200)
      return get(admin, id)
    }
    expect(await back()).toMatchObject({ state: 'scheduled', maxParticipants: 4 })
    await setDates(app, id, { starts_at: hours(-1) })
    expect(await back()).toMatchObject({ state: 'draft', maxParticipants: 4 })
  })

  test('design §7 a copy is a draft without dates, with copies of image and icon', async () => {
    const { app, admin } = await opening()
    const [image, icon] = [(await upload(app, admin, png, 'big one.png')).body.key, (await upload(app, admin, png)).body.key]
    const id = await add(admin, {
      startsAt: hours(1),
      endsAt: hours(2),
      maxParticipants: 4,
      image,
      imageName: 'big one.png',
      icon,
    })
    const { body } = await admin.call('POST', `${path}/${id}/duplicate`, {})
    const copy = await get(admin, body.id)
    expect(copy).toMatchObject({
      title: 'Season 2 (copy)',
      description: 'New',
      maxParticipants: 4,
      status: false,
      state: 'draft',
      startsAt: null,
      endsAt: null,
      imageName: 'big one.png',
      iconName: 'icon',
      version: 1,
    })
    expect([copy.image, copy.icon]).not.toContain(image)
    await admin.call('DELETE', `${path}/${id}`)
    for (const [key, original] of [
      [copy.image, image],
      [copy.icon, icon],
    ]) {
      for (const query of ['', '?size=thumb']) expect((await download(app, admin, key, query)).status, key).toBe(200)
      expect((await download(app, admin, original)).status).toBe(404)
    }
    expect((await admin.call('POST', `${path}/${id}/duplicate`, {})).body.code).toBe('ANNOUNCEMENT_NOT_FOUND')
  })
})
