/** The game's calls (design §8): who can read which player, writing players, tasks and announcements, news (design §7). */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { pino } from 'pino'
import { readCounters } from '#src/counters/counters.ts'
import { signInitData } from '#test/init-data.ts'
import { testApp, type TestApp } from '#test/test-app.ts'
import { countDeadlocks, openAgain } from '#test/test-database.ts'

const nothing = {
  lastName: null,
  email: null,
  phoneNumber: null,
  twitterUsername: null,
  instagramUsername: null,
  linkedInUsername: null,
  discordUsername: null,
  youtubeUsername: null,
  tonWalletAddress: null,
  bscWallet: null,
}

async function addAnnouncement(app: TestApp, title: string): Promise<string> {
  const admin = await app.signUp('admin')
  const { body } = await admin.call('POST', '/api/announcements', { type: 'desc', title, subtitle: 'Today', reward: 5 })
  return body.id as string
}

async function setStatus(app: TestApp, id: string, status: boolean): Promise<void> {
  const admin = await app.signUp('admin')
  expect((await admin.call('POST', `/api/announcements/${id}/status`, { status: !status })).status).toBe(200)
}

describe('§8 a player’s client', () => {
  test('reads that player as `me` or by id, and no other player', async () => {
    const app = await testApp()
    const bot = await app.bot()
    for (const userId of [7, 8]) await bot.call('PUT', `/bot/v1/players/${userId}`, { firstName: 'Ada' })
    const player = app.player(7)
    for (const path of ['', '/tasks?collection=social', '/announcements']) {
      expect((await player.call('GET', `/bot/v1/players/me${path}`)).status, path).toBe(200)
      expect((await player.call('GET', `/bot/v1/players/7${path}`)).status, path).toBe(200)
      for (const other of [8, 9]) {
        const answer = await player.call('GET', `/bot/v1/players/${other}${path}`)
        expect([answer.status, answer.body.code], path).toEqual([403, 'FORBIDDEN'])
      }
    }
    expect((await player.call('GET', '/bot/v1/players/me')).body.player.userId).toBe(7)
    const seen = await player.call('POST', '/bot/v1/players/8/announcements/seen', { upTo: 0 })
    expect([seen.status, seen.body.code]).toEqual([403, 'FORBIDDEN'])
    expect((await player.call('PUT', '/bot/v1/players/me', { firstName: 'Eve' })).status).toBe(403)
    expect((await player.call('POST', '/bot/v1/players', { players: [{ userId: 7 }] })).status).toBe(403)
  })

  test('gets 404 if the console does not know the player', async () => {
    const app = await testApp()
    for (const path of ['', '/tasks?collection=social', '/announcements']) {
      const answer = await app.player(7).call('GET', `/bot/v1/players/me${path}`)
      expect([answer.status, answer.body.code], path).toEqual([404, 'NO_SUCH_PLAYER'])
    }
    expect((await app.player(7).call('POST', '/bot/v1/players/me/announcements/seen', { upTo: 0 })).status).toBe(404)
  })

  test.each([
    ['forged', `${signInitData({ user: '{"id":7}' })}0`],
    ['of another bot', signInitData({ user: '{"id":7}' }, '123:other')],
    ['old', signInitData({ user: '{"id":7}', auth_date: String(Math.floor(Date.now() / 1000) - 3700) })],
    ['without a user', signInitData({})],
    ['empty', 'x'],
  ])('with initData that is %s is refused, and is limited after too many attempts', async (_name, initData) => {
    const app = await testApp({ rateLimit: true })
    const statuses: number[] = []
    for (let n = 0; n < 32; n += 1) {
      const answer = await app.guest.call('GET', '/bot/v1/players/me', undefined, { authorization: `tma ${initData}` })
      statuses.push(answer.status)
    }
    expect(statuses.slice(0, 30)).toEqual(Array.from({ length: 30 }, () => 401))
    expect(statuses.slice(30)).toEqual([429, 429])
    const good = await app.player(7).call('GET', '/bot/v1/players/me')
    expect(good.status).toBe(404) // the signature is accepted, but the console has no such player
  })

  test('is refused if neither the bot’s token nor its id is configured', async () => {
    const app = await testApp({ initData: { botToken: undefined } })
    expect((await app.player(7).call('GET', '/bot/v1/players/me')).status).toBe(401)
  })

  test('may call from the game’s own site (CORS); cookies are not accepted there', async () => {
    const app = await testApp()
    const bot = await app.bot()
    await bot.call('PUT', '/bot/v1/players/7', {})
    const from = { origin: 'https://game.example', 'sec-fetch-site': 'cross-site' }
    const preflight = await app.fetch('/bot/v1/players/me/announcements/seen', {
      method: 'OPTIONS',
      headers: {
        ...from,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull()
    const seen = await app.player(7).call('POST', '/bot/v1/players/me/announcements/seen', { upTo: 0 }, from)
    expect([seen.status, seen.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    const admin = await app.signUp('admin')
    expect((await admin.call('POST', '/bot/v1/players/7/announcements/seen', { upTo: 0 }, from)).status).toBe(403)
    for (const path of ['/bot/v1/players/7', '/api/users']) {
      const other = await app.fetch(path, { method: 'OPTIONS', headers: { ...from, 'access-control-request-method': 'PUT' } })
      expect(other.status, path).toBe(405)
    }
  })

  test('security: neither initData nor tokens are logged', async () => {
    const lines: string[] = []
    const app = await testApp({ log: pino({ level: 'trace' }, { write: (line) => void lines.push(line) }) })
    const initData = signInitData({ user: '{"id":7}', query_id: 'find-me' })
    const asked = [`tma ${initData}`, `tma ${initData}x`, `Bearer arcade_${'f'.repeat(43)}`]
    for (const authorization of asked) await app.guest.call('GET', '/bot/v1/players/8', undefined, { authorization })
    expect(lines.length).toBeGreaterThan(1)
    for (const secret of ['find-me', 'ffff', /[?&]hash=/]) expect(lines.join('')).not.toMatch(secret)
  })
})

describe('§8 players', () => {
  test('are added, changed only in the given fields, or left unchanged', async () => {
    const app = await testApp()
    const bot = await app.bot()
    const put = async (body: object) => (await bot.call('PUT', '/bot/v1/players/7', body)).body
    const made = await put({ firstName: 'Ada', username: 'ada', createdAt: '2026-01-31T12:00:00Z' })
    const player = { ...nothing, userId: 7, firstName: 'Ada', username: 'ada', balance: 0, createdAt: '2026-01-31T12:00:00.000Z' }
    expect(made).toEqual({ player })
    const { xmin } = await versionOf(app, 7)
    expect(await put({ firstName: 'Ada' })).toEqual({ player })
    expect((await versionOf(app, 7)).xmin).toBe(xmin)
    expect(await put({ lastName: 'L', username: null, createdAt: '2020-01-01T00:00:00Z' })).toEqual({
      player: { ...player, lastName: 'L', username: null },
    })
    const answer = await bot.call('GET', '/bot/v1/players/7')
    expect(answer.body).toEqual({
      player: { ...player, lastName: 'L', username: null },
      rank: 1,
      isRankExact: true,
      isBlocked: false,
      hasNews: false,
    })
    expect((await bot.call('GET', '/bot/v1/players/8')).body.code).toBe('NO_SUCH_PLAYER')
  })

  test.each([{ balance: 5 }, { firstName: 1 }, { firstName: 'x'.repeat(501) }, { createdAt: 'now' }, { other: 1 }])(
    'are not written with %j',
    async (body) => {
      const app = await testApp()
      const answer = await (await app.bot()).call('PUT', '/bot/v1/players/7', body)
      expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_INPUT'])
    },
  )

  test('get a result for each row of a batch, and bad rows do not stop good ones', async () => {
    const app = await testApp()
    const bot = await app.bot()
    await bot.call('PUT', '/bot/v1/players/1', { firstName: 'One', lastName: 'L' })
    await bot.call('PUT', '/bot/v1/players/2', { firstName: 'Two' })
    const { status, body } = await bot.call('POST', '/bot/v1/players', {
      players: [
        { userId: 1, firstName: 'Uno', lastName: null },
        { userId: 2, firstName: 'Two' },
        { userId: 3, username: 'three' },
        { userId: 3, username: 'again' },
        { userId: '4' },
        { userId: 5, balance: 10 },
        { userId: 6, email: 6 },
        {},
      ],
    })
    expect(status).toBe(200)
    const failed = (userId: number | null) => ({ userId, status: 'failed', message: expect.stringMatching(/^.{5,}$/) })
    expect(body.results).toEqual([
      { userId: 1, status: 'updated' },
      { userId: 2, status: 'unchanged' },
      { userId: 3, status: 'created' },
      ...[3, null, 5, 6, null].map(failed),
    ])
    const { rows } = await sql`select user_id, first_name, last_name, username from telegram_users order by user_id`.execute(
      app.database.db,
    )
    expect(rows).toEqual([
      { user_id: 1, first_name: 'Uno', last_name: null, username: null },
      { user_id: 2, first_name: 'Two', last_name: null, username: null },
      { user_id: 3, first_name: null, last_name: null, username: 'three' },
    ])
    expect(await readCounters(app.database.db, [{ of: 'players' }])).toEqual([3])
  })

  test('are accepted in batches of 1 to 1,000', async () => {
    const app = await testApp()
    const bot = await app.bot()
    const batch = (length: number) => ({ players: Array.from({ length }, (_, n) => ({ userId: n + 1, firstName: `P${n}` })) })
    for (const length of [0, 1001]) expect((await bot.call('POST', '/bot/v1/players', batch(length))).status).toBe(400)
    const { body } = await bot.call('POST', '/bot/v1/players', batch(1000))
    expect(new Set(body.results.map(({ status }: { status: string }) => status))).toEqual(new Set(['created']))
    expect(body.results).toHaveLength(1000)
  })

  test('are added and counted once by twenty simultaneous calls on two servers', async () => {
    const limits = { size: 16 }
    const [app, other] = [
      await testApp({ database: await openAgain({ limits }) }),
      await testApp({ database: await openAgain({ limits }) }),
    ]
    const { headers } = await app.bot()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        n % 3 === 0
          ? app.guest.call('POST', '/bot/v1/players', { players: [{ userId: 8 }, { userId: 7, firstName: 'Ada' }] }, headers)
          : (n % 2 ? app : other).guest.call('PUT', '/bot/v1/players/7', { firstName: 'Ada' }, headers),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await readCounters(app.database.db, [{ of: 'players' }])).toEqual([2])
  })

  test('twenty simultaneous batches of the same players in different orders do not deadlock', async () => {
    const [app, other] = [await testApp(), await testApp({ database: await openAgain() })]
    const deadlocks = await countDeadlocks()
    const { headers } = await app.bot()
    // With fewer rows PostgreSQL would scan the whole table.
    await sql`insert into telegram_users (user_id) select generate_series(1001, 6000)`.execute(app.database.db)
    const ids = Array.from({ length: 50 }, (_, n) => n + 1)
    const batch = (round: number, call: number) => {
      const place = (id: number): number => (id * (call + 2) * 31) % 101
      const players = ids.toSorted((a, b) => place(a) - place(b)).map((userId) => ({ userId, firstName: `${round} ${call}` }))
      return (call % 2 ? app : other).guest.call('POST', '/bot/v1/players', { players }, headers)
    }
    for (const round of [1, 2, 3]) {
      const answers = await Promise.all(Array.from({ length: 20 }, (_, call) => batch(round, call)))
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    }
    expect(await countDeadlocks()).toBe(deadlocks)
  })
})

test('§8 tasks are sorted by priority, with done ones marked; daily ones are done for one day', async () => {
  const app = await testApp()
  const bot = await app.bot()
  await bot.call('PUT', '/bot/v1/players/7', {})
  await sql`insert into tasks (collection, id, image, title, link, reward, priority) values
    ('social', 'b', 'twitter', 'Second', 'https://x.com', 2, 2), ('social', 'a', 'email', 'First', null, 1.5, 1),
    ('daily', 'd', 'telegram', 'Daily', null, 3, 1), ('daily', 'e', 'telegram', 'Yesterday', null, 3, 2)`.execute(app.database.db)
  await sql`insert into participations (user_id, kind, item_id, period, at) values
    (7, 'social', 'b', '', now()), (8, 'social', 'a', '', now()),
    (7, 'daily', 'd', to_char(now() at time zone 'UTC', 'YYYY-MM-DD'), now()),
    (7, 'daily', 'e', to_char(now() at time zone 'UTC' - interval '1 day', 'YYYY-MM-DD'), now())`.execute(app.database.db)
  const { body } = await bot.call('GET', '/bot/v1/players/7/tasks?collection=social')
  const asAll = { verifiedByBot: false }
  expect(body).toEqual({
    tasks: [
      { id: 'a', type: 'email', title: 'First', link: null, reward: 1.5, priority: 1, ...asAll, isDone: false },
      { id: 'b', type: 'twitter', title: 'Second', link: 'https://x.com', reward: 2, priority: 2, ...asAll, isDone: true },
    ],
  })
  const daily = await app.player(7).call('GET', '/bot/v1/players/me/tasks?collection=daily')
  expect(daily.body.tasks.map(({ id, isDone }: { id: string; isDone: boolean }) => [id, isDone])).toEqual([
    ['d', true],
    ['e', false],
  ])
  expect((await bot.call('GET', '/bot/v1/players/7/tasks')).status).toBe(400)
})

describe('§7 news', () => {
  const read = async (app: TestApp, userId = 7) => {
    const [{ body: player }, { body: shown }] = [
      await app.player(userId).call('GET', '/bot/v1/players/me'),
      await app.player(userId).call('GET', '/bot/v1/players/me/announcements'),
    ]
    const announcements = shown.announcements as { title: string; isNew: boolean }[]
    return { hasNews: player.hasNews, upTo: shown.upTo, shown: announcements.map(({ title, isNew }) => [title, isNew]) }
  }
  const see = (app: TestApp, upTo: number) => app.player(7).call('POST', '/bot/v1/players/me/announcements/seen', { upTo })

  test('starts with an activation and ends when the player has seen it', async () => {
    const app = await testApp()
    await (await app.bot()).call('PUT', '/bot/v1/players/7', {})
    const [one, two] = [await addAnnouncement(app, 'One'), await addAnnouncement(app, 'Two')]
    expect(await read(app)).toEqual({ hasNews: false, upTo: 0, shown: [] })
    await setStatus(app, one, true)
    expect(await read(app)).toEqual({ hasNews: true, upTo: 1, shown: [['One', true]] })
    expect((await see(app, 1)).body).toEqual({ success: true })
    expect(await read(app)).toEqual({ hasNews: false, upTo: 1, shown: [['One', false]] })
    await setStatus(app, two, true)
    expect(await read(app)).toEqual({
      hasNews: true,
      upTo: 2,
      shown: [
        ['Two', true],
        ['One', false],
      ],
    })
    await see(app, 0)
    expect((await read(app)).shown).toEqual([
      ['Two', true],
      ['One', false],
    ])
  })

  test('from an activation between reading and seeing is not lost', async () => {
    const app = await testApp()
    await (await app.bot()).call('PUT', '/bot/v1/players/7', {})
    const [one, two] = [await addAnnouncement(app, 'One'), await addAnnouncement(app, 'Two')]
    await setStatus(app, one, true)
    const { upTo } = await read(app)
    await setStatus(app, two, true)
    await see(app, upTo)
    expect(await read(app)).toEqual({
      hasNews: true,
      upTo: 2,
      shown: [
        ['Two', true],
        ['One', false],
      ],
    })
  })

  test('from each of twenty simultaneous activations reaches a player who reads and sees all the time', async () => {
    const app = await testApp()
    await (await app.bot()).call('PUT', '/bot/v1/players/7', {})
    const admin = await app.signUp('admin')
    const ids: string[] = []
    for (let n = 0; n < 20; n += 1) ids.push(await addAnnouncement(app, `A${n}`))
    const shown = new Set<string>()
    let isOver = false
    const reading = (async () => {
      for (let last = false; !last;) {
        last = isOver
        const { body } = await app.player(7).call('GET', '/bot/v1/players/me/announcements')
        for (const one of body.announcements) if (one.isNew) shown.add(one.id as string)
        await see(app, body.upTo as number)
      }
    })()
    await Promise.all(ids.map((id) => admin.call('POST', `/api/announcements/${id}/status`, { status: false })))
    isOver = true
    await reading
    expect(shown).toEqual(new Set(ids))
    expect((await read(app)).hasNews).toBe(false)
  })

  test('ends when the announcement is deactivated or deleted, and returns when it is activated again', async () => {
    const app = await testApp()
    await (await app.bot()).call('PUT', '/bot/v1/players/7', {})
    const [one, two] = [await addAnnouncement(app, 'One'), await addAnnouncement(app, 'Two')]
    for (const id of [one, two]) await setStatus(app, id, true)
    await setStatus(app, one, false)
    const admin = await app.signUp('admin')
    await admin.call('DELETE', `/api/announcements/${two}`)
    expect(await read(app)).toEqual({ hasNews: false, upTo: 2, shown: [] })
    await see(app, 2)
    await setStatus(app, one, true)
    expect(await read(app)).toEqual({ hasNews: true, upTo: 3, shown: [['One', true]] })
  })

  test('is raised once by GET /update-users-status for active announcements without a number', async () => {
    const app = await testApp()
    const bot = await app.bot()
    await bot.call('PUT', '/bot/v1/players/7', {})
    await sql`insert into announcements (id, type, title, subtitle, reward, status) values ('x', 'desc', 'Old', '', 1, true)`.execute(
      app.database.db,
    )
    expect((await read(app)).hasNews).toBe(false)
    expect((await bot.call('GET', '/update-users-status')).status).toBe(200)
    expect(await read(app)).toEqual({ hasNews: true, upTo: 1, shown: [['Old', true]] })
    await see(app, 1)
    await bot.call('GET', '/update-users-status')
    expect(await read(app)).toEqual({ hasNews: false, upTo: 1, shown: [['Old', false]] })
  })

  test('cannot be marked as seen before an answer contained it', async () => {
    const app = await testApp()
    await (await app.bot()).call('PUT', '/bot/v1/players/7', {})
    const answer = await see(app, 1)
    expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_INPUT'])
    expect((await see(app, -1)).status).toBe(400)
  })
})

/** Returns the row's version as PostgreSQL numbers it: it changes with each write. */
async function versionOf(app: TestApp, userId: number): Promise<{ xmin: string }> {
  const { rows } = await sql<{ xmin: string }>`select xmin::text as xmin from telegram_users where user_id = ${userId}`.execute(
    app.database.db,
  )
  return rows[0]!
}
