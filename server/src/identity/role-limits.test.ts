/** Limits of roles: what one adjustment, one UTC day and one bulk act may move; beyond it 403, and nothing has changed. */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { addPlayers } from '#test/players.ts'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'
import { openAgain, testDatabase } from '#test/test-database.ts'

const none = { seesPersonal: true, maxAdjustment: null, maxAdjustedDaily: null, maxBulk: null }

/** Returns an app with three players, each with a balance of 1,000, an owner, and a manager whose role has these limits. */
async function opening(limits: Partial<typeof none> | Record<string, number>) {
  const app = await testApp()
  await addPlayers(
    app.database.db,
    [7, 8, 9].map((id) => ({ user_id: id, balance: 1000 })),
  )
  const [owner, manager] = [await app.signUp('owner'), await app.signUp('manager')]
  await setLimits(owner, limits)
  return { app, owner, manager }
}

async function setLimits(owner: Client, limits: object) {
  expect((await owner.call('PUT', '/api/roles/manager', { ...none, ...limits })).status).toBe(200)
}

const adjust = (client: Client, amount: number, player = 7, headers = {}) =>
  client.call('POST', `/api/telegram-users/${player}/adjustments`, { amount, reason: 'Compensation' }, headers)

async function balances({ database }: TestApp): Promise<unknown> {
  const { rows } = await sql<{ balance: number }>`select balance from balances order by user_id`.execute(database.db)
  return rows.map(({ balance }) => balance)
}

describe('one adjustment', () => {
  test('may give or take points up to the limit, and no more', async () => {
    const { app, manager, owner } = await opening({ maxAdjustment: 100.5 })
    for (const amount of [100.5, -100.5]) expect((await adjust(manager, amount)).status).toBe(200)
    const message = 'The role Manager may give or take at most 100.5 at once.'
    for (const amount of [100.6, -100.6]) {
      const { status, body } = await adjust(manager, amount)
      expect([status, body]).toEqual([
        403,
        {
          success: false,
          code: 'LIMIT_REACHED',
          message,
          fields: { amount: message },
          left: 100.5,
          requestId: expect.any(String),
        },
      ])
    }
    expect(await balances(app)).toEqual([1000, 1000, 1000])
    expect((await adjust(owner, 5000)).status, 'an owner has no limit').toBe(200)
  })

  test('a reversal counts like an adjustment', async () => {
    const { app, manager, owner } = await opening({ maxAdjustment: 10 })
    const { id: entryId } = (await adjust(owner, 20)).body.entry
    const reverse = (client: Client) =>
      client.call('POST', '/api/telegram-users/7/reversals', { entryId, reason: 'Wrong player' })
    expect((await reverse(manager)).body).toMatchObject({ code: 'LIMIT_REACHED', left: 10 })
    expect(await balances(app)).toEqual([1020, 1000, 1000])
    expect((await reverse(owner)).status).toBe(200)
  })

  test('a repeated request gets its answer, also when the limit is lower by now', async () => {
    const { manager, owner } = await opening({})
    const key = { 'idempotency-key': 'once' }
    const first = await adjust(manager, 50, 7, key)
    await setLimits(owner, { maxAdjustment: 1 })
    expect((await adjust(manager, 50, 7, key)).body).toEqual(first.body)
    expect((await adjust(manager, 50)).body.code).toBe('LIMIT_REACHED')
  })

  test('a bot with the scope admin has no role and no limit', async () => {
    const { app } = await opening({ maxAdjustment: 1, maxAdjustedDaily: 1 })
    const bot = await app.bot('game', 'admin')
    const given = await bot.call('POST', '/bot/v1/players/7/adjustments', { amount: 500, reason: 'Compensation' })
    expect(given.status).toBe(200)
  })
})

