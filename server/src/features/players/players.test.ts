/** Telegram Users (§2, §3, §7, §9): pages by cursors both ways, which stay stable while balances change. */
import { describe, expect, test } from 'vitest'
import { sql } from 'kysely'
import type { Player, PlayersSort } from '@arcade/contract/players/fields'
import type { Database } from '#src/db/database.ts'
import { addCount } from '#test/activity.ts'
import { type Client, testApp } from '#test/test-app.ts'
import { addPlayers } from '#test/players.ts'
import { playerEntity, sourceSql } from '#src/db/entities.ts'
import { aToZSql } from '#src/db/collations.ts'

type SeededPlayer = { user_id: number; balance?: number | string; first_name?: string | null }

async function addCountedPlayers(database: Database, players: SeededPlayer[]): Promise<void> {
  await addPlayers(database.db, players)
  await addCount(database, { of: 'players' }, players.length)
}

interface Page {
  users: Player[]
  pageSize: number
  pageCount: number
  total: number
  after: string | null
  before: string | null
}

async function pageOf(client: Client, query: Record<string, string | number>): Promise<Page> {
  const answer = await client.call(
    'GET',
    `/api/telegram-users?${new URLSearchParams(query as Record<string, string>).toString()}`,
  )
  expect(answer.status).toBe(200)
  return answer.body as Page
}

/** Reads all pages from the first one on, or from the page before a cursor. */
async function walk(
  client: Client,
  query: Record<string, string | number>,
  way: 'after' | 'before',
  from?: string,
): Promise<Page[]> {
  const pages = [await pageOf(client, from === undefined ? query : { ...query, [way]: from })]
  for (let page = pages[0]!; page[way] !== null; page = pages.at(-1)!) {
    expect(pages.length, 'pages without an end').toBeLessThan(100)
    pages.push(await pageOf(client, { ...query, [way]: page[way] }))
  }
  return pages
}

const idsOf = (pages: Page[]): number[] => pages.flatMap(({ users }) => users.map(({ userId }) => userId))

test('§6 only an admin can see players', async () => {
  const app = await testApp()
  const [user, admin, bot] = [await app.signUp('user'), await app.signUp('admin'), await app.bot()]
  for (const [client, status] of [
    [app.guest, 401],
    [user, 403],
    [bot, 403],
    [admin, 200],
  ] as const) {
    expect((await client.call('GET', '/api/telegram-users')).status).toBe(status)
  }
})

describe('§9 the first page', () => {
  test('§9 has players by balance descending, among equal ones the lower id first; §2 the page count is rounded up', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await addCountedPlayers(
      app.database,
      [3, 9, 9, 0.5, -1, 7, 9, 2].map((balance, index) => ({ user_id: 100 + index, balance })),
    )
    const page = await pageOf(admin, {})
    expect(page.users.map(({ userId, balance }) => [userId, balance])).toEqual([
      [101, 9],
      [102, 9],
      [106, 9],
      [105, 7],
      [100, 3],
    ])
    expect(page).toMatchObject({ pageSize: 5, pageCount: 2, total: 8, before: null })
    expect(await pageOf(admin, { pageSize: 25 })).toMatchObject({
      pageSize: 25,
      pageCount: 1,
      total: 8,
      after: null,
      before: null,
    })
  })

  test('§3 has all 15 fields, null for missing values', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const full = {
      userId: 2 ** 53 - 1,
      createdAt: '2026-04-24T09:39:02.138Z',
      firstName: 'Åse',
      lastName: '李',
      username: 'moon',
      twitterUsername: '@moon',
      instagramUsername: 'ig.moon',
      linkedInUsername: 'in-moon',
      discordUsername: 'åse#1',
      youtubeUsername: '@moontv',
      email: 'm@example.org',
      phoneNumber: '+62100',
      tonWalletAddress: 'UQ1',
      bscWallet: '0x1',
      balance: 100.25,
    }
    const columns = Object.entries(full).map(([key, value]) => [
      key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ])
    await addPlayers(app.database.db, [Object.fromEntries(columns) as SeededPlayer, { user_id: 7, balance: 1 }])
    const { users } = await pageOf(admin, {})
    expect(users[0]).toEqual(full)
    expect(users[1]).toEqual({ ...Object.fromEntries(Object.keys(full).map((key) => [key, null])), userId: 7, balance: 1 })
  })

  test('§2 without players is empty and is page 1 of 1', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    expect(await pageOf(admin, {})).toEqual({ users: [], pageSize: 5, pageCount: 1, total: 0, after: null, before: null })
  })
})

