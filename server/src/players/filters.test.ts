/** The filters of segments: pages in every order, acts and the membership of one player are what a plain look at each player says. */
import { expect, test } from 'vitest'
import { type PlayersFilter, playersSorts } from '@arcade/contract/players/fields'
import { sql } from 'kysely'
import { playerEntity, sourceSql } from '#src/db/entities.ts'
import { scanFrom } from '#src/lists/cursor-orders.ts'
import { cursorPages } from '#src/lists/cursor-pages.ts'
import { orderSql } from '#src/lists/list.ts'
import { whereFilter } from '#src/lists/where.ts'
import { addCount } from '#test/activity.ts'
import { citusUrl } from '#test/citus.ts'
import { addSegmentPlayers, anyOf, isMatch, segmentFilters as filters, segmentPlayers } from '#test/segment-players.ts'
import { rounds, seededRandom } from '#test/size.ts'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'
import { servedPlayers } from './players-list.ts'
import { createMembership } from './segments.ts'

const nameOf = (filter: PlayersFilter): string => JSON.stringify(filter)
/** Enough that pages are read in each way: more matches than are sorted, and none of them among the next 20,000. */
const MANY = 46_000

async function counted(app: TestApp, count: number): Promise<void> {
  await addSegmentPlayers(app.database.db, count)
  await addCount(app.database, { of: 'players' }, count)
}

test('segments: each page of each order has the players whom a plain look at everyone finds', { timeout: 300_000 }, async () => {
  const app = await testApp()
  await counted(app, MANY)
  const all = segmentPlayers(MANY)
  const pages = cursorPages(app.database, servedPlayers)
  for (const sort of playersSorts.filter((name) => name !== 'username')) {
    // which is read like A-Z
    const { rows: inOrder } = await sql<{ id: number; key: string | null }>`
      select user_id as id, ${sql.raw(pages.orders[sort].keyText)} as key from ${sql.raw(sourceSql(playerEntity))}
      order by ${sql.raw(orderSql(servedPlayers, sort, false))}`.execute(app.database.db)
    for (const filter of filters) {
      for (const reversed of [false, true]) {
        const order = reversed ? inOrder.toReversed() : inOrder
        const hits = order.flatMap(({ id }, at) => (isMatch(all[id - 1]!, filter) ? at : []))
        for (const place of reversed ? [-1] : [-1, 25_000, hits.at(-2) ?? 0]) {
          const scan = scanFrom({ sort, reversed }, 'after', order[place])
          const { rows } = await pages.read(whereFilter(servedPlayers, filter, undefined), scan, 6)
          const wanted = hits.filter((at) => at > place).slice(0, 6)
          expect(
            rows.map(({ id }) => id),
            `${nameOf(filter)} ${sort} ${reversed} after ${place}`,
          ).toEqual(wanted.map((at) => order[at]!.id))
        }
      }
    }
  }
})

/** The conditions that random filters are made of. A filter with several of them matches few players. */
const parts: readonly PlayersFilter[] = [
  ...filters.filter(({ search, any }) => search === undefined && any === undefined),
  ...[2000, 2500, 2990].map((balanceMin) => ({ balanceMin })),
  ...[1700, 2200].map((balanceMax) => ({ balanceMax })),
]