describe('one day', () => {
  test('adds up what a person gives and takes, of all players, and says what is left', async () => {
    const { app, manager, owner } = await opening({ maxAdjustedDaily: 100 })
    expect((await adjust(manager, 60)).status).toBe(200)
    expect((await adjust(manager, -30.5, 8)).status).toBe(200)
    const message = 'The role Manager may give and take at most 100 in a day (UTC), added up. You have 9.5 left today.'
    expect((await adjust(manager, 10, 9)).body).toMatchObject({ code: 'LIMIT_REACHED', message, left: 9.5 })
    expect((await manager.call('GET', '/api/account/limits')).body).toEqual({
      maxAdjustment: null,
      maxAdjustedDaily: 100,
      maxBulk: null,
      leftToday: 9.5,
    })
    expect((await adjust(manager, 9.5, 9)).status).toBe(200)
    expect((await adjust(await app.signUp('manager'), 100)).status, 'each person has a day of their own').toBe(200)
    expect((await owner.call('GET', '/api/account/limits')).body).toMatchObject({ maxAdjustedDaily: null, leftToday: null })
  })

  test('counts what was given before the limit was set, and begins anew at midnight UTC', async () => {
    const { app, manager, owner } = await opening({})
    expect((await adjust(manager, 60)).status).toBe(200)
    await setLimits(owner, { maxAdjustedDaily: 100 })
    expect((await adjust(manager, 50)).body).toMatchObject({ code: 'LIMIT_REACHED', left: 40 })
    await sql`update adjusted_points set day = day - 1`.execute(app.database.db)
    expect((await manager.call('GET', '/api/account/limits')).body.leftToday).toBe(100)
    expect((await adjust(manager, 100)).status).toBe(200)
    expect((await adjust(manager, 0.5)).body).toMatchObject({ code: 'LIMIT_REACHED', left: 0 })
  })

  test('adjustments that are refused for another reason are not counted', async () => {
    const { manager } = await opening({ maxAdjustedDaily: 2000 })
    expect((await adjust(manager, -1500)).body.code).toBe('BALANCE_TOO_LOW')
    expect((await adjust(manager, 5, 99)).body.code).toBe('NO_SUCH_PLAYER')
    expect((await manager.call('GET', '/api/account/limits')).body.leftToday).toBe(2000)
  })

  test('is exact when a person adjusts twenty times at once on two servers', async () => {
    const databases = [await testDatabase(), await openAgain()]
    const apps = await Promise.all(databases.map((database) => testApp({ database })))
    const { db } = databases[0]!
    const owner = await apps[0]!.signUp('owner')
    const manager = await apps[0]!.signUp('manager')
    await addPlayers(
      db,
      Array.from({ length: 20 }, (_, index) => ({ user_id: index + 1, balance: 0 })),
    )
    await setLimits(owner, { maxAdjustedDaily: 70 })
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const answer = await apps[index % 2]!.fetch(`/api/telegram-users/${index + 1}/adjustments`, {
          method: 'POST',
          headers: { ...manager.headers, 'content-type': 'application/json' },
          body: JSON.stringify({ amount: 10, reason: 'Compensation' }),
        })
        return answer.status
      }),
    )
    expect(answers.filter((status) => status === 200)).toHaveLength(7)
    expect(answers.filter((status) => status === 403)).toHaveLength(13)
    const { rows } = await sql<{ sum: number }>`select sum(balance) as sum from balances`.execute(db)
    expect(rows[0]!.sum).toBe(70)
  })
})

