/** History (§2, §3, §7): titles, details, participants paged both ways by cursors, POST /download-history. */
import { describe, expect, test } from 'vitest'
import { sql } from 'kysely'
import type { Database } from '#src/db/database.ts'
import type { HistoryKind, HistoryParticipant } from '@arcade/contract/history/fields'
import { auditTrail } from '#test/audit-trail.ts'
import { addCount } from '#test/activity.ts'
import { readSheets } from '#test/read-sheets.ts'
import { type Client, testApp } from '#test/test-app.ts'

const MOMENT = Date.UTC(2026, 4, 5, 17, 20)
const twitter = {
  kind: 'social' as HistoryKind,
  item_id: 'so1',
  title: 'Follow us',
  type: 'twitter',
  link: 'https://x.com/a',
  reward: 100.5,
}

async function addItem(
  { db }: Database,
  given: Partial<typeof twitter> & { created_at?: string; description?: string } = {},
): Promise<void> {
  await db
    .insertInto('history_items')
    .values({ ...twitter, ...given })
    .execute()
}

type SeededParticipant = {
  user_id: number
  at?: string | Date
  period?: string
  username?: string
  first_name?: string
  last_name?: string
  user_input?: string
}

async function addParticipants(
  database: Database,
  participants: SeededParticipant[],
  item: { kind: HistoryKind; item_id: string } = twitter,
): Promise<void> {
  const { kind, item_id } = item
  for (let at = 0; at < participants.length; at += 1000) {
    await database.db
      .insertInto('participations')
      .values(participants.slice(at, at + 1000).map((given) => ({ kind, item_id, at: new Date(MOMENT), ...given })))
      .execute()
  }
  await addCount(database, { of: 'participants', kind, itemId: item_id }, participants.length)
}

interface Page {
  participants: HistoryParticipant[]
  pageSize: number
  pageCount: number
  total: number
  after: string | null
  before: string | null
}

const PARTICIPANTS = '/api/history/social/so1/participants'

async function walk(client: Client, way: 'after' | 'before', from?: string): Promise<Page[]> {
  const read = async (cursor?: string): Promise<Page> =>
    (await client.call('GET', PARTICIPANTS + (cursor === undefined ? '' : `?${way}=${cursor}`))).body as Page
  const pages = [await read(from)]
  for (let page = pages[0]!; page[way] !== null; page = pages.at(-1)!) {
    expect(pages.length, 'pages without an end').toBeLessThan(100)
    pages.push(await read(page[way]))
  }
  return pages
}

test('§6 only an admin can see history', async () => {
  const app = await testApp()
  const [user, admin, bot] = [await app.signUp('user'), await app.signUp('admin'), await app.bot()]
  await addItem(app.database)
  for (const [client, status] of [
    [app.guest, 401],
    [user, 403],
    [bot, 403],
    [admin, 200],
  ] as const) {
    for (const path of ['/api/history/social', '/api/history/social/so1', PARTICIPANTS])
      expect((await client.call('GET', path)).status).toBe(status)
    expect((await client.call('POST', '/download-history', { data: { kind: 'social', id: 'so1' } })).status).toBe(status)
  }
})

describe('§2 the titles of a tab', () => {
  test('§2 are those of its collection, newest first', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await addItem(app.database, { item_id: 'b', title: 'Old', created_at: '2026-01-01' })
    await addItem(app.database, { item_id: 'a', title: 'New', created_at: '2026-01-02' })
    await addCount(app.database, { of: 'participants', kind: 'social', itemId: 'b' }, 2)
    await sql`insert into tasks (collection, id, priority, image, title, reward)
      values ('social', 'b', 1, 'twitter', 'Old', 1), ('daily', 'a', 1, 'twitter', 'Daily', 1)`.execute(app.database.db)
    await addItem(app.database, { kind: 'daily', item_id: 'a', title: 'Daily', created_at: '2026-01-02' })
    expect((await admin.call('GET', '/api/history/social')).body).toEqual({
      items: [
        { id: 'a', title: 'New', participants: 0, createdAt: '2026-01-02T00:00:00.000Z', isDeleted: true },
        { id: 'b', title: 'Old', participants: 2, createdAt: '2026-01-01T00:00:00.000Z', isDeleted: false },
      ],
    })
    expect((await admin.call('GET', '/api/history/daily')).body.items).toHaveLength(1)
    expect((await admin.call('GET', '/api/history/announcement')).body).toEqual({ items: [] })
    expect((await admin.call('GET', '/api/history/users')).status).toBe(400)
  })
})

