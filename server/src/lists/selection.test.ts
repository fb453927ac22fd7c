/** POST /api/exports: picked rows of a list, or those of a filter, as the list shows them, read back cell by cell. */
import { expect, test } from 'vitest'
import { auditTrail } from '#test/audit-trail.ts'
import { addCount } from '#test/activity.ts'
import { readSheets } from '#test/read-sheets.ts'
import { type Client, testApp } from '#test/test-app.ts'
import { addPlayers } from '#test/players.ts'

/** Matches the name of a download with its day. */
function dated(name: string): unknown {
  return expect.stringMatching(new RegExp(String.raw`^${name}-\d{4}-\d\d-\d\d\.xlsx$`))
}

async function exported(client: Client, body: object) {
  const answer = await client.call('POST', '/api/exports', body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  const [[name, rows]] = Object.entries(readSheets(answer.body as ArrayBuffer)) as [[string, unknown[][]]]
  const count = Number(answer.headers.get('x-row-count'))
  expect(rows).toHaveLength(count + 1)
  return {
    file: /filename="(.*)"/.exec(answer.headers.get('content-disposition')!)?.[1],
    name,
    head: rows[0]!,
    rows: rows.slice(1),
  }
}

test('§7 a selection of players, highest balance first, with the columns of the whole list', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  await addPlayers(
    app.database.db,
    [1, 2, 3, 4].map((n) => ({ user_id: n, balance: n, username: `moon_${n}`, first_name: n === 3 ? '=1+1' : 'Sky' })),
  )
  const picked = await exported(admin, { list: 'telegramUsers', target: { ids: ['2', '4', '99', 'x'] } })
  expect(picked).toMatchObject({
    file: dated('TelegramUserdata-selected'),
    name: 'Telegram Users',
  })
  expect(picked.head.slice(0, 3)).toEqual(['User ID', 'Created At (UTC)', 'First Name'])
  expect(picked.rows.map(([id]) => id)).toEqual([4, 2])
  const filtered = await exported(admin, { list: 'telegramUsers', target: { filter: { search: 'moon', balanceMax: 3 } } })
  expect(filtered.rows.map(([id]) => id)).toEqual([3, 2, 1])
  expect((await exported(admin, { list: 'telegramUsers', target: { filter: {} } })).rows).toHaveLength(4)
  const entries = await auditTrail(app.database.db, 'export')
  expect(entries.map(({ recordId }) => recordId)).toEqual(['telegramUsers', 'telegramUsers', 'telegramUsers'])
  expect(entries[0]).toMatchObject({ actorId: admin.id, detail: { rows: 2 } })
})

test('§7 a selection has the requested order, with missing values last, or reversed', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const joined = [new Date(2000), null, new Date(3000), null, new Date(1000)]
  await addPlayers(
    app.database.db,
    joined.map((date, n) => ({ user_id: n + 1, balance: 1, created_at: date })),
  )
  const idsBy = async (order: object) => {
    const { rows } = await exported(admin, { list: 'telegramUsers', target: { filter: {} }, ...order })
    return rows.map(([id]) => id)
  }
  const shownBy = async (order: Record<string, string>) => {
    const { body } = await admin.call('GET', `/api/telegram-users?${new URLSearchParams(order).toString()}`)
    return (body as { users: { userId: number }[] }).users.map(({ userId }) => userId)
  }
  expect(await idsBy({})).toEqual([1, 2, 3, 4, 5])
  expect(await idsBy({ sort: 'newest' })).toEqual([3, 1, 5, 2, 4])
  expect(await idsBy({ sort: 'newest', reversed: true })).toEqual([4, 2, 5, 1, 3])
  for (const sort of ['newest', 'a-z', 'user-id', 'balance', 'username'])
    for (const reversed of ['false', 'true'])
      expect(await idsBy({ sort, reversed }), `${sort} ${reversed}`).toEqual(await shownBy({ sort, reversed }))
  const refused = await admin.call('POST', '/api/exports', { list: 'telegramUsers', target: { filter: {} }, sort: 'email' })
  expect(refused.status).toBe(400)
})

