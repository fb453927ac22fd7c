/** Items for a segment (design §7): others do not see them, have no news of them and get 404 on a claim, asked at the moment of the call. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { expectReconciled } from '#test/ledger.ts'
import { testApp, type TestApp } from '#test/test-app.ts'

const kinds = { social: 'tasks?collection=social', daily: 'tasks?collection=daily', announcement: 'announcements' } as const
type Kind = keyof typeof kinds

/** Adds an item of each kind for everyone, and one for players who have an e-mail address. */
async function opening(): Promise<TestApp> {
  const app = await testApp()
  const { db } = app.database
  const bot = await app.bot()
  await bot.call('PUT', '/bot/v1/players/7', { firstName: 'Ada', email: 'ada@example.org' })
  await bot.call('PUT', '/bot/v1/players/8', { firstName: 'Bob' })
  await db
    .insertInto('saved_views')
    .values({ id: 'segment', list: 'telegramUsers', name: 'With e-mail', address: 'has=email&sort=newest' })
    .execute()
  for (const [priority, [id, segment_id]] of Object.entries([['open', null] as const, ['closed', 'segment'] as const])) {
    for (const collection of ['social', 'daily'] as const)
      await db
        .insertInto('tasks')
        .values({ collection, id, image: 'x', priority: Number(priority), title: id, reward: 5, segment_id })
        .execute()
    await db
      .insertInto('announcements')
      .values({ id, type: 'desc', title: id, subtitle: '', reward: 5, status: true, news: id === 'open' ? 0 : 1, segment_id })
      .execute()
    for (const kind of Object.keys(kinds) as Kind[])
      await db.insertInto('history_items').values({ kind, item_id: id, title: id, type: 'x', reward: 5 }).execute()
  }
  await sql`update status_epoch set epoch = 1`.execute(db)
  return app
}

async function seenBy(app: TestApp, userId: number) {
  const player = app.player(userId)
  const ids = async (kind: Kind) => {
    const { body } = await player.call('GET', `/bot/v1/players/me/${kinds[kind]}`)
    const rows = (body.tasks ?? body.announcements) as Record<string, unknown>[]
    expect(Object.keys(rows[0]!)).not.toContain('segmentId')
    return rows.map(({ id }) => String(id)).toSorted()
  }
  const { hasNews } = (await player.call('GET', '/bot/v1/players/me')).body
  return { social: await ids('social'), daily: await ids('daily'), announcement: await ids('announcement'), hasNews }
}

test('segments: only players of the segment see its items and have news of them', async () => {
  const app = await opening()
  const both = ['closed', 'open']
  expect(await seenBy(app, 7)).toEqual({ social: both, daily: both, announcement: both, hasNews: true })
  expect(await seenBy(app, 8)).toEqual({ social: ['open'], daily: ['open'], announcement: ['open'], hasNews: false })
  await (await app.bot()).call('PUT', '/bot/v1/players/8', { email: 'bob@example.org' })
  expect(await seenBy(app, 8)).toEqual({ social: both, daily: both, announcement: both, hasNews: true })
})

test('segments: security: a claim by another player gets 404, as if there were no such item; afterwards it still gets its answer', async () => {
  const app = await opening()
  const bot = await app.bot()
  const claim = (kind: Kind, id: string, userId: number) => bot.call('POST', `/bot/v1/players/${userId}/claims`, { kind, id })
  for (const kind of Object.keys(kinds) as Kind[]) {
    const unknown = await claim(kind, 'none', 8)
    const refused = await claim(kind, 'closed', 8)
    expect(refused.status, kind).toBe(404)
    expect({ ...refused.body, requestId: '' }).toEqual({ ...unknown.body, requestId: '' })
    expect((await app.player(8).call('POST', '/bot/v1/players/me/claims', { kind, id: 'closed' })).status).toBe(404)
    expect((await claim(kind, 'open', 8)).body).toMatchObject({ isFirst: true, reward: 5 })
    expect((await claim(kind, 'closed', 7)).body).toMatchObject({ isFirst: true, reward: 5 })
    expect((await claim(kind, 'closed', 99)).body).toMatchObject({ code: 'NO_SUCH_PLAYER' })
  }
  await bot.call('PUT', '/bot/v1/players/7', { email: null })
  for (const kind of Object.keys(kinds) as Kind[])
    expect((await claim(kind, 'closed', 7)).body).toMatchObject({ isFirst: false, reward: 5 })
  await sql`update saved_views set address = 'country=it'`.execute(app.database.db)
  expect((await claim('social', 'closed', 8)).status).toBe(404)
  await expectReconciled(app.database)
})

test('segments: an ended item for a segment does not exist for other players, and is ended for the players of the segment', async () => {
  const app = await opening()
  await sql`update tasks set ends_at = now()`.execute(app.database.db)
  const claim = async (userId: number) =>
    (await app.player(userId).call('POST', '/bot/v1/players/me/claims', { kind: 'social', id: 'closed' })).body.code as string
  expect([await claim(7), await claim(8)]).toEqual(['ENDED', 'NO_SUCH_TASK'])
})
