/** Lists: a sample says "more" only if that is certain, and does so where it saves work. */
import { expect, test } from 'vitest'
import { rounds, seededRandom } from '#test/size.ts'
import { poissonUpperLimit, provesMore } from './counted-sample.ts'

const MAX = 10_000

test('Lists: a sample of pages never proves more where there are no more, however often it is taken', () => {
  const random = seededRandom()
  for (const allPages of [20_000, 30_000, 300_000])
    for (let round = 0; round < rounds(2_000, 100_000); round += 1) {
      const pages = 560
      // The worst case: as many pages as possible hold one of the rows.
      const hits = Array.from({ length: pages }, () => random() * allPages < MAX).filter(Boolean).length
      expect(provesMore({ pages, hits, allPages, max: MAX }), `${hits} of ${allPages}`).toBe(false)
    }
})

test.each([
  { of: 'a name that one in thirty of a million rows has', pages: 570, hits: 390, allPages: 28_600, isMore: true },
  {
    of: 'such a name among ten million rows, where a small sample is enough',
    pages: 56,
    hits: 39,
    allPages: 286_000,
    isMore: true,
  },
  { of: 'a name that one in three hundred of ten million rows has', pages: 560, hits: 63, allPages: 286_000, isMore: true },
  { of: 'a text that every row has', pages: 57, hits: 57, allPages: 28_600, isMore: true },
  { of: 'half as many pages as there can be', pages: 560, hits: 100, allPages: 28_600, isMore: false },
  { of: 'a text that no row has', pages: 57, hits: 0, allPages: 28_600, isMore: false },
  { of: 'a table with fewer pages than rows that can be counted', pages: 57, hits: 57, allPages: 9_000, isMore: false },
  { of: 'an empty table', pages: Number.NaN, hits: 0, allPages: Number.NaN, isMore: false },
])('Lists: a sample of $of', ({ isMore, pages, hits, allPages }) => {
  expect(provesMore({ pages, hits, allPages, max: MAX })).toBe(isMore)
})

test('Lists: what a sample holds few of is probably fewer than said, in about 19 of 20 samples', () => {
  expect([0, 1, 2, 9].map((found) => poissonUpperLimit(found).toFixed(2))).toEqual(['3.00', '4.74', '6.30', '15.71'])
  const random = seededRandom()
  const [pages, allPages] = [500, 25_000]
  const samples = rounds(2_000, 50_000)
  for (const matching of [20, 100, 400]) {
    const missed = Array.from({ length: samples }, () => {
      const hits = Array.from({ length: matching }, () => random() < pages / allPages).filter(Boolean).length
      return (poissonUpperLimit(hits) * allPages) / pages <= matching
    }).filter(Boolean).length
    expect(missed / samples, `${matching}`).toBeLessThan(0.07)
  }
})
