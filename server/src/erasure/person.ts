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
  /** Whether a search in the lists of other people or of items finds anything. */
  findsElsewhere: (word: string) => Promise<boolean>
}

export interface PersonMatcher {
  /** Whether one of the person's identifiers occurs in a text. */
  occursIn(text: string): boolean
  /**
   * Whether a search looks for this person: it contains an identifier, finds only this person, or contains a word of the person's texts that
   * finds only this person. Except in the list of these people, such a word must not be found elsewhere: it may be in a task's title.
   * @param list the list that is searched, undefined if it is not known
   */
  matchesSearch(search: string, list?: string): Promise<boolean>
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

/** Returns a word and what it may be made from: `Annas`, `anna_1234` and `1234Annas` are made from `anna`. */
function stemsOf(word: string): string[] {
  return [word, ...word.split(/[^\p{L}\p{M}]+/u)].flatMap((part) => [part, part.replace(/s$/, '')])
}

/** Returns the words in each order that begins elsewhere: people write a surname first, too. */
function rotations(words: readonly string[]): string[] {
  return words.map((_, at) => [...words.slice(at), ...words.slice(0, at)].join(' '))
}

/** Filters whose value is the id of a person. */
const ID_FILTERS = ['actorId', 'recordId']

export function personMatcher(person: ErasedPerson): PersonMatcher {
  const { id, texts, identifiers, lists, findsOthers, findsElsewhere } = person
  const marks = identifiers.filter((text) => text.length >= MIN_IDENTIFIER_LENGTH).map(searchedText)
  const all = searchedText(texts.join(' '))
  const words = new Set(texts.flatMap(wordsOf))
  const digits = texts.map((text) => text.replaceAll(/\D/g, '')).join(' ')
  const isOthers = remembered(findsOthers)
  const isElsewhere = remembered(findsElsewhere)

  const occursIn = (text: string): boolean => marks.some((mark) => hasWord(searchedText(text), mark))

  /** Whether a search in the list of these people finds this person and nobody else. */
  async function findsOnlyPerson(search: string): Promise<boolean> {
    const text = searchedText(search)
    if (text === id) return true
    if (text.length < MIN_WORD_LENGTH) return false
    const number = /^[+\d\s()./-]+$/.test(text) ? text.replaceAll(/\D/g, '').replace(/^0+/, '') : ''
    const isFound = all.includes(text) || (number.length >= MIN_WORD_LENGTH && digits.includes(number))
    return isFound && !(await isOthers(text))
  }

  /** Returns the words of the person in a text that find nobody else. */
  async function distinctiveWords(text: string): Promise<string[]> {
    const own = wordsOf(text)
      .flatMap(stemsOf)
      .filter((word) => words.has(word))
    return filterAsync([...new Set(own)], findsOnlyPerson)
  }

  async function matchesSearch(search: string, list?: string): Promise<boolean> {
    if (occursIn(search)) return true
    const isOfPerson = list === undefined || lists.some((one) => one === list)
    for (const text of isOfPerson ? [search, ...rotations(wordsOf(search))] : []) if (await findsOnlyPerson(text)) return true
    const distinctive = await distinctiveWords(search)
    if (list === lists[0]) return distinctive.length > 0
    for (const word of distinctive) if (!(await isElsewhere(word))) return true
    return false
  }

  async function matchesName(name: string): Promise<boolean> {
    return occursIn(name) || (await distinctiveWords(name)).length > 0
  }

  async function matchesAddress(address: string, list?: string): Promise<boolean> {
    const parameters = new URLSearchParams(address)
    // A page writes a text that looks like a number in quotes.
    const valueOf = (name: string): string => (parameters.get(name) ?? '').replace(/^"(.*)"$/, '$1')
    return ID_FILTERS.some((name) => valueOf(name) === id) || matchesSearch(valueOf('q'), list)
  }

  return { occursIn, matchesSearch, matchesName, matchesAddress }
}

/** Returns the function with its answers kept. */
function remembered(ask: ErasedPerson['findsOthers']): ErasedPerson['findsOthers'] {
  const answers = new Map<string, Promise<boolean>>()
  return (search) => {
    const answer = answers.get(search) ?? ask(search)
    answers.set(search, answer)
    return answer
  }
}

export async function filterAsync<T>(all: readonly T[], isChosen: (one: T) => Promise<boolean>): Promise<T[]> {
  const some: T[] = []
  for (const one of all) if (await isChosen(one)) some.push(one)
  return some
}

/** Whether a text contains a word that neither begins nor ends inside a longer one. */
function hasWord(text: string, word: string): boolean {
  const isInside = (character: string | undefined): boolean => /[\p{L}\p{N}]/u.test(character ?? '')
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!isInside(text[at - 1]) && !isInside(text[at + word.length])) return true
  return false
}
