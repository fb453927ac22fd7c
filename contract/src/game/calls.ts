/**
 * The calls of the game (design §8): by its bot with a token, or by a player's own client with the `initData` that Telegram signed. A
 * client uses `me` as the player's id and cannot access other players.
 */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { announcementFields } from '#src/announcements/fields.ts'
import { MAX_NUMBER } from '#src/entity.ts'
import { type Player, playerFields } from '#src/players/fields.ts'
import { type TaskCollection, taskCollections, taskFields } from '#src/tasks/fields.ts'
import { rowSchema } from '#src/list-schemas.ts'
import { bareUsername, isStorable } from '#src/text.ts'
import { player, USER_ID_RULE, userIdField, userIdParameter } from '#src/players/calls.ts'
import { storedFileInput, storedFileOutput } from '#src/stored-file.ts'

/** Most players in one call. */
export const MAX_PLAYERS = 1000
/** Longest text, in characters; the same as in an import. */
export const MAX_PLAYER_TEXT_LENGTH = 500

/** The player's id in a path: a number, or `me` for the player whose client is calling. */
export const playerIdField = z.union([z.literal('me'), userIdParameter], USER_ID_RULE)

/** The player's fields that a game may set. The id and join date are fixed, and only ledger entries change the balance. */
export type PlayerDetail = Exclude<keyof Player, 'userId' | 'balance' | 'createdAt'>
export const playerDetails = (Object.keys(playerFields) as (keyof Player)[]).filter(
  (name): name is PlayerDetail => name !== 'userId' && name !== 'balance' && name !== 'createdAt',
)

/** An empty text clears the field, and a username is bare, as in an import. */
function detailField(name: PlayerDetail) {
  return z
    .string(`${name} must be a text`)
    .max(MAX_PLAYER_TEXT_LENGTH, `${name} must be at most ${MAX_PLAYER_TEXT_LENGTH} characters`)
    .refine(isStorable, `${name} must not contain U+0000 or lone surrogates`)
    .transform((text) => (name === 'username' ? bareUsername(text) : text) || null)
    .nullable()
    .optional()
}

/** The clock of the game's server may be ahead by this much, in milliseconds. */
const CLOCK_SKEW_MS = 5 * 60_000
function isPast(text: string): boolean {
  const at = Date.parse(text)
  return at >= 0 && at <= Date.now() + CLOCK_SKEW_MS
}

const details = Object.fromEntries(playerDetails.map((name) => [name, detailField(name)])) as {
  [Name in PlayerDetail]: ReturnType<typeof detailField>
}
const inputFields = {
  ...details,
  /** When the player joined the game; by default the time of the call that adds the player. It does not change later. */
  createdAt: z.iso
    .datetime({ offset: true, error: 'createdAt must be a moment such as 2026-01-31T12:00:00Z' })
    .refine(isPast, 'createdAt must be a moment from 1970 until now')
    .optional(),
}

/** Fields of a player: a value is written, null clears the field, a missing field stays as it is. */
export const playerInput = z.strictObject(inputFields)
export type PlayerInput = z.infer<typeof playerInput>
/** One of several players. */
export const playerRow = z.strictObject(
  { userId: userIdField, ...inputFields },
  { error: ({ code }) => (code === 'invalid_type' ? 'A player must be an object, {userId, …}' : undefined) },
)
export type PlayerRow = z.infer<typeof playerRow>

export const playerResult = z.object({
  /** Null if the row has no valid id. */
  userId: z.number().nullable(),
  status: z.enum(['created', 'updated', 'unchanged', 'failed']),
  /** Why the row failed. */
  message: z.string().optional(),
})
export type PlayerResult = z.infer<typeof playerResult>

const { id, type, title, link, reward, priority, verifiedByBot } = taskFields
const gameTask = rowSchema({ id, type, title, link, reward, priority, verifiedByBot }).extend({
  /** A daily task is done for the current day in UTC. */
  isDone: z.boolean(),
})
export type GameTask = z.infer<typeof gameTask>

