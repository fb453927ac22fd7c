/** Announcements without their files (§2, §3, §4, §5, §7, §8). uploads.test.ts tests the files. */
import { describe, expect, test } from 'vitest'
import { auditTrail } from '#test/audit-trail.ts'
import { addCount } from '#test/activity.ts'
import { type Client, type TestApp, testApp } from '#test/test-app.ts'

const path = '/api/announcements'
const desc = { type: 'desc', title: 'Season 2', subtitle: 'Fresh levels', description: 'Everything\nnew', reward: 250.5 }
const inputLink = {
  type: 'link',
  title: 'Retweet',
  subtitle: 'And earn',
  link: 'https://x.com/1',
  linkType: 'input',
  inputText: 'Your post',
  reward: 5,
}

const opening = async () => {
  const app = await testApp()
  return { app, admin: await app.signUp('admin') }
}

async function add(admin: Client, input: object = desc): Promise<string> {
  const answer = await admin.call('POST', path, input)
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200, body: { success: true } })
  return answer.body.id
}

const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).toSorted((a, b) => a - b)

const get = async (admin: Client, id: string) => (await admin.call('GET', `${path}/${id}`)).body
const toggle = (admin: Client, id: string, status: boolean) => admin.call('POST', `${path}/${id}/status`, { status })
const epoch = async ({ database }: TestApp) =>
  (await database.db.selectFrom('status_epoch').select('epoch').executeTakeFirstOrThrow()).epoch
const history = ({ database }: TestApp, id: string) =>
  database.db.selectFrom('history_items').selectAll().where('item_id', '=', id).execute()

test('§6 neither a guest nor a user nor a bot can see or change anything', async () => {
  const { app, admin } = await opening()
  const id = await add(admin)
  for (const [client, status] of [
    [app.guest, 401],
    [await app.signUp('user'), 403],
    [await app.bot(), 403],
  ] as const) {
    for (const [method, at, body] of [
      ['GET', path],
      ['GET', `${path}/${id}`],
      ['POST', path, desc],
      ['PUT', `${path}/${id}`, desc],
      ['POST', `${path}/${id}/status`, { status: false }],
      ['DELETE', `${path}/${id}`],
    ] as const) {
      const answer = await client.call(method, at, body)
      expect(answer.status).toBe(status)
      expect(JSON.stringify(answer.body)).not.toContain('Season')
    }
  }
  expect(await get(admin, id)).toMatchObject({ status: false, version: 1 })
})

describe('§2 the list', () => {
  test('§9 has 50 announcements a page, oldest first, with all columns and participants', async () => {
    const { app, admin } = await opening()
    const rows = Array.from({ length: 51 }, (_, n) => ({
      id: `a${n}`,
      type: 'desc' as const,
      title: `T${n}`,
      subtitle: 'S',
      reward: n,
      created_at: new Date(n),
    }))
    await app.database.db.insertInto('announcements').values(rows).execute()
    await addCount(app.database, { of: 'participants', kind: 'announcement', itemId: 'a50' }, 3)
    const first = (await admin.call('GET', path)).body
    expect(first).toMatchObject({ page: 1, pageSize: 50, pageCount: 2, total: 51 })
    expect(first.announcements[49].title).toBe('T49')
    const missing = {
      description: null,
      link: null,
      linkType: null,
      inputText: null,
      image: null,
      imageName: null,
      icon: null,
      iconName: null,
      startsAt: null,
      endsAt: null,
      maxParticipants: null,
      dailyBudget: null,
      segmentId: null,
      state: 'draft',
    }
    expect((await admin.call('GET', `${path}?page=2`)).body.announcements).toEqual([
      {
        id: 'a50',
        type: 'desc',
        title: 'T50',
        subtitle: 'S',
        reward: 50,
        status: false,
        verifiedByBot: false,
        ...missing,
        createdAt: '1970-01-01T00:00:00.050Z',
        numberOfParticipants: 3,
        version: 1,
      },
    ])
  })

  test('§8 No annoucements found!', async () => {
    const { admin } = await opening()
    expect((await admin.call('GET', path)).body).toMatchObject({
      announcements: [],
      message: 'No annoucements found!',
      pageCount: 1,
      total: 0,
    })
  })

  test('§8 Error fetching annoucements!', async () => {
    const { app, admin } = await opening()
    const { schema } = app.database.db
    await schema.alterTable('announcements').renameTo('announcements_away').execute()
    const answer = await admin.call('GET', path)
    await schema.alterTable('announcements_away').renameTo('announcements').execute()
    expect(answer).toMatchObject({
      status: 500,
      body: { success: false, message: 'Error fetching annoucements!', error: 'Error fetching annoucements!' },
    })
  })
})

