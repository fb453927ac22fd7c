/** The messaging-app users, the players (§2 and §3 telegramUsers, §7 Reads, §9): 15 fields, paged by cursors both ways. */
import { z } from 'zod'
import { call } from './call.ts'
import { cursorField, idField, keysetPageOf, MAX_NUMBER, reversedField, searchField } from './fields.ts'
import { historyKindField } from './history.ts'

/** §9: five, and what design §7 offers beside it. */
export const playersPageSizes = [5, 25, 50, 100] as const
export const PLAYERS_PAGE_SIZE = playersPageSizes[0]
/** §9's two, and what else an index keeps in order. `reversed` turns each round. */
export const playersSorts = ['balance', 'a-z', 'newest', 'user-id', 'username'] as const
export type PlayersSort = (typeof playersSorts)[number]

const missingText = z.string().nullable()

/** A player with the fields of §3. What is missing is null here and the word `undefined` on the page. */
export const player = z.object({
  userId: z.int(),
  createdAt: z.iso.datetime().nullable(),
  firstName: missingText,
  lastName: missingText,
  username: missingText,
  twitterUsername: missingText,
  instagramUsername: missingText,
  linkedInUsername: missingText,
  discordUsername: missingText,
  youtubeUsername: missingText,
  email: missingText,
  phoneNumber: missingText,
  tonWalletAddress: missingText,
  bscWallet: missingText,
  balance: z.number(),
})
export type Player = z.infer<typeof player>

/** Wallets a player has: at least one, a TON or a BSC one, none. */
export const walletFilters = ['any', 'ton', 'bsc', 'none'] as const

const amountField = z.coerce.number().min(-MAX_NUMBER).max(MAX_NUMBER).optional()
const momentField = z.iso.datetime({ offset: true }).optional()

/** What narrows the list down; bounds are inclusive, except `joinedBefore`. */
export const playersFilter = z.strictObject({
  /** Part of a username, name, handle or e-mail; the beginning of a wallet; a whole user id. */
  search: searchField,
  balanceMin: amountField,
  balanceMax: amountField,
  joinedFrom: momentField,
  joinedBefore: momentField,
  wallet: z.enum(walletFilters).optional(),
})
export type PlayersFilter = z.infer<typeof playersFilter>

const orderedFilter = playersFilter.extend({ sort: z.enum(playersSorts).default('balance'), reversed: reversedField })

const userIdField = z.coerce.number().pipe(z.int())

/** One thing a player took part in. */
export const playerParticipation = z.object({
  kind: historyKindField,
  id: idField,
  /** The day of a daily task's repetition; empty where there is none. */
  period: z.string(),
  title: z.string(),
  type: z.string(),
  /** What it is worth. */
  reward: z.number(),
  userInput: z.string().nullable(),
  timestamp: z.iso.datetime(),
})
export type PlayerParticipation = z.infer<typeof playerParticipation>

const pageSizeField = z.coerce.number().pipe(z.literal(playersPageSizes)).default(PLAYERS_PAGE_SIZE)

const tags = ['Telegram Users']

export const players = {
  list: call(['admin'])
    .route({
      method: 'GET',
      path: '/api/telegram-users',
      tags,
      summary: 'Players filtered and in one of several orders, a page at a time',
    })
    .input(
      orderedFilter
        .extend({ pageSize: pageSizeField, after: cursorField.optional(), before: cursorField.optional() })
        .refine(({ after, before }) => after === undefined || before === undefined, {
          path: ['before'],
          message: 'Give after or before, not both',
        }),
    )
    /** `total` and `pageCount` are null for a filtered list that is too long to be counted at once: `count` takes its time. */
    .output(
      z.object({
        users: z.array(player),
        ...keysetPageOf,
        pageCount: z.int().nullable(),
        total: z.int().nullable(),
      }),
    ),
  count: call(['admin'])
    .route({ method: 'GET', path: '/api/telegram-users/count', tags, summary: 'How many players a filter matches' })
    .input(playersFilter)
    .output(z.object({ total: z.int() })),
  get: call(['admin'])
    .route({ method: 'GET', path: '/api/telegram-users/{userId}', tags, summary: 'One player, and what the player took part in' })
    .input(z.strictObject({ userId: userIdField }))
    .output(
      player.extend({
        /** How often the player took part, and what all of it is worth. */
        participations: z.object({ total: z.int(), reward: z.number() }),
      }),
    ),
  participations: call(['admin'])
    .route({
      method: 'GET',
      path: '/api/telegram-users/{userId}/participations',
      tags,
      summary: 'What a player took part in, newest first, 50 a page',
    })
    .input(z.strictObject({ userId: userIdField, after: cursorField.optional() }))
    .output(z.object({ participations: z.array(playerParticipation), after: z.string().nullable() })),
  neighbours: call(['admin'])
    .route({
      method: 'GET',
      path: '/api/telegram-users/{userId}/neighbours',
      tags,
      summary: 'The players before and after one in a list',
    })
    .input(orderedFilter.extend({ userId: userIdField }))
    .output(z.object({ previous: z.int().nullable(), next: z.int().nullable() })),
}