describe('§7 startAfter and endBefore', () => {
  const players: SeededPlayer[] = Array.from({ length: 63 }, (_, index) => ({
    user_id: 1000 + ((index * 37) % 63),
    balance: [0, 0, 0, '9007199254740991.123456789', '9007199254740991.123456788', -5.5, index][index % 7]!,
    first_name: [null, 'Anna', 'anna', 'Åse', '', '😀Sky', `P${index % 9}`][index % 7]!,
  }))

  for (const sort of ['balance', 'a-z'] as PlayersSort[]) {
    for (const pageSize of [5, 25, 50, 100]) {
      test(`§4 every player is on one page, forwards and backwards: ${sort}, ${pageSize}`, async () => {
        const app = await testApp()
        const admin = await app.signUp('admin')
        await addCountedPlayers(app.database, players)
        const order = sort === 'balance' ? sql`balance desc, user_id` : sql`${sql.raw(aToZSql('first_name'))} nulls last, user_id`
        const { rows } = await sql<{
          user_id: number
        }>`select user_id from ${sql.raw(sourceSql(playerEntity))} order by ${order}`.execute(app.database.db)
        const expected = rows.map((row) => row.user_id)

        const forwards = await walk(admin, { sort, pageSize }, 'after')
        expect(idsOf(forwards)).toEqual(expected)
        expect(forwards).toHaveLength(forwards[0]!.pageCount)
        const last = forwards.at(-1)!
        if (forwards.length === 1) return
        const backwards = (await walk(admin, { sort, pageSize }, 'before', last.before!)).toReversed()
        expect([...idsOf(backwards), ...idsOf([last])]).toEqual(expected)
        expect(backwards[0]!.before).toBeNull()
        expect(await walk(admin, { sort, pageSize }, 'after', backwards.at(-1)!.after!)).toEqual([last])
      })
    }
  }

  test('§4 while balances change, players whose balance does not change are neither skipped nor repeated', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const everyone = Array.from({ length: 300 }, (_, index) => ({ user_id: index + 1, balance: (index % 40) * 10 }))
    await addCountedPlayers(app.database, everyone)
    const isSteady = (id: number): boolean => id % 2 === 0
    let isPaging = true
    const change = (async () => {
      for (let n = 0; isPaging; n += 1)
        await sql`update balances set balance = abs(hashint8(user_id + ${n}::int) % 400)
          where user_id % 2 = 1 and hashint8(user_id - ${n}::int) % 5 = 0`.execute(app.database.db)
    })()
    const forwards = await walk(admin, { pageSize: 5 }, 'after')
    // The last page may be empty by now.
    const last = forwards.findLast(({ before }) => before !== null)!
    const backwards = await walk(admin, { pageSize: 5 }, 'before', last.before!)
    isPaging = false
    await change
    const steady = everyone.map(({ user_id }) => user_id).filter(isSteady)
    expect(
      idsOf(forwards)
        .filter(isSteady)
        .toSorted((a, b) => a - b),
    ).toEqual(steady)
    const seen = [...idsOf(backwards), ...idsOf([last])].filter(isSteady)
    expect(seen.toSorted((a, b) => a - b)).toEqual(steady)
  })

  test('§4 a cursor still works when its player is gone', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await addCountedPlayers(
      app.database,
      Array.from({ length: 12 }, (_, index) => ({ user_id: index + 1, balance: 100 - index })),
    )
    const { after } = await pageOf(admin, {})
    await app.database.db.deleteFrom('telegram_users').where('user_id', '=', 5).execute()
    expect(idsOf([await pageOf(admin, { after: after! })])).toEqual([6, 7, 8, 9, 10])
  })
})

describe('security: bad input', () => {
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const cursors = [
    'x',
    '',
    'null',
    encode(null),
    encode({}),
    encode([]),
    encode(['telegramUsers:balance']),
    encode(['telegramUsers:a-z', 'anna', 1]),
    encode(['balance', '1', 1]),
    encode(['telegramUsers:balance', '1']),
    encode(['telegramUsers:balance', 1, 1]),
    encode(['telegramUsers:balance', null, 1]),
    encode(['telegramUsers:balance', 'NaN', 1]),
    encode(['telegramUsers:balance', '1', '1']),
    encode(['telegramUsers:balance', '1', 1.5]),
    encode(['telegramUsers:balance', '1', 2 ** 60]),
    encode(['telegramUsers:balance', '1', 1, 2]),
    encode(['telegramUsers:balance', '9'.repeat(99), 1]),
    encode(['telegramUsers:balance', '1); drop table users', 1]),
    'a'.repeat(9e3),
  ]

  test('security: invalid cursors are refused with 400', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await addCountedPlayers(app.database, [{ user_id: 1 }])
    for (const cursor of cursors) {
      for (const parameter of ['after', 'before']) {
        const answer = await admin.call('GET', `/api/telegram-users?${parameter}=${encodeURIComponent(cursor)}`)
        expect(answer, cursor).toMatchObject({ status: 400, body: { success: false, code: 'INVALID_INPUT' } })
      }
    }
    for (const name of ['\0', '\ud800', 5, ['a']]) {
      const answer = await admin.call('GET', `/api/telegram-users?sort=a-z&after=${encode(['telegramUsers:a-z', name, 1])}`)
      expect(answer.status).toBe(400)
    }
  })

  test('security: other sizes, sorts, fields, and both cursors at once are refused with 400', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const cursor = encode(['telegramUsers:balance', '1', 1])
    for (const query of [
      'pageSize=6',
      'pageSize=1e9',
      'pageSize=',
      'sort=email',
      'sort=balance&sort=a-z',
      'page=2',
      `after=${cursor}&before=${cursor}`,
    ]) {
      expect((await admin.call('GET', `/api/telegram-users?${query}`)).status, query).toBe(400)
    }
  })
})