describe('§5 what is stored depends on type and link type', () => {
  const everything = { ...inputLink, description: 'A description' }
  const stored = { description: null, link: null, linkType: null, inputText: null }
  test.each([
    ['desc', { ...everything, type: 'desc' }, { ...stored, description: 'A description' }],
    ['an input link', everything, { ...stored, link: 'https://x.com/1', linkType: 'input', inputText: 'Your post' }],
    ['a noInput link', { ...everything, linkType: 'noInput' }, { ...stored, link: 'https://x.com/1', linkType: 'noInput' }],
  ])('§5 %s, on create and on update from any other type; also in the history document', async (_name, input, expected) => {
    const { app, admin } = await opening()
    const id = await add(admin, input)
    expect(await get(admin, id)).toMatchObject(expected)
    for (const before of [desc, inputLink, { ...inputLink, linkType: 'noInput' }]) {
      const changed = await add(admin, before)
      expect((await admin.call('PUT', `${path}/${changed}`, { ...input, version: 1 })).body).toEqual({ success: true })
      expect(await get(admin, changed)).toMatchObject({ ...expected, version: 2 })
      const { linkType: link_type, inputText: input_text, ...same } = expected
      expect(await history(app, changed)).toMatchObject([
        { kind: 'announcement', title: 'Retweet', type: input.type, reward: 5, link_type, input_text, ...same },
      ])
    }
  })

  test.each([
    [desc, { type: undefined }, { type: 'Type is required!' }],
    [desc, { type: 'other' }, { type: 'Type is required!' }],
    [desc, { title: ' ' }, { title: 'Title is required' }],
    [desc, { subtitle: '' }, { subtitle: 'Subtitle is required' }],
    [desc, { subtitle: 'x'.repeat(61) }, { subtitle: 'Subtitle must be at most 60 characters' }],
    [desc, { reward: '' }, { reward: 'Reward is required' }],
    [desc, { reward: undefined }, { reward: 'Reward is required' }],
    [desc, { reward: -1 }, { reward: 'Reward must be 0 or more' }],
    [desc, { reward: 2 ** 54 }, { reward: 'Reward must be at most 9007199254740992' }],
    [inputLink, { link: 'nonsense' }, { link: 'Invalid URL format' }],
    [inputLink, { link: 'javascript:alert(1)' }, { link: 'Invalid URL format' }],
    [inputLink, { link: '' }, { link: 'Invalid URL format' }],
    [inputLink, { link: undefined, title: '' }, { link: 'Invalid URL format', title: 'Title is required' }],
    [inputLink, { linkType: undefined }, { linkType: 'Link Type is required' }],
    [desc, { image: '../../etc/passwd' }, { image: 'There is no such file.' }],
    [desc, { icon: 'announcements/../0000000000000_x' }, { icon: 'There is no such file.' }],
  ])('§5 %o with %o is refused', async (input, changes, fields) => {
    const { admin } = await opening()
    const id = await add(admin, input)
    for (const [method, at] of [
      ['POST', path],
      ['PUT', `${path}/${id}`],
    ] as const) {
      const answer = await admin.call(method, at, { ...input, ...changes })
      expect(answer).toMatchObject({ status: 400, body: { success: false, fields } })
      expect(answer.body.error).toBe(answer.body.message)
    }
  })

  test('§5 an empty description, an empty input text and a subtitle of 60 characters are accepted', async () => {
    const { admin } = await opening()
    const bare = await add(admin, { ...desc, description: undefined, subtitle: 'x'.repeat(60) })
    expect(await get(admin, bare)).toMatchObject({ description: null, subtitle: 'x'.repeat(60) })
    expect(await get(admin, await add(admin, { ...inputLink, inputText: '' }))).toMatchObject({
      linkType: 'input',
      inputText: null,
    })
  })

  test('§3 the form cannot set the status', async () => {
    const { admin } = await opening()
    expect((await admin.call('POST', path, { ...desc, status: true })).status).toBe(400)
  })
})