const { subtitle, description, linkType, inputText, image, icon } = announcementFields
const { id: announcementId, type: announcementType, title: announcementTitle } = announcementFields
const { link: announcementLink, reward: announcementReward } = announcementFields
const gameAnnouncement = rowSchema({
  id: announcementId,
  type: announcementType,
  title: announcementTitle,
  subtitle,
  description,
  link: announcementLink,
  linkType,
  inputText,
  reward: announcementReward,
  verifiedByBot: announcementFields.verifiedByBot,
  image,
  icon,
}).extend({ isDone: z.boolean(), isNew: z.boolean() })
export type GameAnnouncement = z.infer<typeof gameAnnouncement>

/** The newest news number that an answer included. */
const upTo = z.int().min(0).max(MAX_NUMBER)
const tags = ['Game']
const ofOne = { userId: playerIdField }
const readers = ['bot:read', 'player'] as const

export const game = {
  upsertMany: call(['bot:play'], { bodyLimitBytes: 2 * 1024 * 1024, rowsField: 'players', heedsIdempotencyKey: true })
    .route({
      method: 'POST',
      path: '/bot/v1/players',
      tags,
      summary: `Add or change 1 to ${MAX_PLAYERS} players, each {userId, firstName?, …}; the answer has a result for each, in their order`,
    })
    .input(z.strictObject({ players: z.array(z.unknown()).min(1).max(MAX_PLAYERS) }))
    .output(z.object({ results: z.array(playerResult) })),
  upsert: call(['bot:play'])
    .route({
      method: 'PUT',
      path: '/bot/v1/players/{userId}',
      tags,
      summary: 'Add or change a player; what is left out stays, and null clears it',
    })
    .input(playerInput.extend(ofOne))
    .output(z.object({ player })),
  player: call(readers)
    .route({
      method: 'GET',
      path: '/bot/v1/players/{userId}',
      tags,
      summary: 'One player, the rank by balance, and whether there is news',
      description:
        'The rank counts players who are not blocked. It is exact within the first 10,000 (isRankExact) and approximate beyond. A blocked player (isBlocked) has no rank: null.',
    })
    .input(z.strictObject(ofOne))
    .output(
      z.object({
        player,
        /** 1 is the highest balance; equal balances are ordered by id. Blocked players are not counted, and their own rank is null. */
        rank: z.int().min(1).nullable(),
        /** True within the first 10,000 ranks; beyond them the rank is approximate. False without a rank. */
        isRankExact: z.boolean(),
        /** Blocked by an operator: the player can read but is paid nothing, and is left out of ranks and leaderboard. */
        isBlocked: z.boolean(),
        hasNews: z.boolean(),
      }),
    ),
  tasks: call(readers)
    .route({
      method: 'GET',
      path: '/bot/v1/players/{userId}/tasks',
      tags,
      summary: 'Social or daily tasks by priority, and which of them the player has done',
    })
    .input(z.strictObject({ ...ofOne, collection: z.enum(Object.keys(taskCollections) as TaskCollection[]) }))
    .output(z.object({ tasks: z.array(gameTask) })),
  announcements: call(readers)
    .route({
      method: 'GET',
      path: '/bot/v1/players/{userId}/announcements',
      tags,
      summary:
        'The live announcements, the newest first, and which of them the player has done or not seen; `upTo` is for `seen`',
    })
    .input(z.strictObject(ofOne))
    .output(z.object({ announcements: z.array(gameAnnouncement), upTo })),
  file: call(readers)
    .route({
      method: 'GET',
      path: '/bot/v1/files/announcements/{name}',
      tags,
      summary: 'An image of a live announcement, or its thumbnail: `/bot/v1/files/` and what stands in `image` or `icon`',
      outputStructure: 'detailed',
    })
    .input(storedFileInput)
    .output(storedFileOutput),
  seen: call(['bot:play', 'player'], { heedsIdempotencyKey: true, onFullDisk: 'small' })
    .route({
      method: 'POST',
      path: '/bot/v1/players/{userId}/announcements/seen',
      tags,
      summary: 'The player was shown the announcements of the answer with this `upTo`; what was activated since stays new',
    })
    .input(z.strictObject({ ...ofOne, upTo }))
    .output(z.object({ success: z.literal(true) })),
}
