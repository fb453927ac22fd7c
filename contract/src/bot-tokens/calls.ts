/**
 * Bot tokens, for admins: create, rotate (old and new secret both work for a while), revoke. A token is shown once, when it is
 * created.
 */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { MAX_BOT_TOKEN_NAME_LENGTH, type BotScope, botScopes } from './fields.ts'
import { idField } from '#src/field-schemas.ts'
import { typedName, typedText } from '#src/text.ts'

/**
 * Letters of every language, with the joiners between letters that some of them need; no control characters, and no marks that nobody sees
 * (Unicode's Default_Ignorable_Code_Point), so that two names which look equal are equal.
 */
const NAME_CHARACTER = String.raw`(?!\p{DI})[\p{L}\p{M}\p{N}_ .-]|(?<=[\p{L}\p{M}])[\u200c\u200d](?=\p{L})`

export const botTokenNameField = z
  .string()
  .overwrite(typedText)
  .regex(
    new RegExp(`^(?!\\p{M})(?:${NAME_CHARACTER}){1,${MAX_BOT_TOKEN_NAME_LENGTH}}$`, 'u'),
    `A token needs a name of up to ${MAX_BOT_TOKEN_NAME_LENGTH} letters, digits, spaces, dots and dashes.`,
  )
  .overwrite(typedName)
export const botScopeField = z.enum(Object.keys(botScopes) as BotScope[])

/** The form for a new token. */
export const botTokenInput = z.strictObject({ name: botTokenNameField, scope: botScopeField.default('play') })
export type BotTokenInput = z.infer<typeof botTokenInput>

const moment = z.iso.datetime()

export const botToken = z.object({
  id: idField,
  name: z.string(),
  scope: botScopeField,
  createdAt: moment,
  /** When the current secret replaced another one; null if it is the first. */
  rotatedAt: moment.nullable(),
  /** Accurate to the minute; null if the token was never used. */
  lastUsedAt: moment.nullable(),
  /** The previous secret, if it still works. */
  previous: z.object({ lastUsedAt: moment.nullable() }).nullable(),
})
export type BotToken = z.infer<typeof botToken>

const done = z.object({ success: z.literal(true) })
const secret = done.extend({ token: z.string() })
const tags = ['Bot Tokens']
const ofOne = z.strictObject({ id: idField })

export const botTokens = {
  list: call(['admin'], { needs: 'tokens.manage' })
    .route({ method: 'GET', path: '/api/bot-tokens', tags, summary: 'All bot tokens by name, without their secrets' })
    .output(z.object({ tokens: z.array(botToken) })),
  create: call(['admin'], { needs: 'tokens.manage', stepUp: true })
    .route({ method: 'POST', path: '/api/bot-tokens', tags, summary: 'Make a bot token; the answer alone shows it' })
    .input(botTokenInput)
    .output(secret.extend({ id: idField })),
  rotate: call(['admin'], { needs: 'tokens.manage', stepUp: true })
    .route({
      method: 'POST',
      path: '/api/bot-tokens/{id}/rotate',
      tags,
      summary: 'Give a token a new secret; the one before works on until it is ended or the token is rotated again',
    })
    /** STALE unless `rotatedAt`, if it is given, is that of the list: of two rotations at once, the second would end the secret in use. */
    .input(ofOne.extend({ rotatedAt: moment.nullable().optional() }))
    .output(secret),
  endPrevious: call(['admin'], { needs: 'tokens.manage', stepUp: true, onFullDisk: 'small' })
    .route({
      method: 'DELETE',
      path: '/api/bot-tokens/{id}/previous',
      tags,
      summary: 'End the previous secret of a rotated token',
    })
    .input(ofOne)
    .output(done),
  revoke: call(['admin'], { needs: 'tokens.manage', stepUp: true, onFullDisk: 'small' })
    .route({ method: 'DELETE', path: '/api/bot-tokens/{id}', tags, summary: 'Revoke a token: from now on it is refused' })
    .input(ofOne)
    .output(done),
}