describe('§4 status', () => {
  test('§4 new and updated announcements have status false; a toggle inverts it', async () => {
    const { admin } = await opening()
    const id = await add(admin)
    expect((await toggle(admin, id, false)).body).toEqual({ success: true, message: 'Status Updated Successfuly!', status: true })
    expect(await get(admin, id)).toMatchObject({ status: true, version: 2 })
    expect((await admin.call('PUT', `${path}/${id}`, { ...desc, version: 2 })).status).toBe(200)
    expect(await get(admin, id)).toMatchObject({ status: false, version: 3 })
    await toggle(admin, id, false)
    expect((await toggle(admin, id, true)).body.status).toBe(false)
    expect((await get(admin, id)).status).toBe(false)
  })

  test('§4 activating is news for every player, deactivating is not', async () => {
    const { app, admin } = await opening()
    const id = await add(admin)
    expect(await epoch(app)).toBe(0)
    await toggle(admin, id, false)
    expect(await epoch(app)).toBe(1)
    await toggle(admin, id, true)
    expect(await epoch(app)).toBe(1)
    await toggle(admin, id, false)
    expect(await epoch(app)).toBe(2)
  })

  test('§4 if the news number cannot be raised, nothing is activated and the message is returned', async () => {
    const { app, admin } = await opening()
    const id = await add(admin)
    const { schema } = app.database.db
    await schema.alterTable('status_epoch').renameTo('status_epoch_away').execute()
    const answer = await toggle(admin, id, false)
    await schema.alterTable('status_epoch_away').renameTo('status_epoch').execute()
    expect(answer).toMatchObject({
      status: 500,
      body: { success: false, message: 'Internal Server Error!', error: 'Internal Server Error!' },
    })
    expect(await get(admin, id)).toMatchObject({ status: false, version: 1 })
  })

  test('§4 exactly one of 10 simultaneous toggles from the same status succeeds', async () => {
    const { app, admin } = await opening()
    const id = await add(admin)
    const answers = await Promise.all(Array.from({ length: 10 }, () => toggle(admin, id, false)))
    expect(statuses(answers)).toEqual([200, ...Array<number>(9).fill(409)])
    const refused = answers.find(({ status }) => status === 409)
    expect(refused?.body).toMatchObject({ code: 'STALE', error: 'Somebody else has changed the status meanwhile.' })
    expect((await get(admin, id)).status).toBe(true)
    expect(await epoch(app)).toBe(1)
  })

  test('an update that keeps an active announcement active tells nobody, and is audited as an update', async () => {
    const { app, admin } = await opening()
    const id = await add(admin)
    await toggle(admin, id, false)
    const news = () => app.database.db.selectFrom('announcements').select('news').where('id', '=', id).executeTakeFirstOrThrow()
    const before = [await epoch(app), await news()]
    const mended = { ...desc, title: 'Season Two', version: 2, staysActive: true }
    expect((await admin.call('PUT', `${path}/${id}`, mended)).body).toEqual({ success: true })
    expect(await get(admin, id)).toMatchObject({ title: 'Season Two', status: true, version: 3 })
    expect([await epoch(app), await news()]).toEqual(before)
    expect(await history(app, id)).toMatchObject([{ title: 'Season Two' }])
    const entry = (await auditTrail(app.database.db)).at(-1)
    expect(entry).toMatchObject({ action: 'announcement.update', recordId: id, detail: { version: 3 } })
    expect(entry?.changes).toEqual({ title: ['Season 2', 'Season Two'] })
    expect((await admin.call('PUT', `${path}/${id}`, { ...mended, version: 3, staysActive: false })).status).toBe(200)
    expect(await get(admin, id)).toMatchObject({ status: false, version: 4 })
    expect(await epoch(app)).toBe(1)
  })

  test('an update cannot activate: an announcement that is inactive by then is refused, with a version or without one', async () => {
    const { app, admin } = await opening()
    const id = await add(admin)
    for (const version of [1, undefined])
      expect(await admin.call('PUT', `${path}/${id}`, { ...desc, title: 'Late', version, staysActive: true })).toMatchObject({
        status: 409,
        body: { code: 'STALE', message: 'It was made In Active meanwhile.' },
      })
    expect(await get(admin, id)).toMatchObject({ title: 'Season 2', status: false, version: 1 })
    expect(await epoch(app)).toBe(0)
    expect((await admin.call('POST', path, { ...desc, staysActive: true })).status).toBe(400)
  })

  test('of updates that keep it active and deactivations at once, none leaves it active after it was deactivated', async () => {
    const { app, admin } = await opening()
    const id = await add(admin)
    await toggle(admin, id, false)
    const mend = (n: number) => admin.call('PUT', `${path}/${id}`, { ...desc, title: `T${n}`, staysActive: true })
    const answers = await Promise.all([mend(1), mend(2), toggle(admin, id, true), mend(3), mend(4), toggle(admin, id, true)])
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
    const present = await get(admin, id)
    expect(present.status).toBe(false)
    expect(present.version, 'each accepted call is one version').toBe(2 + answers.filter(({ status }) => status === 200).length)
    expect(await epoch(app)).toBe(1)
  })

  test('§8 Announcement not found', async () => {
    const { admin } = await opening()
    const missing = { status: 404, body: { success: false, message: 'Announcement not found', error: 'Announcement not found' } }
    expect(await toggle(admin, 'gone', false)).toMatchObject(missing)
    expect(await admin.call('PUT', `${path}/gone`, desc)).toMatchObject(missing)
    expect(await admin.call('GET', `${path}/gone`)).toMatchObject(missing)
    expect(await admin.call('DELETE', `${path}/gone`)).toMatchObject(missing)
  })
})

