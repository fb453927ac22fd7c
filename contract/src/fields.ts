/** The fields that several calls share, with the messages of §5. */
import { z } from 'zod'

/** Numbers are exact on both sides up to here; what is larger is refused (design §5). */
export const MAX_NUMBER = 2 ** 53

export const PASSWORD_MIN_LENGTH = 6 // §9
export const PASSWORD_MAX_LENGTH = 128
export const NAME_MAX_LENGTH = 100
export const EMAIL_MAX_LENGTH = 254 // RFC 5321, 4.5.3.1.3 less the angle brackets

/** A row's opaque id. */
export const idField = z.string().min(1).max(128)

/** The number a row counts its changes by; saving with an old one answers STALE. */
export const versionField = z
  .int()
  .min(1)
  .max(2 ** 31 - 1)

export const emailField = z
  .string('Email is required')
  .trim()
  .min(1, 'Email is required')
  .max(EMAIL_MAX_LENGTH, `Email must be at most ${EMAIL_MAX_LENGTH} characters`)
  .regex(z.regexes.email, 'Invalid email address')

export const passwordField = z
  .string('Password is required')
  .min(1, 'Password is required')
  .min(PASSWORD_MIN_LENGTH, `Password must be at least ${PASSWORD_MIN_LENGTH} characters`)
  .max(PASSWORD_MAX_LENGTH, `Password must be at most ${PASSWORD_MAX_LENGTH} characters`)

/** A required one-line text, trimmed. `label` opens its messages, as in `First Name is required`. */
export function textField(label: string, maxLength: number, requiredMessage = `${label} is required`) {
  return z
    .string(requiredMessage)
    .trim()
    .min(1, requiredMessage)
    .max(maxLength, `${label} must be at most ${maxLength} characters`)
}

export const firstNameField = textField('First Name', NAME_MAX_LENGTH)
export const lastNameField = textField('Last Name', NAME_MAX_LENGTH)

/** A page's number, from 1, as it stands in a query string. */
export const pageField = z.coerce.number().int().min(1).max(1_000_000_000).default(1)

/** What every list answers beside its rows. `pageCount` is at least 1, so that `Page 1 of 1` stands over an empty list. */
export const pageOf = { page: z.int(), pageSize: z.int(), pageCount: z.int(), total: z.int() }

/** Where a page begins or ends in a list that changes meanwhile; opaque, and only good for the list and order it came from. */
export const cursorField = z.string().min(1).max(8192)

/**
 * What a list paged by cursors answers beside its rows. `after` is the cursor of the last row, to be sent back as `after` for the
 * next page; `before` that of the first. Null: there is nothing on that side.
 */
export const keysetPageOf = {
  pageSize: z.int(),
  pageCount: z.int(),
  total: z.int(),
  after: z.string().nullable(),
  before: z.string().nullable(),
}

/** A required number, exact on both sides: `Priority is required` (§5). */
export function numberField(label: string) {
  const outOfRange = `${label} must be between ${-MAX_NUMBER} and ${MAX_NUMBER}`
  return z
    .number({
      error: ({ input }) =>
        input === undefined || input === null || input === '' ? `${label} is required` : `${label} must be a number`,
    })
    .min(-MAX_NUMBER, outOfRange)
    .max(MAX_NUMBER, outOfRange)
}

export const LINK_MAX_LENGTH = 2048
const anyUrl = z.url({ protocol: /^https?$/ })

/** An optional link: http or https, or empty for none (§5; security.md, Browser). */
export const linkField = z
  .string('Invalid URL format')
  .trim()
  .max(LINK_MAX_LENGTH, `Link must be at most ${LINK_MAX_LENGTH} characters`)
  .refine((link) => link === '' || (/^https?:\/\/\S+$/i.test(link) && anyUrl.safeParse(link).success), 'Invalid URL format')
  .optional()

export const SEARCH_MAX_LENGTH = 100

/**
 * What is looked for in a list, whatever its case; empty for everything. Among players and users a leading `@` does not count, and one
 * or two letters, digits or signs of ASCII match the beginnings of words alone.
 */
export const searchField = z.string().trim().max(SEARCH_MAX_LENGTH).optional()

/** A query string's `true` or `false`; the order of a sort turned round. */
export const reversedField = z.union([z.boolean(), z.stringbool({ truthy: ['true'], falsy: ['false'] })]).default(false)
