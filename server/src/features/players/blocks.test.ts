/** Blocking players: a blocked player can neither claim nor get entries, one or many, until unblocked. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { addPlayers } from '#test/players.ts'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'
import { countLockWaits } from '#test/test-database.ts'

const PLAYERS = '/api/telegram-users'

interface Game {
  app: TestApp
  admin: Client
  bot: Client
  claim: (userId?: number) => ReturnType<Client['call']>
  enter: (reference: string) => ReturnType<Client['call']>
  block: (ids: number[], more?: object) => ReturnType<Client['call']>
}

/** Returns an app with players 7, 8 and 9, and a social task that pays 2. */
async function game(): Promise<Game> {
  const app = await testApp()
  const { db } = app.database
  await addPlayers(db, [
    { user_id: 7, first_name: 'Ada', last_name: 'Day', username: 'ada', balance: 10 },
    { user_id: 8, username: 'bob', balance: 20 },
    { user_id: 9, balance: 30 },
  ])
  await sql`insert into tasks (collection, id, image, priority, title, reward) values ('social', 's', 'twitter', 1, 'S', 2)`.execute(
    db,
  )
  const [admin, bot] = [await app.signUp('admin'), await app.bot()]
  return {
    app,
    admin,
    bot,
    claim: (userId = 7) => bot.call('POST', `/bot/v1/players/${userId}/claims`, { kind: 'social', id: 's' }),
    enter: (reference) => bot.call('POST', '/bot/v1/players/7/entries', { amount: -1, cause: 'hat', reference }),
    block: (ids, more = {}) =>
      admin.call('POST', `${PLAYERS}/block`, { target: { ids: ids.map(String) }, reason: 'Plays by a script', ...more }),
  }
}

test('design §7 a blocked player can claim and be given nothing, which has an error code; an earlier answer is repeated', async () => {
  const { app, admin, claim, enter, block } = await game()
  const first = await enter('r1')
  expect((await block([7])).body).toMatchObject({ success: true, affected: 1, named: [{ id: '7', title: 'Ada Day' }] })
  for (const refused of [
    await claim(),
    await enter('r2'),
    await app.player(7).call('POST', '/bot/v1/players/me/claims', { kind: 'social', id: 's' }),
  ])
    expect(refused).toMatchObject({ status: 409, body: { code: 'PLAYER_BLOCKED' } })
  expect((await enter('r1')).body).toEqual({ ...first.body, isFirst: false })
  expect((await claim(8)).status).toBe(200)
  const { rows } = await sql`select user_id from participations`.execute(app.database.db)
  expect(rows).toEqual([{ user_id: 8 }])
  const { body } = await admin.call('GET', `${PLAYERS}/7`)
  expect(body.block).toEqual({ reason: 'Plays by a script', by: 'Test Person', at: expect.any(String) })
  expect((await admin.call('GET', `${PLAYERS}/8`)).body.block).toBeNull()

  expect((await admin.call('POST', `${PLAYERS}/unblock`, { target: { ids: ['7'] } })).body).toMatchObject({ affected: 1 })
  expect((await claim()).body).toMatchObject({ isFirst: true, balance: 11 })
  const { rows: trail } = await sql`
    select action, record_kind as kind, record_id as id, record_name as name, changes from audit_trail where record_kind = 'player' order by seq`.execute(
    app.database.db,
  )
  const ada = { kind: 'player', id: '7', name: 'Ada Day' }
  expect(trail).toEqual([
    { action: 'player.block', ...ada, changes: { blocked: [null, 'Plays by a script'] } },
    { action: 'player.unblock', ...ada, changes: { blocked: ['Plays by a script', null] } },
  ])
})

test('design §7 a block that commits first refuses a claim that has already started', async () => {
  const { app, claim } = await game()
  const { database } = app
  let pending: ReturnType<typeof claim> | undefined
  await database.transaction(async (tx) => {
    await sql`update balances set blocked_at = now(), block_reason = 'x' where user_id = 7`.execute(tx)
    pending = claim()
    await expect.poll(() => countLockWaits(database.db), { timeout: 60_000 }).toBeGreaterThan(0)
  })
  expect(await pending).toMatchObject({ status: 409, body: { code: 'PLAYER_BLOCKED' } })
  expect((await sql`select user_id from participations`.execute(database.db)).rows).toEqual([])
})

