import { describe, expect, test } from 'vitest'
import { type Claim, settleUnique } from './import-unique.ts'

const refusedIds = (claims: Claim<number>[], existing: Claim<number>[]) => [...settleUnique(claims, existing)].map(({ id }) => id)

describe('§5 Priority must be unique within its collection', () => {
  test('the first of two new rows gets it', () => {
    expect(
      refusedIds(
        [
          { id: 'a', key: 1 },
          { id: 'b', key: 1 },
        ],
        [],
      ),
    ).toEqual(['b'])
  })

  test('a row that has the priority keeps it, wherever its line is', () => {
    expect(
      refusedIds(
        [
          { id: 'b', key: 1 },
          { id: 'a', key: 1 },
        ],
        [{ id: 'a', key: 1 }],
      ),
    ).toEqual(['b'])
    expect(refusedIds([{ id: 'b', key: 1 }], [{ id: 'a', key: 1 }])).toEqual(['b'])
  })

  test('two rows can swap priorities', () => {
    expect(
      refusedIds(
        [
          { id: 'a', key: 2 },
          { id: 'b', key: 1 },
        ],
        [
          { id: 'a', key: 1 },
          { id: 'b', key: 2 },
        ],
      ),
    ).toEqual([])
  })

  test('a refused row keeps its old priority, so a row that wants it is refused too', () => {
    const existing = [
      { id: 'a', key: 1 },
      { id: 'b', key: 2 },
      { id: 'c', key: 3 },
    ]
    expect(
      refusedIds(
        [
          { id: 'b', key: 1 },
          { id: 'a', key: 3 },
        ],
        existing,
      ),
    ).toEqual(['a', 'b'])
  })

  test('for all combinations of four rows and three priorities, the result is unique and importing it again changes nothing', () => {
    const ids = ['a', 'b', 'c', 'd']
    const stored = [
      { id: 'a', key: 1 },
      { id: 'b', key: 2 },
      { id: 'c', key: 3 },
    ]
    let cases = 0
    for (let code = 0; code < 4 ** ids.length; code += 1) {
      // Each row wants 1, 2 or 3, or is not in the batch.
      const wanted = ids.map((id, index) => ({ id, key: Math.floor(code / 4 ** index) % 4 })).filter(({ key }) => key > 0)
      for (const claims of [wanted, wanted.toReversed()]) {
        const refused = settleUnique(claims, stored)
        const after = new Map(stored.map(({ id, key }) => [id, key]))
        for (const claim of claims) if (!refused.has(claim)) after.set(claim.id, claim.key)
        expect(new Set(after.values()).size).toBe(after.size)
        const now = Array.from(after, ([id, key]) => ({ id, key }))
        expect(settleUnique(claims, now)).toEqual(refused)
        cases += 1
      }
    }
    expect(cases).toBe(512)
  })
})
