/** The messaging-app users, the players (§2 and §3 telegramUsers, §7 Reads, §9): 15 fields, paged by cursors both ways. */
import { z } from 'zod'
import { call } from './call.ts'
import {
  defineList,
  type Fields,
  type FilterOf,
  filterSchema,
  orderFields,
  type RowOf,
  rowSchema,
  type SortName,
} from './entity.ts'
import { cursorField, idField, keysetPageOf } from './fields.ts'
import { historyKindField } from './history.ts'

/** A player's fields (§3), in the order of the list's columns. The page shows a missing value as `undefined`. */
export const playerFields = {
  firstName: { label: 'First Name', kind: 'text', isOptional: true, sheetWidth: 20 },
  lastName: { label: 'Last Name', kind: 'text', isOptional: true, sheetWidth: 20 },
  username: { label: 'Username', kind: 'text', isOptional: true, sheetWidth: 20 },
  balance: { label: 'Balance', kind: 'number', sheetWidth: 14 },
  userId: { label: 'User ID', kind: 'integer', sheetWidth: 14 },
  createdAt: { label: 'Created At', kind: 'moment', isOptional: true, sheetWidth: 20 },
  email: { label: 'Email', kind: 'text', isOptional: true, sheetWidth: 32 },
  phoneNumber: { label: 'Phone Number', kind: 'text', isOptional: true, sheetWidth: 18 },
  twitterUsername: { label: 'Twitter Username', kind: 'text', isOptional: true, sheetWidth: 20 },
  instagramUsername: { label: 'Instagram Username', kind: 'text', isOptional: true, sheetWidth: 20 },
  linkedInUsername: { label: 'LinkedIn Username', kind: 'text', isOptional: true, sheetWidth: 20 },
  discordUsername: { label: 'Discord Username', kind: 'text', isOptional: true, sheetWidth: 20 },
  youtubeUsername: { label: 'Youtube Username', kind: 'text', isOptional: true, sheetWidth: 20 },
  tonWalletAddress: { label: 'TON Wallet Address', kind: 'text', isOptional: true, sheetWidth: 50 },
  bscWallet: { label: 'BSC Wallet', kind: 'text', isOptional: true, sheetWidth: 46 },
} as const satisfies Fields

export const player = rowSchema(playerFields)
export type Player = RowOf<typeof playerFields>

export const playerList = defineList({
  name: 'telegramUsers',
  fields: playerFields,
  /** Bounds are inclusive, except `joinedBefore`. */
  filters: {
    balanceMin: { label: 'Balance from', kind: 'min', field: 'balance' },
    balanceMax: { label: 'Balance to', kind: 'max', field: 'balance' },
    joinedFrom: { label: 'Joined from', kind: 'from', field: 'createdAt' },
    joinedBefore: { label: 'Joined until', kind: 'before', field: 'createdAt', dayName: 'joinedUntil' },
    wallet: {
      label: 'Wallet',
      kind: 'choice',
      options: { any: 'Has a wallet', ton: 'Has a TON wallet', bsc: 'Has a BSC wallet', none: 'Has none' },
    },
  },
  /** §9 names the first two. Each of the others has an index, too. */
  sorts: {
    balance: { label: 'Balance', field: 'balance', isDescending: true },
    'a-z': { label: 'A-Z', field: 'firstName' },
    newest: { label: 'Newest', field: 'createdAt', isDescending: true },
    'user-id': { label: 'User ID', field: 'userId' },
    username: { label: 'Username', field: 'username' },
  },
  ownSort: 'balance',
  pageSizes: [5, 25, 50, 100], // §9, design §7
})

/** `search` is a part of a username, name, handle or e-mail, the beginning of a wallet, or a whole user id. */
export const playersFilter = filterSchema(playerList)
export type PlayersFilter = FilterOf<typeof playerList>
export type PlayersSort = SortName<typeof playerList>
export const playersSorts = Object.keys(playerList.sorts) as PlayersSort[]
export const playersPageSizes = playerList.pageSizes

const orderedFilter = playersFilter.extend(orderFields(playerList))

const userIdField = z.coerce.number().pipe(z.int())

/** One participation of a player. */
export const playerParticipation = z.object({
  kind: historyKindField,
  id: idField,
  /** The day of a daily task that repeats; empty for everything else. */
  period: z.string(),
  title: z.string(),
  type: z.string(),
  /** The reward of the task or announcement. */
  reward: z.number(),
  userInput: z.string().nullable(),
  timestamp: z.iso.datetime(),
})
export type PlayerParticipation = z.infer<typeof playerParticipation>

const pageSizeField = z.coerce.number().pipe(z.literal(playerList.pageSizes)).default(playerList.pageSizes[0])

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
    /** `total` and `pageCount` are null for a filtered list that is too long to be counted with its rows; `count` counts it. */
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
        /** The number of the player's participations, and the sum of their rewards. */
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
