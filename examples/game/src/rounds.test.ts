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
function playedRound(): { id: string; taps: number[] } {
  const { id, seed } = createRounds(SECRET).begin(ADA)
  const taps = perfectTaps(seed)
  vi.advanceTimersByTime(taps.reduce((sum, ms) => sum + ms, 0))
  return { id, taps }
}

test('a round has the score of its taps, also when it is sent again or after a restart', () => {
  const { id, taps } = playedRound()
  const score = createRounds(SECRET).judge(ADA, id, taps)
  expect(score).toBeGreaterThan(TAPS * 18)
  expect(createRounds(SECRET).judge(ADA, id, taps)).toBe(score)
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
  vi.advanceTimersByTime(600_000)
  expect(rounds.judge(ADA, id, taps)).toBeDefined()
  expect(rounds.judge(ADA, id, taps.slice(1))).toBeUndefined()
  expect(rounds.judge(ADA, id, [...taps, 500])).toBeUndefined()
  expect(rounds.judge(ADA, id, taps.with(0, 20))).toBeUndefined()
  expect(rounds.judge(ADA, id, taps.with(0, 60_000))).toBeUndefined()
  expect(rounds.judge(ADA, id, taps.with(0, Number.NaN))).toBeUndefined()
})
