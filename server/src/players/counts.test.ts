/** Counts of segments: exact if that is quick or asked for, otherwise what a sample tells, and no more than that. */
import { expect, test } from 'vitest'
import type { PlayersFilter } from '@arcade/contract/players/fields'
import { type CountLimits, MatchCounts } from '#src/lists/counts.ts'
import { whereFilter } from '#src/lists/where.ts'
import { addCount } from '#test/activity.ts'
import { citusUrl } from '#test/citus.ts'
import { addSegmentPlayers, isMatch, segmentFilters, segmentPlayers } from '#test/segment-players.ts'
import { testApp, type TestApp } from '#test/test-app.ts'
import { servedPlayers } from './players-list.ts'

/** More players than the larger sample has, so that their number may be estimated. */
const MANY = 46_000
/** No more than the sample: the number is always counted. */
const FEW = 20_000
const NEVER_MS = 600_000

const filters = segmentFilters.map((filter) => ({
  filter,
  name: JSON.stringify(filter),
  wanted: segmentPlayers(MANY).filter((player) => isMatch(player, filter)).length,
}))
const exactly = (wanted: number): object =>
  wanted <= 10_000 ? { total: wanted, isMore: false } : { total: 10_000, isMore: true, about: expect.any(Number) }

async function appWithMany(): Promise<TestApp> {
  const app = await testApp()
  await addSegmentPlayers(app.database.db, MANY)
  await addCount(app.database, { of: 'players' }, MANY)
  return app
}

/** Counts with these limits instead of those of the server. */
function countWith(app: TestApp, limits: CountLimits) {
  const counts = new MatchCounts(app.database, servedPlayers, limits)
  const { signal } = new AbortController()
  return (filter: PlayersFilter, { all = MANY, isExact = false } = {}) =>
    counts.count(whereFilter(servedPlayers, filter, undefined), { all, isExact, signal })
}

test('segments: the exact number is counted if there is time, and otherwise for searches, in short lists and if it is asked for', async () => {
  const app = await appWithMany()
  const unhurried = countWith(app, { countMs: NEVER_MS, sampleMs: NEVER_MS })
  const hurried = countWith(app, { countMs: 0, sampleMs: 0 })
  for (const { filter, name, wanted } of filters) {
    const counted = await unhurried(filter)
    expect(counted, name).toEqual(exactly(wanted))
    expect(Math.abs((counted.about ?? wanted) - wanted), name).toBeLessThanOrEqual(wanted / 5)
    expect(await hurried(filter, { isExact: filter.search === undefined }), name).toEqual(exactly(wanted))
    expect(await hurried(filter, { all: FEW }), name).not.toHaveProperty('isUnfinished')
  }
  const admin = await app.signUp('admin')
  const { body } = await admin.call('GET', '/api/telegram-users/count?tookPart=social:rare&exact=true')
  expect(body).toEqual({ total: 46, isMore: false })
})

test('segments: without time to count them, a count says about how many there are, or under how many, and no more than it knows', async () => {
  const app = await appWithMany()
  const limits = [
    { countMs: 1, sampleMs: NEVER_MS }, // too short for any of these filters that matches many or is not served by an index
    { countMs: 0, sampleMs: NEVER_MS },
    { countMs: 0, sampleMs: 1 },
    { countMs: 0, sampleMs: 0 },
  ]
  for (const limit of limits) {
    const count = countWith(app, limit)
    const kinds = new Set<string>()
    for (const { filter, name, wanted } of filters.filter((one) => one.filter.search === undefined)) {
      const answer = await count(filter)
      const { total, about, under } = answer
      const said = `${JSON.stringify(limit)}: ${name}: ${JSON.stringify(answer)} of ${wanted}`
      const isExact = limit.countMs > 0 && total === wanted && !answer.isMore
      kinds.add(isExact ? 'exact' : about === undefined ? 'under' : 'about')
      if (isExact) continue
      expect(answer, said).toMatchObject({ isMore: true, ...(limit.countMs === 0 && { isUnfinished: true }) })
      expect(total, said).toBeLessThanOrEqual(wanted)
      expect(
        [about, under].filter((one) => one !== undefined),
        said,
      ).toHaveLength(1)
      expect(Math.abs((about ?? wanted) - wanted), said).toBeLessThan(0.6 * wanted || 1)
      // One of twenty samples says too low a number, and each new cluster has other samples.
      expect(citusUrl === undefined && under !== undefined ? under : wanted + 1, said).toBeGreaterThan(wanted)
    }
    expect([...kinds], JSON.stringify(limit)).toEqual(expect.arrayContaining(['under', 'about']))
  }
})
