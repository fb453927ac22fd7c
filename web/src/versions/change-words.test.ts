/** Changes in words: labels of the entity, words for values, the specification's texts. */
import { expect, test } from 'vitest'
import { changesInWords, changesText } from './change-words.ts'

const words = (kind: Parameters<typeof changesInWords>[0], changes: object) =>
  changesText(changesInWords(kind, JSON.stringify(changes)))

test.each([
  ['socialTask', { type: ['moreLink', 'bsc'], reward: [1000, 2.5] }, 'Type: Website → Bsc Wallet Address\nReward: 1,000 → 2.5'],
  ['announcement', { status: [true, false] }, 'Status: Active → In Active'],
  [
    'announcement',
    { linkType: [null, 'noInput'], link: ['https://x.com', null] },
    'Link Type: Link without input\nLink: https://x.com → –',
  ],
  ['user', { userType: ['user', 'admin'], fname: ['Uma', 'Ulla'] }, 'User Type: User → Admin\nFirst Name: Uma → Ulla'],
  ['view', { isShared: [false, true] }, 'Is Shared: No → Yes'],
  [
    'announcement',
    { image: ['announcements/1700000000000_a.png', 'announcements/1700000000001_b.png'], imageName: ['a.png', 'b.png'] },
    'Image: a.png → b.png',
  ],
  [
    'announcement',
    { icon: ['announcements/1700000000000_a.png', 'announcements/1700000000001_a.png'] },
    'Icon: a.png → a.png (another file)',
  ],
] as const)('of a record of the kind %s', (kind, changes, text) => {
  expect(words(kind, changes)).toBe(text)
})

test('an act that changed no field of its record has no changes', () => {
  expect(changesInWords('user', null)).toEqual([])
})