test('design §7 many players are blocked at once after a dry run, the list can be filtered by it, and it can be undone', async () => {
  const { app, admin, claim, block } = await game()
  const target = { target: { filter: { balanceMin: 15 } } }
  const plan = await admin.call('POST', `${PLAYERS}/block`, { ...target, reason: 'Farm', dryRun: true })
  expect(plan.body).toMatchObject({ affected: 2, named: [{ title: '@bob' }, { title: '9' }] })
  expect((await claim(8)).status).toBe(200)
  expect(await block([7], { expected: 2 })).toMatchObject({ status: 409, body: { code: 'STALE' } })
  const done = await admin.call('POST', `${PLAYERS}/block`, { ...target, reason: 'Farm', expected: 2 })
  expect(done.body).toMatchObject({ affected: 2 })
  const found = async (status: string): Promise<number[]> => {
    const { body } = await admin.call('GET', `${PLAYERS}?status=${status}`)
    return body.users.map(({ userId }: { userId: number }) => userId)
  }
  expect(await found('blocked')).toEqual([9, 8])
  expect(await found('unblocked')).toEqual([7])
  expect(await found('erased')).toEqual([])
  // A page says which of its players are blocked, with and without filters, in an order of either table.
  for (const query of ['', '?sort=user-id', '?search=bob', '?sort=a-z&balanceMin=15']) {
    const { body } = await admin.call('GET', PLAYERS + query)
    expect([query, body.blocked.toSorted()]).toEqual([query, query === '?search=bob' ? [8] : [8, 9]])
    for (const player of body.users) expect(Object.keys(player)).toHaveLength(15)
  }
  expect((await admin.call('GET', `${PLAYERS}/count?status=blocked`)).body).toMatchObject({ total: 2 })
  // A player who is blocked already keeps the first reason.
  const reason = 'Blocked already by Test Person: Farm'
  expect((await block([7, 8, 9])).body).toMatchObject({
    affected: 1,
    refused: 2,
    refusals: [
      { id: '8', title: '@bob', reason },
      { id: '9', title: '9', reason },
    ],
  })
  const actId = done.headers.get('x-request-id')
  await admin.call('POST', `${PLAYERS}/unblock`, { target: { ids: ['8'] } })
  const refused = await admin.call('POST', `/api/acts/${actId}/undo`, {})
  expect(refused).toMatchObject({ status: 409, body: { code: 'CHANGED_SINCE' } })
  expect((await admin.call('POST', `/api/acts/${actId}/undo`, { isPartial: true })).body).toMatchObject({
    affected: 1,
    refused: 1,
  })
  expect(await found('blocked')).toEqual([7])
  expect((await sql`select blocked_by from balances where user_id = 9`.execute(app.database.db)).rows).toEqual([
    { blocked_by: null },
  ])
})

test('design §7 players that a search finds by id, name or wallet are blocked and unblocked, each once', async () => {
  const { app, admin } = await game()
  await addPlayers(app.database.db, [
    { user_id: 10, username: 'player_7', bsc_wallet: '7af' },
    { user_id: 11, username: 'nobody', bsc_wallet: '7AFE' },
  ])
  const target = { filter: { search: '7' } }
  for (const [verb, why] of [['block', { reason: 'A farm' }] as const, ['unblock', {}] as const]) {
    const act = async (how: object) => (await admin.call('POST', `${PLAYERS}/${verb}`, { target, ...why, ...how })).body
    const plan = await act({ dryRun: true })
    expect(plan).toMatchObject({ affected: 3, refused: 0 })
    expect(new Set(plan.named.map(({ id }: { id: string }) => id))).toEqual(new Set(['7', '10', '11']))
    expect(await act({ expected: 3 })).toMatchObject({ affected: 3 })
    expect(await act({ dryRun: true })).toMatchObject({ affected: 0 })
  }
})

test('design §7 a player is picked only by the exact digits of the id', async () => {
  const { admin } = await game()
  const target = { ids: ['7e0', '0x7', ' 7', '7.0', '+7', '8'] }
  const plan = await admin.call('POST', `${PLAYERS}/block`, { target, reason: 'A farm', dryRun: true })
  expect(plan.body).toMatchObject({ affected: 1, named: [{ id: '8' }], refused: 0 })
})

test('design §7 undoing a block never lifts a block that somebody else has made since', async () => {
  const { app, admin, block } = await game()
  const actId = (await block([7])).headers.get('x-request-id')
  await admin.call('POST', `${PLAYERS}/unblock`, { target: { ids: ['7'] } })
  const target = { target: { ids: ['7'] } }
  expect((await admin.call('POST', `${PLAYERS}/unblock`, target)).body).toMatchObject({
    affected: 0,
    refusals: [{ id: '7', title: 'Ada Day', reason: 'Not blocked.' }],
  })
  const other = await app.signUp('admin')
  expect((await other.call('POST', `${PLAYERS}/block`, { ...target, reason: 'Plays by a script' })).body.affected).toBe(1)
  const undo = (more: object) => admin.call('POST', `/api/acts/${actId}/undo`, more)
  expect(await undo({})).toMatchObject({ status: 409, body: { code: 'CHANGED_SINCE' } })
  expect((await undo({ isPartial: true })).body).toMatchObject({ affected: 0, refused: 1 })
  expect((await admin.call('GET', `${PLAYERS}/7`)).body.block.reason).toBe('Plays by a script')
})

test.each([
  ['without a reason', { target: { ids: ['7'] } }],
  ['with an empty reason', { target: { ids: ['7'] }, reason: '  ' }],
  ['with a reason that is too long', { target: { ids: ['7'] }, reason: 'x'.repeat(501) }],
])('design §7 a block %s is refused', async (_what, body) => {
  const { app, admin } = await game()
  expect(await admin.call('POST', `${PLAYERS}/block`, body)).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } })
  expect((await sql`select user_id from balances where blocked_at is not null`.execute(app.database.db)).rows).toEqual([])
})