test('§7 a selection of users, as the list shows them: without the caller', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin', 'me@gmail.com')
  const [first, second] = [await app.signUp('user', 'first@gmail.com'), await app.signUp('user', 'second@gmail.com')]
  const all = await exported(admin, { list: 'users', target: { filter: { search: 'gmail' } } })
  expect(all).toMatchObject({ file: dated('userdata-filtered'), name: 'Users' })
  expect(all.head).toEqual(['First Name', 'Last Name', 'Email', 'User Type', 'Created At (UTC)'])
  expect(all.rows.map(([, , email]) => email)).toEqual(['first@gmail.com', 'second@gmail.com'])
  const picked = await exported(admin, { list: 'users', target: { ids: [second.id, first.id, 'nobody'] } })
  expect(picked.rows).toHaveLength(2)
  expect(await first.call('POST', '/api/exports', { list: 'users', target: { filter: {} } })).toMatchObject({
    status: 403,
    body: { status: 'failed' },
  })
})

test('§7 selections of tasks and announcements with their participants, in the order of the lists', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const { db } = app.database
  await db
    .insertInto('tasks')
    .values(
      (['social', 'daily'] as const).flatMap((collection) =>
        [3, 1, 2].map((n) => ({
          collection,
          id: `t${n}`,
          image: 'twitter',
          priority: n,
          title: `${collection} ${n}`,
          reward: n / 2,
        })),
      ),
    )
    .execute()
  await db
    .insertInto('announcements')
    .values(
      [2, 1].map((n) => ({
        id: `a${n}`,
        type: 'desc' as const,
        title: `A${n}`,
        subtitle: 'S',
        reward: n,
        status: n === 1,
        created_at: new Date(n),
      })),
    )
    .execute()
  await addCount(app.database, { of: 'participants', kind: 'social', itemId: 't2' }, 7)
  await addCount(app.database, { of: 'participants', kind: 'announcement', itemId: 'a2' }, 8)

  const social = await exported(admin, { list: 'socialTasks', target: { ids: ['t3', 't2'] } })
  expect(social).toMatchObject({ file: dated('social-tasks-selected'), name: 'Social Tasks' })
  expect(social.head.slice(0, 7)).toEqual(['Priority', 'Type', 'Title', 'Link', 'Reward', 'Participants', 'Created At (UTC)'])
  const availability = ['Starts At (UTC)', 'Ends At (UTC)', 'Most Participants', 'Daily Budget', 'Segment ID', 'State', 'Paused']
  expect(social.head.slice(7)).toEqual(availability)
  expect(social.rows.map((row) => row.slice(0, 6))).toEqual([
    [2, 'twitter', 'social 2', undefined, 1, 7],
    [3, 'twitter', 'social 3', undefined, 1.5, 0],
  ])
  const daily = await exported(admin, { list: 'dailyTasks', target: { filter: { search: 'daily' } } })
  expect(daily).toMatchObject({ file: dated('daily-tasks-filtered'), name: 'Daily Tasks' })
  expect(daily.rows.map(([priority]) => priority)).toEqual([1, 2, 3])
  const announcements = await exported(admin, { list: 'announcements', target: { filter: {} } })
  expect(announcements).toMatchObject({ file: dated('announcements'), name: 'Announcements' })
  expect(announcements.rows.map((row) => [row[0], row[8], row[11]])).toEqual([
    ['A1', 'Active', 0],
    ['A2', 'In Active', 8],
  ])
  expect((await exported(admin, { list: 'announcements', target: { filter: { status: 'active' } } })).rows).toHaveLength(1)
})

test('security: selections of an unknown list, without a target or with fields of another list are refused', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  for (const body of [
    {},
    { list: 'sessions', target: { filter: {} } },
    { list: 'users' },
    { list: 'users', target: { filter: { wallet: 'ton' } } },
    { list: 'socialTasks', target: { ids: [] } },
  ]) {
    expect((await admin.call('POST', '/api/exports', body)).status, JSON.stringify(body)).toBe(400)
  }
})
