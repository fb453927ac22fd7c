/** The report's statistics, against values that were published. */
import { describe, expect, test } from 'vitest'
import { newcombeInterval, smallestAtPower, smallestDifference, wilsonInterval } from './statistics.ts'

const rounded = (value: number): number => Number(value.toFixed(4))

describe('broadcasts: the interval of a difference', () => {
  // Newcombe, Statistics in Medicine 17 (1998), pages 873 to 890, Table II, method 10.
  test.each([
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [6, 7, 2, 7, 0.0582, 0.8062],
    [5, 56, 0, 29, -0.0381, 0.1926],
    [0, 10, 0, 20, -0.1611, 0.2775],
    [0, 10, 0, 10, -0.2775, 0.2775],
    [10, 10, 0, 20, 0.6791, 1],
    [10, 10, 0, 10, 0.6075, 1],
  ])('%i of %i against %i of %i is Newcombe’s of the table', (done, players, otherDone, otherPlayers, low, high) => {
    const found = newcombeInterval({ players, done }, { players: otherPlayers, done: otherDone })!
    expect([rounded(found.low), rounded(found.high)]).toEqual([low, high])
    expect(found.difference).toBeCloseTo(done / players - otherDone / otherPlayers, 12)
  })

  test('turns round with the groups, and contains the difference', () => {
    const [few, many] = [
      { players: 37, done: 5 },
      { players: 912, done: 201 },
    ]
    const [there, back] = [newcombeInterval(few, many)!, newcombeInterval(many, few)!]
    expect(there.low).toBeCloseTo(-back.high, 12)
    expect(there.high).toBeCloseTo(-back.low, 12)
    expect(there.low).toBeLessThan(there.difference)
    expect(there.high).toBeGreaterThan(there.difference)
  })

  test('does not exist for a group without players', () => {
    expect(newcombeInterval({ players: 0, done: 0 }, { players: 5, done: 1 })).toBeUndefined()
    expect(newcombeInterval({ players: 5, done: 1 }, { players: 0, done: 0 })).toBeUndefined()
  })

  // Newcombe, Statistics in Medicine 17 (1998), pages 857 to 872, Table I, method 3.
  test.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('the share of %i in %i has Wilson’s interval of the table', (done, players, low, high) => {
    const found = wilsonInterval({ players, done })
    expect([rounded(found.low), rounded(found.high)]).toEqual([low, high])
  })
})

describe('broadcasts: the smallest difference that can be shown', () => {
  test('a control group of 10 % of 100,000 players shows 0.9 points at a base of 10 %', () => {
    expect(smallestDifference({ messaged: 90_000, held: 10_000, base: 0.1 })! * 100).toBeCloseTo(0.9, 1)
  })

  test('is that of R’s help for power.prop.test: 50 in each group, a base of 50 %, found in nine of ten cases: 80.26 %', () => {
    const Z_90 = 1.2815515655446004
    expect(0.5 + smallestAtPower({ messaged: 50, held: 50, base: 0.5 }, Z_90)!).toBeCloseTo(0.8026, 4)
  })

  test('shrinks as the control group grows, and is more than nothing at a base of 0 %', () => {
    const shown = [1, 5, 10, 20].map((percent) =>
      smallestDifference({ messaged: 1000 * (100 - percent), held: 1000 * percent, base: 0.1 })!,
    )
    expect(shown.toSorted((a, b) => b - a)).toEqual(shown)
    expect(smallestDifference({ messaged: 900, held: 100, base: 0 })).toBeGreaterThan(0)
  })

  test('does not exist for groups that are too small or empty, or where everybody claims anyway', () => {
    expect(smallestDifference({ messaged: 3, held: 1, base: 0.5 })).toBeUndefined()
    expect(smallestDifference({ messaged: 10, held: 0, base: 0.1 })).toBeUndefined()
    expect(smallestDifference({ messaged: 900, held: 100, base: 1 })).toBeUndefined()
    expect(smallestDifference({ messaged: 0, held: 10, base: 0.1 })).toBeUndefined()
  })
})
