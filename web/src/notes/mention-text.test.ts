/** Mentions: when the menu opens and whom it offers, and whom a text names. */
import { describe, expect, test } from 'vitest'
import { mentionAt, mentionedIn, offered, partsOf } from './mention-text.ts'

const people = [
  { id: '1', name: 'Ann Lee' },
  { id: '2', name: 'Ann Leeds' },
  { id: '3', name: 'Zoë Ångström' },
  { id: '4', name: 'Ann Lee' },
]
const [first, second, third, fourth] = people

describe('the menu', () => {
  test.each([
    ['@', { start: 0, typed: '' }],
    ['Ask @an', { start: 4, typed: 'an' }],
    ['Ask (@Ann Le', { start: 5, typed: 'Ann Le' }],
    ['Two\n@', { start: 4, typed: '' }],
    ['a@b.org', undefined],
    ['@Ann\nnext line', undefined],
    ['no mention', undefined],
  ])('opens behind an @ that begins a word: %j', (text, mention) => {
    expect(mentionAt(text, text.length)).toEqual(mention)
  })

  test('is about what stands before the caret', () => {
    expect(mentionAt('@zo and more', 3)).toEqual({ start: 0, typed: 'zo' })
  })

  test.each([
    ['', people],
    ['zoe', [third]],
    ['ang', [third]],
    ['ann lee', [first, second, fourth]],
    ['ee', []],
    ['Ann Leeds ', []],
  ])('offers for %j', (typed, found) => {
    expect(offered(people, { start: 0, typed })).toEqual(found)
  })
})

describe('a text', () => {
  test('is split at its mentions, of which the longest counts', () => {
    expect(partsOf('@Ann Leeds, ask @Zoë Ångström or @Nobody', people)).toEqual([
      { text: '@Ann Leeds', mention: second },
      { text: ', ask ' },
      { text: '@Zoë Ångström', mention: third },
      { text: ' or @Nobody' },
    ])
  })

  test.each([
    ['@Ann Leeds', [], ['2']],
    ['@Ann Leedsy', [], []],
    ['@Ann Lee', ['4'], ['4']],
    ['@Ann Lee', [], ['1', '4']],
    ['Ann Lee', ['1'], []],
  ])('%j mentions, with %j chosen, %j', (text, chosen, ids) => {
    expect(mentionedIn(text, people, new Set(chosen))).toEqual(ids)
  })
})
