import { expect, test } from 'vitest'
import { SeenKeys } from './seen-keys.ts'

test('design §8 the second line with a key is found among many keys, also after the table has grown', () => {
  const seen = new SeenKeys()
  const keys = Array.from({ length: 200_000 }, (_, n) => JSON.stringify([n % 2 === 0 ? n : `item ${n}`, 'social']))
  const addAll = (firstLine: number) => keys.map((key, index) => seen.add(key, firstLine + index))
  expect(addAll(1).every((earlier) => earlier === undefined)).toBe(true)
  expect(addAll(900_001)).toEqual(keys.map((_, index) => index + 1))
})

test('design §8 room can be made for many keys at once, also when some are remembered already', () => {
  const seen = new SeenKeys()
  seen.add('[1]', 1)
  seen.reserve(100_000)
  expect(seen.add('[1]', 2)).toBe(1)
  for (let key = 2; key <= 200_000; key += 1) expect(seen.add(`[${key}]`, key)).toBeUndefined()
  expect(seen.add('[150000]', 0)).toBe(150_000)
  expect(seen.size).toBe(200_000)
})

test('design §8 keys that differ in one place, or in the order of their parts, are different', () => {
  const seen = new SeenKeys()
  for (const [index, key] of ['', '[1]', '[2]', '["1"]', '[1,2]', '[2,1]', '["ab","c"]', '["a","bc"]'].entries())
    expect(seen.add(key, index + 1), key).toBeUndefined()
})