describe('one bulk act', () => {
  /** Three social tasks and three announcements. */
  async function items(owner: Client): Promise<{ tasks: string[]; announcements: string[] }> {
    const [tasks, announcements]: [string[], string[]] = [[], []]
    for (const n of [1, 2, 3]) {
      const task = { type: 'email', title: `Task ${n}`, reward: 1, priority: n }
      tasks.push((await owner.call('POST', '/api/social-tasks', task)).body.id)
      const announcement = { type: 'desc', title: `News ${n}`, subtitle: 'Today', reward: 1 }
      announcements.push((await owner.call('POST', '/api/announcements', announcement)).body.id)
    }
    return { tasks, announcements }
  }

  test('each kind is refused beyond the limit, the dry run too, and changes nothing', async () => {
    const { app, manager, owner } = await opening({ maxBulk: 2 })
    const { tasks, announcements } = await items(owner)
    const users = [await app.signUp('user'), await app.signUp('user'), await app.signUp('user')].map(({ id }) => id)
    const later = { days: 1, minutes: 0, zone: 'UTC' }
    const acts: [path: string, ids: string[], input: object][] = [
      ['/api/users/remove', users, {}],
      ['/api/social-tasks/priorities', tasks, { first: 7, step: 1 }],
      ['/api/social-tasks/pause', tasks, { paused: true }],
      ['/api/social-tasks/remove', tasks, {}],
      ['/api/announcements/status', announcements, { status: true }],
      ['/api/announcements/remove', announcements, {}],
      ['/api/telegram-users/block', ['7', '8', '9'], { reason: 'Cheats' }],
    ]
    const before = await everything(app)
    for (const [path, ids, input] of acts) {
      for (const run of [{ dryRun: true }, {}, { expected: 3 }]) {
        const { status, body } = await manager.call('POST', path, { target: { ids }, ...input, ...run })
        expect([status, body.code, body.left], path).toEqual([403, 'LIMIT_REACHED', 2])
        expect(body.message).toBe('The role Manager may change at most 2 records at once. This would change 3.')
      }
    }
    const order = [tasks[2], tasks[0], tasks[1]].map((id) => ({ id, priority: tasks.indexOf(id!) + 1 }))
    expect((await manager.call('POST', '/api/social-tasks/order', { tasks: order })).body.code).toBe('LIMIT_REACHED')
    expect(await everything(app)).toEqual(before)
    for (const [path, ids, input] of acts)
      expect((await manager.call('POST', path, { target: { ids: ids.slice(0, 2) }, ...input })).body, path).toMatchObject({
        affected: 2,
      })
    const blocked = await manager.call('POST', '/api/telegram-users/unblock', { target: { ids: ['7', '8', '9'] } })
    expect(blocked.body, 'only records that would change count').toMatchObject({ affected: 2, refused: 1 })
    await datesAndTrash(owner, manager, later)
  })

  async function everything({ database: { db } }: TestApp): Promise<unknown> {
    const { rows } = await sql`
      select (select json_agg(tasks order by id) from tasks) as tasks, (select json_agg(announcements order by id) from announcements) as announcements,
             (select json_agg(users order by id) from users) as users, (select count(*) from balances where blocked_at is not null) as blocked`.execute(
      db,
    )
    return rows
  }

  /** Acts on dates need items with dates, and those of the trash deleted ones. */
  async function datesAndTrash(owner: Client, manager: Client, later: object): Promise<void> {
    const ids: string[] = []
    for (const n of [1, 2, 3]) {
      const dated = { type: 'email', title: `Dated ${n}`, reward: 1, priority: 20 + n, startsAt: '2035-01-01T00:00:00Z' }
      ids.push((await owner.call('POST', '/api/social-tasks', dated)).body.id)
    }
    const shift = await manager.call('POST', '/api/social-tasks/shift', { target: { ids }, ...later })
    expect(shift.body.code).toBe('LIMIT_REACHED')
    expect((await manager.call('POST', '/api/social-tasks/end', { target: { ids } })).body.code).toBe('LIMIT_REACHED')
    await owner.call('POST', '/api/social-tasks/remove', { target: { ids } })
    for (const path of ['/api/trash/restore', '/api/trash/purge'])
      expect((await manager.call('POST', path, { target: { filter: { search: 'Dated' } } })).body.code, path).toBe(
        'LIMIT_REACHED',
      )
  }
})
