/** Schemas of fields that several calls share, with the messages of §5. Zod counts the length of a text in code points (text.ts). */
import { z } from 'zod'
import { MAX_NUMBER, MAX_PAGE, MAX_SEARCH_LENGTH } from './entity.ts'
import { isExactNumber } from './numbers.ts'
import { isBlank, isStorable, typedText, withoutInvisible } from './text.ts'

export const MIN_PASSWORD_LENGTH = 6 // §9
export const MAX_PASSWORD_LENGTH = 128
export const MAX_NAME_LENGTH = 100
export const MAX_EMAIL_LENGTH = 254 // RFC 5321, 4.5.3.1.3: 256 with the angle brackets

/** A number in a query string or in JSON. */
export const numberParameter = z.union([
  z.number(),
  z
    .string()
    .refine((text) => isExactNumber(text.trim()), 'The number cannot be kept exactly.')
    .transform(Number),
])

/** A record's opaque id. */
export const idField = z.string().min(1).max(128)

/** A record's version, which each change raises by 1. Saving with an old version fails with STALE. */
export const versionField = z
  .int()
  .min(1)
  .max(2 ** 31 - 1)

export const emailField = z
  .string('Email is required')
  .overwrite(withoutInvisible)
  .min(1, 'Email is required')
  .max(MAX_EMAIL_LENGTH, `Email must be at most ${MAX_EMAIL_LENGTH} characters`)
  .regex(z.regexes.email, 'Invalid email address')

/** A password as typed: passwords that were chosen before they were kept in NFC may be in another form. */
export const passwordField = limitedPassword(z.string('Password is required'))
/** A newly chosen password, in NFC, so that it does not depend on the keyboard (RFC 8265, 4.2.2). It has visible characters. */
export const newPasswordField = limitedPassword(z.string('Password is required').normalize('NFC')).refine(
  (password) => !isBlank(password),
  'Password is required',
)

function limitedPassword(password: z.ZodString) {
  return password
    .min(1, 'Password is required')
    .min(MIN_PASSWORD_LENGTH, `Password must be at least ${MIN_PASSWORD_LENGTH} characters`)
    .max(MAX_PASSWORD_LENGTH, `Password must be at most ${MAX_PASSWORD_LENGTH} characters`)
}

/** A required text, kept as `typedText` returns it. Its messages begin with `label`: `First Name is required`. */
export function textField(label: string, maxLength: number, requiredMessage = `${label} is required`) {
  return z
    .string(requiredMessage)
    .overwrite(typedText)
    .min(1, requiredMessage)
    .max(maxLength, `${label} must be at most ${maxLength} characters`)
}

export const firstNameField = textField('First Name', MAX_NAME_LENGTH)
export const lastNameField = textField('Last Name', MAX_NAME_LENGTH)

/** Whether only the bot may claim an item for a player. */
export const verifiedByBotField = z.boolean('Verified by the bot must be true or false').default(false)

/** A page number in a query string, from 1. */
export const pageField = numberParameter.pipe(z.int().min(1).max(MAX_PAGE)).default(1)

/** What a list with numbered pages returns besides its rows. `pageCount` is at least 1, so that an empty list shows `Page 1 of 1`. */
export const pageFields = { page: z.int(), pageSize: z.int(), pageCount: z.int(), total: z.int() }

/** An opaque cursor that marks where a page begins or ends. It is valid only for the list and order that it came from. */
export const cursorField = z.string().min(1).max(8192)

/**
 * What a list paged by cursors returns besides its rows. Sending `after` (the cursor of the last row) returns the next page, sending
 * `before` (the cursor of the first row) returns the previous one. Null means that there is no such page.
 */
export const countedCursorPageFields = {
  pageSize: z.int(),
  pageCount: z.int(),
  total: z.int(),
  after: z.string().nullable(),
  before: z.string().nullable(),
}

/** Like `countedCursorPageFields`. Both totals are null if counting would take too long: a separate call then counts. */
export const cursorPageFields = { ...countedCursorPageFields, pageCount: z.int().nullable(), total: z.int().nullable() }

/** The rule that a query has at most one cursor, as arguments for `refine`. */
export const oneCursor: [
  (query: { after?: string | undefined; before?: string | undefined }) => boolean,
  Parameters<z.ZodObject['refine']>[1],
] = [
  ({ after, before }) => after === undefined || before === undefined,
  { path: ['before'], message: 'Give after or before, not both' },
]

