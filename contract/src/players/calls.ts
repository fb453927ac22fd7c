/** Players, the messaging-app users (§2 and §3 telegramUsers, §7 Reads, §9): 15 fields, paged by cursors in both directions. */
import { z } from 'zod'
import { MAX_BULK_BODY_BYTES, bulkOutput, bulkRun } from '#src/bulk.ts'
import { type RefusalReason, refusalReasonLabels } from '#src/broadcasts/fields.ts'
import { call } from '#src/call.ts'
import { BLOCK_TYPED_ABOVE, playerFields, playerList } from './fields.ts'
import { cursorQueryFields, filterSchema, orderFields, rowSchema, targetSchema } from '#src/list-schemas.ts'
import { countOutput, cursorField, cursorPageFields, exactField, idField, oneCursor, textField } from '#src/field-schemas.ts'
import { historyKindField } from '#src/history/calls.ts'
import { isExactNumber } from '#src/numbers.ts'

export const player = rowSchema(playerFields)
/** `search` finds part of a username, name, handle, e-mail or phone number, the beginning of a wallet address, or a complete user id. */
export const playersFilter = filterSchema(playerList)
const orderedFilter = playersFilter.extend(orderFields(playerList))

/** Largest user id: a double could round the next integers to a neighbour. */
export const MAX_USER_ID = Number.MAX_SAFE_INTEGER
export const USER_ID_RULE = `userId must be a whole number from 1 to ${MAX_USER_ID}`
export const userIdField = z.int(USER_ID_RULE).min(1, USER_ID_RULE).max(MAX_USER_ID, USER_ID_RULE)
/** A user id in a path, which has one notation only: `04711` and `1e3` are refused. */
export const userIdParameter = inAddress(/^[1-9]\d{0,15}$/, userIdField, USER_ID_RULE)
const SHOWN_ID_RULE = `There is no such player: a user id is a whole number up to ${MAX_USER_ID}.`
/** The same where erased players are shown as well: their ids are negative (ADR 22). Its message is shown to people. */
export const shownIdParameter = inAddress(
  /^-?[1-9]\d{0,15}$/,
  z.int(SHOWN_ID_RULE).refine((id) => id !== 0, SHOWN_ID_RULE),
  SHOWN_ID_RULE,
)

function inAddress(written: RegExp, id: z.ZodType<number, number>, rule: string) {
  return z.union([id, z.string().regex(written).refine(isExactNumber).transform(Number).pipe(id)], rule)
}

export const MAX_BLOCK_REASON_LENGTH = 500
const blockReasonField = textField('Reason', MAX_BLOCK_REASON_LENGTH)
/** The form for a block. */
export const blockInput = z.strictObject({ reason: blockReasonField })
/** Why a player is blocked (cannot claim or receive anything), by whom, and since when. */
export const playerBlock = z.object({ reason: z.string(), by: z.string().nullable(), at: z.iso.datetime() })
export type PlayerBlock = z.infer<typeof playerBlock>

/** The form for a block of several players: if they are many, their number has to be typed as well. */
export function blockManyInput(affected: number) {
  const isNumber = (typed: string) => affected <= BLOCK_TYPED_ABOVE || typed.replaceAll(/[\s,]/g, '') === String(affected)
  return blockInput.extend({ typed: z.string().refine(isNumber, `Please type ${affected}`) })
}

const NOT_THE_ID = 'This is not the player’s user id'
/** Returns the form that asks for the player's id before the player is erased. */
export function typedIdOf(userId: number) {
  return z.strictObject({ typed: z.number(NOT_THE_ID).refine((typed) => typed === userId, NOT_THE_ID) })
}

export const playerParticipation = z.object({
  kind: historyKindField,
  id: idField,
  /** The day of a daily task; empty for all other items. */
  period: z.string(),
  title: z.string(),
  type: z.string(),
  /** The reward of the task or announcement. */
  reward: z.number(),
  userInput: z.string().nullable(),
  timestamp: z.iso.datetime(),
})
export type PlayerParticipation = z.infer<typeof playerParticipation>

const tags = ['Telegram Users']

