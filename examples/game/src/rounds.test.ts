import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { lightAt, MARK_REACH, markOf, TAPS } from './round.ts'
import { createRounds } from './rounds.ts'

const ADA = 7
const SECRET = 'the bot’s token'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** Returns taps that each hit the middle of their mark. */
function perfectTaps(seed: number): number[] {
  return Array.from({ length: TAPS }, (_, n) => {
    let ms = 200
    while (Math.abs(lightAt(n, ms) - markOf(seed, n)) > MARK_REACH / 20) ms += 1
    return ms
  })
}

/** Plays a whole round. */
function playedRound(rounds = createRounds(SECRET)): { id: string; taps: number[] } {
  const { id, seed } = rounds.begin(ADA)
  const taps = perfectTaps(seed)
  vi.advanceTimersByTime(taps.reduce((sum, ms) => sum + ms, 0))
  return { id, taps }
}

test('a round has the score of its taps, also when it is sent again or after a restart', () => {
  const { id, taps } = playedRound()
  const rounds = createRounds(SECRET)
  const score = rounds.judge(ADA, id, taps)
  expect(score).toBeGreaterThan(TAPS * 18)
  expect(rounds.judge(ADA, id, taps)).toBe(score)
})

test('of a hundred rounds begun at once a player can play one', () => {
  const rounds = createRounds(SECRET)
  const begun = Array.from({ length: 100 }, () => rounds.begin(ADA))
  vi.advanceTimersByTime(60_000)
  const scores = begun.map(({ id, seed }) => rounds.judge(ADA, id, perfectTaps(seed)))
  expect(scores.filter((score) => score !== undefined)).toHaveLength(1)
})

test('of the rounds from before a restart a player can play one', () => {
  const before = createRounds(SECRET)
  const begun = [before.begin(ADA), before.begin(ADA)]
  vi.advanceTimersByTime(60_000)
  const rounds = createRounds(SECRET)
  const scores = begun.map(({ id, seed }) => rounds.judge(ADA, id, perfectTaps(seed)))
  expect(scores.filter((score) => score !== undefined)).toHaveLength(1)
})

test('a round is played once, even if it scored nothing', () => {
  const rounds = createRounds(SECRET)
  const { id, seed } = rounds.begin(ADA)
  vi.advanceTimersByTime(60_000)
  const beside = Array.from({ length: TAPS }, (_, n) => {
    let ms = 200
    while (Math.abs(lightAt(n, ms) - markOf(seed, n)) <= MARK_REACH) ms += 1
    return ms
  })
  expect(rounds.judge(ADA, id, beside)).toBe(0)
  expect(rounds.judge(ADA, id, perfectTaps(seed))).toBeUndefined()
  expect(rounds.judge(ADA, id, beside)).toBe(0)
})

test('a round ends by time', () => {
  const rounds = createRounds(SECRET)
  const { id, taps } = playedRound(rounds)
  vi.advanceTimersByTime(120_000)
  expect(rounds.judge(ADA, id, taps)).toBeUndefined()
})

test('a round is valid only for its player and this bot', () => {
  const { id, taps } = playedRound()
  expect(createRounds(SECRET).judge(ADA + 1, id, taps)).toBeUndefined()
  expect(createRounds('another').judge(ADA, id, taps)).toBeUndefined()
  const [at = '', ...rest] = id.split('-')
  expect(createRounds(SECRET).judge(ADA, [Number(at) - 60_000, ...rest].join('-'), taps)).toBeUndefined()
  for (const odd of ['', 'x', '--', id.slice(0, -1)]) expect(createRounds(SECRET).judge(ADA, odd, taps), odd).toBeUndefined()
})

test('a round is refused if it is too fast, too long, or has the wrong number of taps', () => {
  const rounds = createRounds(SECRET)
  const { id, seed } = rounds.begin(ADA)
  const taps = perfectTaps(seed)
  expect(rounds.judge(ADA, id, taps)).toBeUndefined()
  vi.advanceTimersByTime(60_000)
  expect(rounds.judge(ADA, id, taps.slice(1))).toBeUndefined()
  expect(rounds.judge(ADA, id, [...taps, 500])).toBeUndefined()
  expect(rounds.judge(ADA, id, taps.with(0, 20))).toBeUndefined()
  expect(rounds.judge(ADA, id, taps.with(0, 60_000))).toBeUndefined()
  expect(rounds.judge(ADA, id, taps.with(0, Number.NaN))).toBeUndefined()
  expect(rounds.judge(ADA, id, taps)).toBeDefined()
})
