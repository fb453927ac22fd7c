/**
 * Estimates how hard a new password is to guess (ASVS 6.2): as a hint in forms, and for PASSWORD_POLICY=strict. The estimate is on the low
 * side: letters count like parts of words, and repetitions and sequences count almost nothing.
 */
import { characterCount } from './text.ts'
import commonList from './common-passwords.json' with { type: 'json' }

/**
 * The 3,000 most common passwords of at least 8 characters, most common first, in lower case (ASVS 6.2.4). Source: the list `passwords` of
 * @zxcvbn-ts/language-common 4.1.3, counted from leaked passwords; MIT licence, © 2012-2016 Dan Wheeler and Dropbox, Inc., © 2021
 * @zxcvbn-ts.
 */
const commonPasswords: ReadonlySet<string> = new Set(commonList)

export const MIN_STRICT_PASSWORD_LENGTH = 8

/** Returns why PASSWORD_POLICY=strict refuses a password; undefined if it does not. */
export function strictPasswordProblem(password: string): string | undefined {
  if (characterCount(password) < MIN_STRICT_PASSWORD_LENGTH)
    return `Password must be at least ${MIN_STRICT_PASSWORD_LENGTH} characters`
  return commonPasswords.has(password.toLowerCase())
    ? 'This password is one of the 3,000 commonest. Please choose another one.'
    : undefined
}

export interface PasswordStrength {
  /** From 0 to 4. */
  score: number
  /** The hint for the user. */
  text: string
}

const levels = [
  { fromBits: 0, text: 'Very weak: guessed at once.' },
  { fromBits: 18, text: 'Weak: add words or characters.' },
  { fromBits: 32, text: 'Fair: longer is better.' },
  { fromBits: 44, text: 'Good.' },
  { fromBits: 56, text: 'Strong.' },
]

/** @param known what others know about the user, such as names and the e-mail address; these do not make a password stronger */
export function passwordStrength(password: string, known: readonly string[]): PasswordStrength {
  if (isVariantOfCommon(password)) return { score: 0, text: 'Very weak: one of the commonest.' }
  const bits = estimatedBits(withoutKnown(password.toLowerCase(), known), password)
  const score = levels.findLastIndex(({ fromBits }) => bits >= fromBits)
  return { score, text: levels[score]!.text }
}

const lookAlikes: Record<string, string> = {
  '0': 'o',
  '1': 'l',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
}

/** Whether the password is a common one, possibly with digits and signs around it or instead of letters: `P@ssword2024!`. */
function isVariantOfCommon(password: string): boolean {
  const lower = password.toLowerCase()
  const core = lower.replace(/^[^a-z]+|[^a-z]+$/g, '')
  const plain = (text: string): string => text.replaceAll(/[013457@$!]/g, (sign) => lookAlikes[sign] ?? sign)
  return [lower, core, plain(lower), plain(core)].some((text) => commonPasswords.has(text))
}

const MIN_KNOWN_LENGTH = 3

/** Replaces each occurrence of a known word by one letter. */
function withoutKnown(lower: string, known: readonly string[]): string {
  const words = known
    .flatMap((text) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u))
    .filter((word) => word.length >= MIN_KNOWN_LENGTH)
  return words.toSorted((a, b) => b.length - a.length).reduce((rest, word) => rest.replaceAll(word, 'x'), lower)
}

const FIRST_LETTER_BITS = 4.5
/** Bits for a letter that follows another one: letters in words are predictable. */
const NEXT_LETTER_BITS = 2
const DIGIT_BITS = 3.3
const SIGN_BITS = 4.5
const FOLLOWING_BITS = 0.5
/** Bits for a capital letter, unless it is the first character. */
const CAPITAL_BITS = 1
const YEAR = /(?:19|20)\d\d/g
const YEAR_BITS = 6
/** Sequences on a keyboard; the alphabet and digits are checked separately. */
const ROWS = [
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  '1234567890',
  'qwertzuiop',
  'azertyuiop',
  'qazwsxedcrfvtgbyhn',
  '1qaz2wsx3edc4rfv',
]

function estimatedBits(text: string, original: string): number {
  const years = text.match(YEAR)?.length ?? 0
  const capitals = original.match(/(?<=.)\p{Lu}/gu)?.length ?? 0
  const characters = Array.from(text.replaceAll(YEAR, ' '))
  const bits = characters.map((character, index) => characterBits(character, characters.slice(Math.max(0, index - 3), index)))
  return years * YEAR_BITS + capitals * CAPITAL_BITS + bits.reduce((sum, value) => sum + value, 0)
}

/** @param before the previous characters, at most three */
function characterBits(character: string, before: readonly string[]): number {
  if (character === ' ' || isFollowing(character, before)) return FOLLOWING_BITS
  if (/\p{L}/u.test(character)) return /\p{L}/u.test(before.at(-1) ?? '') ? NEXT_LETTER_BITS : FIRST_LETTER_BITS
  return /\d/.test(character) ? DIGIT_BITS : SIGN_BITS
}

/** Whether a character continues a repetition or sequence: `aa`, `abc`, `321`, `qwe`, or the end of `haha` and `abcabc`. */
function isFollowing(character: string, before: readonly string[]): boolean {
  const [third, second, last] = [before.at(-3), before.at(-2), before.at(-1)]
  if (character === last || (third !== undefined && (character === second || character === third))) return true
  if (last === undefined || second === undefined) return false
  const step = stepBetween(second, last)
  if (Math.abs(step) === 1 && stepBetween(last, character) === step) return true
  return ROWS.some((row) => row.includes(second + last + character) || row.includes(character + last + second))
}

/** Returns 1 for the next letter of the alphabet or the next digit. */
function stepBetween(first: string, second: string): number {
  return (second.codePointAt(0) ?? 0) - (first.codePointAt(0) ?? 0)
}
