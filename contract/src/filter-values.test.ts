/** Tests of filters whose values have parts: items, several options at once, and groups of filters. */
import { describe, expect, test } from 'vitest'
import {
  MAX_GROUPS,
  MAX_GROUPS_TEXT_LENGTH,
  filterNamesInGroups,
  readOptions,
  readGroups,
  readItem,
  writeGroups,
  writeItem,
} from './filter-values.ts'
import { filterSchema } from './list-schemas.ts'
import { playerList } from '#src/players/fields.ts'
import { players } from '#src/players/calls.ts'
import { inputOf, messagesOf, text } from '#src/testing/inputs.ts'

const { options } = playerList.filters.has
const groups = [{ seenDays: 7, tookPart: 'social:a' }, { has: 'email,phone' }]

describe('an item', () => {
  test('is its kind and its id, which may contain colons', () => {
    for (const item of [
      { kind: 'social', id: '4711' },
      { kind: 'announcement', id: 'a:b:c' },
    ] as const)
      expect(readItem(writeItem(item))).toEqual(item)
  })

  test.for(['', 'social', 'social:', 'weekly:1', ':1', `daily:${text(129)}`, 'social:a\0', 'social:\ud800'])(
    'is not %j',
    (written) => {
      expect(readItem(written)).toBeUndefined()
    },
  )
})

describe('several options', () => {
  test('are read in the order of their declaration, each once', () => {
    expect(readOptions(options, 'youtube, email,youtube')).toBe('email,youtube')
  })

  test.for(['', ',', 'fax', 'email,fax', 'email,', 'constructor'])('are refused if one is unknown: %j', (written) => {
    expect(readOptions(options, written)).toBeUndefined()
  })
})

describe('groups', () => {
  test('are read and written as the same text, whatever the order of their filters', () => {
    const swapped = JSON.stringify([{ tookPart: 'social:a', seenDays: 7 }, { has: 'phone,email' }])
    const read = readGroups(playerList, swapped)
    expect(read).toEqual([{ tookPart: 'social:a', seenDays: 7 }, { has: 'email,phone' }])
    expect(writeGroups(read!)).toBe(writeGroups(readGroups(playerList, writeGroups(read!))!))
  })

  test('have no search, no days of a calendar and no further groups', () => {
    expect(filterNamesInGroups(playerList)).toEqual(
      Object.keys(playerList.filters).filter((name) => !['joinedFrom', 'joinedBefore', 'any'].includes(name)),
    )
  })

  test('have numbers that a double keeps exactly', () => {
    for (const balanceMin of [1234567890123.45, 2 ** 53])
      expect(readGroups(playerList, `[{"balanceMin":${balanceMin}}]`)).toEqual([{ balanceMin }])
  })

  test.for([
    '',
    '{}',
    '[]',
    '[{}]',
    '[1]',
    '[null]',
    '[[]]',
    '[{"search":"ada"}]',
    '[{"joinedFrom":"2026-01-01T00:00:00Z"}]',
    '[{"any":"[]"}]',
    '[{"toString":"x"}]',
    '[{"__proto__":{"seenDays":7}}]',
    '[{"seenDays":0}]',
    '[{"seenDays":1.5}]',
    '[{"seenDays":7},{"seenDays":3651}]',
    '[{"balanceMin":"x"}]',
    '[{"balanceMin":9007199254740993}]',
    '[{"status":"gone"}]',
    '[{"has":"fax"}]',
    '[{"tookPart":"weekly:1"}]',
    `[${Array.from({ length: MAX_GROUPS + 1 }, () => '{"seenDays":7}').join()}]`,
    `[{"tookPart":"social:${text(MAX_GROUPS_TEXT_LENGTH)}"}]`,
    '[{"seenDays":7}',
  ])('are refused as a whole if a part is not valid: %s', (written) => {
    expect(readGroups(playerList, written)).toBeUndefined()
  })

  test('are a text in a query, and a list or a text in JSON; the result can be parsed again', () => {
    const schema = filterSchema(playerList)
    const asText = schema.parse({ any: JSON.stringify(groups) })
    expect(schema.parse({ any: groups })).toEqual(asText)
    expect(schema.parse(asText)).toEqual(asText)
  })
})

test.for([
  [{ tookPart: 'social' }, 'tookPart'],
  [{ notTookPart: 'weekly:1' }, 'notTookPart'],
  [{ seenDays: '0' }, 'seenDays'],
  [{ seenDays: '1.5' }, 'seenDays'],
  [{ joinedDays: '3651' }, 'joinedDays'],
  [{ reach: 'near' }, 'reach'],
  [{ has: 'email,fax' }, 'has'],
  [{ any: '[]' }, 'any'],
  [{ any: 'x' }, 'any'],
] as const)('the list of players refuses %j with a sentence', ([input, field]) => {
  const messages = messagesOf(inputOf(players.list), input)
  expect(Object.keys(messages)).toEqual([field])
  expect(messages[field]).toMatch(/^(Give |Invalid option)/)
})

test('the list of players takes the filters of segments from a query', () => {
  const query = {
    tookPart: 'social:1',
    seenDays: '7',
    joinedDays: '30',
    reach: 'reachable',
    has: 'wallet',
    any: JSON.stringify(groups),
  }
  expect(messagesOf(inputOf(players.list), query)).toEqual({})
  expect(inputOf(players.count).parse({ seenDays: '7' })).toEqual({ seenDays: 7, exact: false })
  expect(inputOf(players.count).parse({ exact: 'true' })).toEqual({ exact: true })
})