export const players = {
  list: call(['admin'], { needs: 'players.read', mayBeSecondOld: true })
    .route({
      method: 'GET',
      path: '/api/telegram-users',
      tags,
      summary: 'Players filtered and in one of several orders, a page at a time',
    })
    .input(playersFilter.extend(cursorQueryFields(playerList)).refine(...oneCursor))
    /**
     * `blocked` has the ids of blocked players on the page, because a player's fields (§3) do not include it; left out if there are none.
     */
    .output(z.object({ users: z.array(player), ...cursorPageFields, blocked: z.array(z.int()).optional() })),
  count: call(['admin'], { needs: 'players.read', mayBeSecondOld: true })
    .route({ method: 'GET', path: '/api/telegram-users/count', tags, summary: 'How many players a filter matches' })
    .input(playersFilter.extend({ exact: exactField }))
    .output(countOutput),
  get: call(['admin'], { needs: 'players.read' })
    .route({ method: 'GET', path: '/api/telegram-users/{userId}', tags, summary: 'One player, and what the player took part in' })
    .input(z.strictObject({ userId: shownIdParameter }))
    .output(
      player.extend({
        /** The number of the player's participations and the sum of their rewards. */
        participations: z.object({ total: z.int(), reward: z.number() }),
        block: playerBlock.nullable(),
      }),
    ),
  /** Apart from `get`, so that a player's page does not wait for it. */
  standing: call(['admin'], { needs: 'players.read' })
    .route({
      method: 'GET',
      path: '/api/telegram-users/{userId}/standing',
      tags,
      summary: 'The rank of a player, when the player was last seen, and whether messages reach the player',
    })
    .input(z.strictObject({ userId: shownIdParameter }))
    .output(
      z.object({
        /** The rank that the game sees. Null for a blocked player, who has none, and for an erased one, who would be recognised by it. */
        rank: z.int().min(1).nullable(),
        /** True within the first 10,000 ranks; beyond them the rank is approximate. False without a rank. */
        isRankExact: z.boolean(),
        /** The newest of what the player did: joined, was here, took part, claimed or played. Null if nothing of that is known. */
        lastSeen: z.iso.datetime().nullable(),
        /** When Telegram refused a message to the player, and why; null if it did not, or the player came back since. */
        unreachable: z
          .object({ at: z.iso.datetime(), reason: z.enum(Object.keys(refusalReasonLabels) as RefusalReason[]) })
          .nullable(),
        /** When the player asked for no more messages. */
        optedOutAt: z.iso.datetime().nullable(),
      }),
    ),
  /** Players who are blocked already or erased are left alone; for picked players, the answer has the reason. */
  block: call(['admin'], { needs: 'players.block', bodyLimitBytes: MAX_BULK_BODY_BYTES })
    .route({
      method: 'POST',
      path: '/api/telegram-users/block',
      tags,
      summary: 'Block players: they can claim and be given nothing until they are unblocked',
    })
    .input(z.strictObject({ target: targetSchema(playerList), reason: blockReasonField, ...bulkRun }))
    .output(bulkOutput),
  unblock: call(['admin'], { needs: 'players.block', bodyLimitBytes: MAX_BULK_BODY_BYTES })
    .route({ method: 'POST', path: '/api/telegram-users/unblock', tags, summary: 'Unblock players' })
    .input(z.strictObject({ target: targetSchema(playerList), ...bulkRun }))
    .output(bulkOutput),
  erase: call(['admin'], { needs: 'players.erase', stepUp: true })
    .route({
      method: 'POST',
      path: '/api/telegram-users/{userId}/erase',
      tags,
      summary: 'Erase who a player was, for ever; entries and participations stay under the number of the answer',
    })
    /** `confirmation` is the id again, typed by the operator. */
    .input(
      z
        .strictObject({ userId: shownIdParameter, confirmation: z.int('Type the user id') })
        .refine(({ userId, confirmation }) => userId === confirmation, {
          path: ['confirmation'],
          message: NOT_THE_ID,
        }),
    )
    .output(z.object({ success: z.literal(true), userId: z.int() })),
  participations: call(['admin'], { needs: 'players.read' })
    .route({
      method: 'GET',
      path: '/api/telegram-users/{userId}/participations',
      tags,
      summary: 'What a player took part in, newest first, 50 a page',
    })
    .input(z.strictObject({ userId: shownIdParameter, after: cursorField.optional() }))
    .output(z.object({ participations: z.array(playerParticipation), after: z.string().nullable() })),
  neighbours: call(['admin'], { needs: 'players.read', mayBeSecondOld: true })
    .route({
      method: 'GET',
      path: '/api/telegram-users/{userId}/neighbours',
      tags,
      summary: 'The players before and after one in a list',
    })
    .input(orderedFilter.extend({ userId: shownIdParameter }))
    .output(z.object({ previous: z.int().nullable(), next: z.int().nullable() })),
}