describe('§3 the detail', () => {
  test('§3 has title, type, link type, link, description, input text, reward and the number of participants', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await addItem(app.database)
    await addParticipants(app.database, [{ user_id: 1 }, { user_id: 2 }])
    expect((await admin.call('GET', '/api/history/social/so1')).body).toEqual({
      kind: 'social',
      id: 'so1',
      title: 'Follow us',
      type: 'twitter',
      link: 'https://x.com/a',
      reward: 100.5,
      linkType: null,
      description: null,
      inputText: null,
      participants: 2,
    })
  })

  test('is 404 for an unknown item', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await addItem(app.database)
    for (const path of ['/api/history/daily/so1', '/api/history/social/x', '/api/history/social/x/participants']) {
      expect(await admin.call('GET', path)).toMatchObject({ status: 404, body: { code: 'NO_SUCH_HISTORY' } })
    }
  })
})

describe('§2 the participants', () => {
  test('§3 have id, username, first_name, last_name, userInput and a timestamp; missing values are null', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await addItem(app.database)
    const full = { username: 'neo', first_name: 'Åse', last_name: '李', user_input: '=1+1' }
    await addParticipants(app.database, [
      { user_id: 2, ...full },
      { user_id: 1, at: '2026-05-05T17:19:00.5Z' },
    ])
    const none = { username: null, first_name: null, last_name: null, userInput: null }
    const { user_input: userInput, ...names } = full
    expect((await admin.call('GET', PARTICIPANTS)).body).toEqual({
      participants: [
        { id: 2, ...names, userInput, hasFromBefore: false, timestamp: '2026-05-05T17:20:00.000Z' },
        { id: 1, ...none, hasFromBefore: false, timestamp: '2026-05-05T17:19:00.500Z' },
      ],
      pageSize: 50,
      pageCount: 1,
      total: 2,
      after: null,
      before: null,
    })
  })

  test('§2 of an item without participants are an empty page 1 of 1', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await addItem(app.database)
    expect((await admin.call('GET', PARTICIPANTS)).body).toEqual({
      participants: [],
      pageSize: 50,
      pageCount: 1,
      total: 0,
      after: null,
      before: null,
    })
  })

  test('§9 are all reachable forwards and backwards, 50 a page, newest first, even if many have the same time', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await addItem(app.database)
    const social = Array.from({ length: 160 }, (_, index) => ({
      user_id: 500 - index,
      at: `2026-05-05T17:20:00.00000${index % 3}Z`,
    }))
    const daily = [1, 2, 3].map((day) => ({ user_id: 500, at: '2026-05-05T17:20:00.000001Z', period: `2026-05-0${day}` }))
    await addParticipants(app.database, [...social, ...daily])
    await addParticipants(app.database, [{ user_id: 9 }], { kind: 'daily', item_id: 'so1' })
    const { rows } = await sql<{ id: number }>`
      select user_id as id from participations where kind = 'social' order by at desc, user_id, period`.execute(app.database.db)
    const idsOf = (pages: Page[]): number[] => pages.flatMap((page) => page.participants.map(({ id }) => id))

    const forwards = await walk(admin, 'after')
    expect(forwards.map((page) => page.participants.length)).toEqual([50, 50, 50, 13])
    expect(forwards[0]).toMatchObject({ pageCount: 4, total: 163, before: null })
    expect(idsOf(forwards)).toEqual(rows.map(({ id }) => id))
    const backwards = await walk(admin, 'before', forwards.at(-1)!.before!)
    expect(backwards.toReversed().map((page) => page.participants)).toEqual(forwards.slice(0, 3).map((page) => page.participants))
  })

  test('§4 keep their places while others are added', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await addItem(app.database)
    await addParticipants(
      app.database,
      Array.from({ length: 120 }, (_, index) => ({ user_id: index + 1, at: new Date(MOMENT - index * 1000) })),
    )
    const [first] = await walk(admin, 'after')
    await addParticipants(
      app.database,
      Array.from({ length: 70 }, (_, index) => ({ user_id: 1000 + index, at: new Date(MOMENT + 1000) })),
    )
    const [second] = await walk(admin, 'after', first!.after!)
    expect(second!.participants.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, index) => index + 51))
    expect(second).toMatchObject({ total: 190, pageCount: 4 })
  })

  test('security: cursors of another item are refused with 400', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await addItem(app.database)
    const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    const cursors = [
      ['social:other', '1', 1, ''],
      ['social:so1', 'x', 1, ''],
      ['social:so1', '1', '1', ''],
      ['social:so1', '1', 1],
      ['social:so1', '1', 1, '\0'],
    ]
    for (const cursor of [
      ...cursors.map(encode),
      'x',
      encode(['social:so1', '1.5', 1, '']),
      encode(['social:so1', '9'.repeat(30), 1, '']),
    ]) {
      expect(await admin.call('GET', `${PARTICIPANTS}?after=${cursor}`), cursor).toMatchObject({
        status: 400,
        body: { code: 'INVALID_INPUT' },
      })
    }
  })
})

