/** Decides whether a text that an operator typed is about the person who is being erased. */
import { searchedText } from '@arcade/contract/search'
import type { ListName } from '@arcade/contract/lists'
import type { PersonKind } from '#src/audit/erase.ts'

export interface ErasedPerson {
  kind: PersonKind
  id: string
  /** What audit entries name instead of the id. */
  anonymousId: string
  /** Everything known about the person that a search finds, such as names. */
  texts: readonly string[]
  /** Texts that cannot mean anything else, such as an e-mail address. A name can: a player may be called `Blocked`. */
  identifiers: readonly string[]
  /** The lists whose search finds such people. The first one is the list of these people. */
  lists: readonly ListName[]
  /** Whether a search in the first of these lists finds somebody else. */
  findsOthers: (search: string) => Promise<boolean>
}

export interface PersonMatcher {
  /** Whether one of the person's identifiers occurs in a text. */
  occursIn(text: string): boolean
  /** Whether a search finds this person and nobody else. */
  matchesSearch(search: string): Promise<boolean>
  /** Whether a name, such as that of a view, contains an identifier, or a word of the person's texts that finds only this person. */
  matchesName(name: string): Promise<boolean>
  /** Whether the address of a list's page looks for this person. @param list undefined if the list is not known */
  matchesAddress(address: string, list?: string): Promise<boolean>
}

/** Shorter words and searches find too much to be about one person. */
const MIN_WORD_LENGTH = 3

/** A shorter identifier, such as a test's user id 8, is in many texts that do not mean the person. */
const MIN_IDENTIFIER_LENGTH = 6

/** The parts of a name or a text that count as words: a handle is one, and so is an e-mail address. */
function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{M}\p{N}_@.]+/u).flatMap((word) => searchedText(word) || [])
}

/** Filters whose value is the id of a person. */
const ID_FILTERS = ['actorId', 'recordId']

export function personMatcher({ id, texts, identifiers, lists, findsOthers }: ErasedPerson): PersonMatcher {
  const marks = identifiers.filter((text) => text.length >= MIN_IDENTIFIER_LENGTH).map(searchedText)
  const all = searchedText(texts.join(' '))
  const words = new Set(texts.flatMap(wordsOf))
  const digits = texts.map((text) => text.replaceAll(/\D/g, '')).join(' ')
  const findsOnly = new Map<string, Promise<boolean>>()

  const occursIn = (text: string): boolean => marks.some((mark) => hasWord(searchedText(text), mark))

  async function matchesSearch(search: string): Promise<boolean> {
    const text = searchedText(search)
    if (text === id) return true
    if (text.length < MIN_WORD_LENGTH) return false
    const number = /^[+\d\s()./-]+$/.test(text) ? text.replaceAll(/\D/g, '').replace(/^0+/, '') : ''
    const isFound = all.includes(text) || (number.length >= MIN_WORD_LENGTH && digits.includes(number))
    if (!isFound) return false
    const known = findsOnly.get(text) ?? findsOthers(search).then((others) => !others)
    findsOnly.set(text, known)
    return known
  }

  async function matchesName(name: string): Promise<boolean> {
    if (occursIn(name)) return true
    for (const word of wordsOf(name)) if (words.has(word) && (await matchesSearch(word))) return true
    return false
  }

  async function matchesAddress(address: string, list?: string): Promise<boolean> {
    const parameters = new URLSearchParams(address)
    // A page writes a text that looks like a number in quotes.
    const valueOf = (name: string): string => (parameters.get(name) ?? '').replace(/^"(.*)"$/, '$1')
    if (ID_FILTERS.some((name) => valueOf(name) === id) || occursIn(valueOf('q'))) return true
    return (list === undefined || lists.some((one) => one === list)) && matchesSearch(valueOf('q'))
  }

  return { occursIn, matchesSearch, matchesName, matchesAddress }
}

/** Whether a text contains a word that neither begins nor ends inside a longer one. */
function hasWord(text: string, word: string): boolean {
  const isInside = (character: string | undefined): boolean => /[\p{L}\p{N}]/u.test(character ?? '')
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!isInside(text[at - 1]) && !isInside(text[at + word.length])) return true
  return false
}
