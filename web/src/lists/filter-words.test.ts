import { playerList } from '@arcade/contract/players/fields'
import { expect, test } from 'vitest'
import { filterWords, itemsIn } from './filter-words.ts'
import { toolbarFilters } from './toolbar-filters.ts'

const filters = toolbarFilters(playerList)
const titleOf = (item: string) => (item === 'social:4' ? 'Follow us' : '–')

test.each([
  ['balanceMin', 1000.5, 'Balance from: 1,000.5'],
  ['seenDays', 1, 'Seen within 1 day'],
  ['joinedDays', 30, 'Joined within 30 days'],
  ['has', 'email,wallet', 'Has: Email, Wallet'],
  ['tookPart', 'social:4', 'Took part in: Follow us'],
  ['reach', 'unreachable', 'Messages: Has blocked the bot'],
  [
    'any',
    '[{"balanceMin":5,"has":"ton"},{"tookPart":"social:4"}]',
    'Any of: (Balance from: 5 and Has: TON wallet) or (Took part in: Follow us)',
  ],
])('a filter in words: %s', (name, value, words) => {
  expect(
    filterWords(
      filters.find((one) => one.name === name)!,
      value,
      titleOf,
    ),
  ).toBe(words)
})

test('the items that filters name are found, also within groups', () => {
  expect(itemsIn(filters, { tookPart: 'social:4', balanceMin: 1, any: '[{"notTookPart":"daily:7"},{"has":"ton"}]' })).toEqual([
    'social:4',
    'daily:7',
  ])
})