describe('§7 GET /update-users-status', () => {
  test('§6 is for admins and bots, from our own pages', async () => {
    const { app, admin } = await opening()
    const call = (client: Client, headers = {}) => client.call('GET', '/update-users-status', undefined, headers)
    expect((await call(app.guest)).status).toBe(401)
    expect((await call(await app.signUp('user'))).body).toMatchObject({
      success: 'failed',
      message: 'You are not allowed to do this.',
    })
    expect((await call(admin)).body).toEqual({ success: 'success', message: 'Status Updated Successfuly!' })
    expect((await call(await app.bot())).body.success).toBe('success')
    expect((await call(admin, { 'sec-fetch-site': 'cross-site' })).body).toMatchObject({
      success: 'failed',
      code: 'CROSS_ORIGIN',
    })
  })

  test('§7 is idempotent: a repeat notifies no player again; it covers active announcements that were never news', async () => {
    const { app, admin } = await opening()
    const bot = await app.bot()
    await toggle(admin, await add(admin), false)
    for (let n = 0; n < 3; n += 1) await bot.call('GET', '/update-users-status')
    expect(await epoch(app)).toBe(1)
    const imported = ['i1', 'i2'].map((id) => ({ id, type: 'desc' as const, title: id, subtitle: 'S', reward: 1, status: true }))
    await app.database.db.insertInto('announcements').values(imported).execute()
    await Promise.all(Array.from({ length: 5 }, () => bot.call('GET', '/update-users-status')))
    expect(await epoch(app)).toBe(3)
    const trail = await auditTrail(app.database.db, 'players.status')
    expect(trail, 'only the one that changed something').toHaveLength(1)
  })

  test('security: the audit names the site that sent a browser here, even without Sec-Fetch-Site', async () => {
    const { app, admin } = await opening()
    await app.database.db
      .insertInto('announcements')
      .values({ id: 'i1', type: 'desc', title: 'i1', subtitle: 'S', reward: 1, status: true })
      .execute()
    const headers = { ...admin.headers, referer: 'http://console.test:8080/page?secret=1' }
    expect((await app.fetch('/update-users-status', { headers }, '192.0.2.7')).status).toBe(200)
    expect(await auditTrail(app.database.db)).toMatchObject([
      { action: 'players.status', origin: 'http://console.test:8080', address: '192.0.2.7' },
    ])
  })
})

test('a stale save gets 409 and changes nothing; a toggle makes an open form stale as well', async () => {
  const { admin } = await opening()
  const id = await add(admin)
  await toggle(admin, id, false)
  expect(await admin.call('PUT', `${path}/${id}`, { ...desc, title: 'Late', version: 1 })).toMatchObject({
    status: 409,
    body: { code: 'STALE' },
  })
  expect(await get(admin, id)).toMatchObject({ title: 'Season 2', status: true })
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, n) => admin.call('PUT', `${path}/${id}`, { ...desc, title: `T${n}`, version: 2 })),
  )
  expect(statuses(answers)).toEqual([200, ...Array<number>(5).fill(409)])
})

test('§3 deleting keeps the history; every act is in the audit', async () => {
  const { app, admin } = await opening()
  const id = await add(admin)
  await toggle(admin, id, false)
  await toggle(admin, id, true)
  await admin.call('PUT', `${path}/${id}`, desc)
  expect((await admin.call('DELETE', `${path}/${id}`)).body).toEqual({ success: true })
  expect((await admin.call('GET', path)).body.total).toBe(0)
  expect(await history(app, id)).toMatchObject([{ title: 'Season 2', description: 'Everything\nnew', reward: 250.5 }])
  const trail = (await auditTrail(app.database.db)).filter(({ recordId }) => recordId === id)
  expect(trail.map(({ action }) => action)).toEqual(
    ['create', 'activate', 'deactivate', 'update', 'remove'].map((act) => `announcement.${act}`),
  )
  expect(trail.every(({ actorId: actor }) => actor === admin.id)).toBe(true)
})