test(
  'segments: a page that is found by walking along the order has the players whom a plain look finds',
  { timeout: 120_000 },
  async () => {
    const PLAYERS = 3000
    const app = await testApp()
    await counted(app, PLAYERS)
    const all = segmentPlayers(PLAYERS)
    // No page is found before it is walked for, and several walks are needed for it.
    const pages = cursorPages(app.database, servedPlayers, { rowsNear: () => 1, rowsWalked: 12, walkedShare: 1e6 })
    let walked = 0
    const random = seededRandom()
    const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!
    for (let round = 0; round < rounds(150, 5000); round += 1) {
      const filter = {
        ...one(parts),
        ...one(parts),
        ...(random() < 0.3 && { any: anyOf(one(parts), { ...one(parts), ...one(parts) }) }),
      }
      const [sort, way, reversed, limit] = [one(playersSorts), one(['after', 'before'] as const), random() < 0.5, one([2, 6, 11])]
      const { rows: inOrder } = await sql<{ id: number; key: string | null }>`
      select user_id as id, ${sql.raw(pages.orders[sort].keyText)} as key from ${sql.raw(sourceSql(playerEntity))}
      order by ${sql.raw(orderSql(servedPlayers, sort, reversed))}`.execute(app.database.db)
      const order = way === 'after' ? inOrder : inOrder.toReversed()
      const hits = order.flatMap(({ id }, at) => (isMatch(all[id - 1]!, filter) ? at : []))
      const place = one([-1, Math.floor(random() * PLAYERS), hits.at(0) ?? 0, hits.at(-2) ?? 0, PLAYERS - 1])
      const page = await pages.read(
        whereFilter(servedPlayers, filter, undefined),
        scanFrom({ sort, reversed }, way, order[place]),
        limit,
      )
      const wanted = hits.filter((at) => at > place).slice(0, limit)
      if (page.total === undefined && wanted.length > 1) walked += 1 // those who are collected are counted, too
      expect(
        page.rows.map(({ id }) => id),
        `${nameOf(filter)} ${sort} ${reversed} ${limit} ${way} ${place}`,
      ).toEqual(wanted.map((at) => order[at]!.id))
    }
    // The plan of a cluster does not show what its workers read, so there all matches are collected instead.
    expect(walked).toBeGreaterThan(citusUrl === undefined ? rounds(150, 5000) / 10 : -1)
  },
)

function addressOf(parameters: Readonly<Record<string, unknown>>): string {
  const texts = Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)])
  return new URLSearchParams(texts).toString()
}

const ask = async (admin: Client, path: string, filter: PlayersFilter) => {
  const query = addressOf({ ...filter })
  const answer = await admin.call('GET', `${path}?${query}`)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

test('segments: neighbours, acts on all matches and the rows of the list agree with the count', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  await counted(app, 2000)
  const all = segmentPlayers(2000)
  for (const filter of filters) {
    const wanted = all.filter((player) => isMatch(player, filter)).map(({ userId }) => userId)
    const { users } = await ask(admin, '/api/telegram-users', { ...filter, sort: 'user-id', pageSize: 100 } as PlayersFilter)
    expect(
      users.map(({ userId }: { userId: number }) => userId),
      nameOf(filter),
    ).toEqual(wanted.slice(0, 100))
    const open = wanted.filter((id) => !all[id - 1]!.isBlocked)
    const dryRun = { target: { filter }, reason: 'x', dryRun: true }
    expect((await admin.call('POST', '/api/telegram-users/block', dryRun)).body, nameOf(filter)).toMatchObject({
      affected: open.length,
    })
    if (wanted.length < 3) continue
    const path = `/api/telegram-users/${wanted[1]}/neighbours`
    expect(await ask(admin, path, { ...filter, sort: 'user-id' } as PlayersFilter)).toEqual({
      previous: wanted[0],
      next: wanted[2],
    })
  }
})

test('segments: a player belongs to a segment if the list that it shows has the player', async () => {
  const app = await testApp()
  await counted(app, 2000)
  const { db } = app.database
  const views = filters.map((filter, index) => {
    const { search, ...others } = filter
    const address = addressOf({ ...others, ...(search && { q: search }), sort: 'newest', rows: 'compact' })
    return { id: `view-${index}`, list: 'telegramUsers' as const, name: `View ${index}`, address }
  })
  await db.insertInto('saved_views').values(views).execute()
  const isMember = createMembership(app.database)
  const all = segmentPlayers(2000)
  const ids = views.map(({ id }) => id)
  for (const userId of [1, 2, 5, 7, 13, 30, 33, 77, 143, 210, 300, 1001, 1007, 1998, 2000]) {
    const wanted = filters.flatMap((filter, index) => (isMatch(all[userId - 1]!, filter) ? `view-${index}` : []))
    expect([...(await isMember(userId, ids))].toSorted(), String(userId)).toEqual(wanted.toSorted())
  }
  expect(await isMember(99_999, ids)).toEqual(new Set())
})