describe('§7 POST /download-history', () => {
  const header = [
    'ID',
    'Username',
    'First Name',
    'Last Name',
    'User Input',
    'Timestamp (UTC)',
    'Title',
    'Type',
    'Link Type',
    'Link',
    'Description',
    'Input Text',
    'Reward',
  ]

  test('§7 with kind and id has the details and all participants from the database, more than one page of them', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await addItem(app.database)
    await addParticipants(
      app.database,
      Array.from({ length: 2345 }, (_, index) => ({
        user_id: index + 1,
        at: new Date(MOMENT - index * 1000),
        user_input: '=HYPERLINK("x")',
      })),
    )
    const posted = {
      type: 'forged',
      title: 'forged',
      reward: 9,
      users: [{ id: 66, username: 'forged' }],
      kind: 'social',
      id: 'so1',
    }
    const answer = await admin.call('POST', '/download-history', { data: posted })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="data.xlsx"')
    expect(answer.headers.get('x-row-count')).toBe('2345')
    const [rows] = Object.values(readSheets(answer.body))
    expect(rows).toHaveLength(2346)
    expect(rows![0]).toEqual(header)
    expect(rows![1]).toEqual([
      1,
      undefined,
      undefined,
      undefined,
      `'=HYPERLINK("x")`,
      new Date(MOMENT),
      'Follow us',
      'twitter',
      undefined,
      'https://x.com/a',
      undefined,
      undefined,
      100.5,
    ])
    expect(rows!.slice(1).map(([id]) => id)).toEqual(Array.from({ length: 2345 }, (_, index) => index + 1))
  })

  test('§7 without kind and id writes the posted users', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const users = [
      { id: '100001793', first_name: 'Åse', timestamp: '2026-05-05T17:20:00Z' },
      { id: 'abc', username: '+cmd', userInput: 5, timestamp: null, unknown: true },
    ]
    const answer = await admin.call('POST', '/download-history', {
      data: { type: 'input', title: 'T', link: 'https://a.b', linkType: 'input', inputText: 'I', reward: '5', users },
    })
    expect(answer.headers.get('x-row-count')).toBe('2')
    const [rows] = Object.values(readSheets(answer.body))
    expect(rows![1]).toEqual([
      100001793,
      undefined,
      'Åse',
      undefined,
      undefined,
      new Date(MOMENT),
      'T',
      'input',
      'input',
      'https://a.b',
      undefined,
      'I',
      5,
    ])
    expect(rows![2]!.slice(0, 5)).toEqual(['abc', `'+cmd`, undefined, undefined, '5'])
  })

  test('§7 without participants still has the details', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await addItem(app.database, { description: 'Text' })
    const answer = await admin.call('POST', '/download-history', { data: { kind: 'social', id: 'so1' } })
    expect(answer.headers.get('x-row-count')).toBe('0')
    expect(Object.values(readSheets(answer.body))[0]![1]!.slice(6)).toEqual([
      'Follow us',
      'twitter',
      undefined,
      'https://x.com/a',
      'Text',
      undefined,
      100.5,
    ])
  })

  test('§7 a failure gets status failed and a message', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const post = (body: unknown) => admin.call('POST', '/download-history', body)
    expect(await post({ data: { kind: 'social', id: 'x' } })).toMatchObject({
      status: 404,
      body: { status: 'failed', message: 'This item has no history.' },
    })
    expect(await auditTrail(app.database.db, 'export'), 'nothing was downloaded').toEqual([])
    const users = Array.from({ length: 10_001 }, (_, id) => ({ id }))
    expect(await post({ data: { users } })).toMatchObject({
      status: 400,
      body: { status: 'failed', message: expect.stringContaining('At most 10000 users') },
    })
    expect((await post({ data: { users: users.slice(1) } })).status).toBe(200)
    for (const body of [
      {},
      { data: [] },
      { data: { kind: 'social' } },
      { data: { kind: 'x', id: 'x' } },
      { data: { users: 5 } },
      { data: {}, exportId: 'x' },
    ]) {
      expect(await post(body)).toMatchObject({ status: 400, body: { status: 'failed', message: expect.any(String) } })
    }
    expect(await post({ data: { title: 'x'.repeat(9 * 2 ** 20) } })).toMatchObject({ status: 413, body: { status: 'failed' } })
  })
})