/** The answer of a call that counts the rows that a filter matches. */
export const countOutput = z.object({
  /** How many rows match: the exact number without `isMore`, and the fewest possible with it. */
  total: z.int(),
  /** Counting stopped at `total`, and there may be more: at 10,000, or with `isUnfinished` before. */
  isMore: z.boolean(),
  /** About how many rows match, from a sample: with an error of about a third, and less where very many match. */
  about: z.int().optional(),
  /** Probably fewer rows than this match. Stands instead of `about` where the sample has too few of them. */
  under: z.int().optional(),
  /** Counting would have taken long, so `about` or `under` is all that is known. With `exact=true`, the call waits for the number. */
  isUnfinished: z.literal(true).optional(),
})
export type Count = z.infer<typeof countOutput>

/** A required number within the exact range (MAX_NUMBER). Its messages begin with `label`: `Priority is required` (§5). */
export function numberField(label: string) {
  const outOfRange = `${label} must be between ${-MAX_NUMBER} and ${MAX_NUMBER}`
  return requiredNumber(label, outOfRange, outOfRange)
}

/** Most decimals of an amount, as in Bitcoin. More decimals come from floating-point errors, such as 0.30000000000000004. */
const MAX_AMOUNT_DECIMALS = 8

/** Limits an amount to 8 decimals. */
export function amountOf(label: string, amount: z.ZodNumber) {
  return amount.refine(
    (value) => Number(value.toFixed(MAX_AMOUNT_DECIMALS)) === value,
    `${label} must have at most ${MAX_AMOUNT_DECIMALS} decimals`,
  )
}

/** The reward of a task or announcement, 0 or more (design §7). */
export const rewardField = amountOf(
  'Reward',
  requiredNumber('Reward', 'Reward must be 0 or more', `Reward must be at most ${MAX_NUMBER}`, 0),
)

function requiredNumber(label: string, tooSmall: string, tooLarge: string, min = -MAX_NUMBER) {
  return z
    .number({
      error: ({ input }) => {
        if (input === undefined || input === null || input === '') return `${label} is required`
        return (typeof input === 'string' && refusedText(label, input, [tooSmall, tooLarge])) || `${label} must be a number`
      },
    })
    .min(min, tooSmall)
    .max(MAX_NUMBER, tooLarge)
}

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

/** Returns why a typed text is not accepted as a number. Its meaning is never guessed: `1,000` may be 1 or 1000. */
function refusedText(label: string, text: string, [tooSmall, tooLarge]: [string, string]): string | undefined {
  const typed = text.trim()
  if (/^[+-]?\d[\d.]*([,'’_\s][\d.]+)+$/.test(typed)) return `${label} must be written without commas or spaces, like 1000 or 2.5`
  if (!DECIMAL.test(typed) || isExactNumber(typed)) return undefined
  if (Math.abs(Number(typed)) >= MAX_NUMBER) return typed.startsWith('-') ? tooSmall : tooLarge
  return `${label} has more digits than can be kept`
}

export const MAX_LINK_LENGTH = 2048
const anyUrl = z.url({ protocol: /^https?$/ })

/** An optional http or https link without invisible characters; empty for none (§5; security.md, Browser). */
export const linkField = z
  .string('Invalid URL format')
  .overwrite(withoutInvisible)
  .max(MAX_LINK_LENGTH, `Link must be at most ${MAX_LINK_LENGTH} characters`)
  .refine((link) => link === '' || (/^https?:\/\/\S+$/i.test(link) && anyUrl.safeParse(link).success), 'Invalid URL format')
  .optional()

/**
 * The search text of a list. Case, width and diacritics are ignored, and an empty text matches everything. Lists of people ignore a leading
 * `@`, and find one or two ASCII characters only at the beginnings of words.
 */
export const searchField = z.string().trim().max(MAX_SEARCH_LENGTH).refine(isStorable).optional()

/** `true` or `false` in a query string. */
const flagParameter = z.union([z.boolean(), z.stringbool({ truthy: ['true'], falsy: ['false'] })])
/** Whether the order is reversed. */
export const reversedField = flagParameter.default(false)
/** Whether to count on where an estimate would be quicker. */
export const exactField = flagParameter.default(false)
