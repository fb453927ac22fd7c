/** The messaging-app users, the players (§2 and §3 telegramUsers, §7 Reads, §9): 15 fields, paged by cursors both ways. */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { cursorField, keysetPageOf } from '#src/fields.ts'

/** §9: five, and what design §7 offers beside it. */
export const telegramUsersPageSizes = [5, 25, 50, 100] as const
export const TELEGRAM_USERS_PAGE_SIZE = telegramUsersPageSizes[0]
export const telegramUsersSorts = ['balance', 'a-z'] as const // §9
export type TelegramUsersSort = (typeof telegramUsersSorts)[number]

const missingText = z.string().nullable()

/** A player with the fields of §3. What is missing is null here and the word `undefined` on the page. */
export const telegramUser = z.object({
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
export type TelegramUser = z.infer<typeof telegramUser>

const pageSizeField = z.coerce.number().pipe(z.literal(telegramUsersPageSizes)).default(TELEGRAM_USERS_PAGE_SIZE)

export const telegramUsers = {
  list: call(['admin'])
    .route({
      method: 'GET',
      path: '/api/telegram-users',
      tags: ['Telegram Users'],
      summary: 'Players by balance or by first name, a page at a time',
    })
    .input(
      z
        .strictObject({
          sort: z.enum(telegramUsersSorts).default('balance'),
          pageSize: pageSizeField,
          after: cursorField.optional(),
          before: cursorField.optional(),
        })
        .refine(({ after, before }) => after === undefined || before === undefined, {
          path: ['before'],
          message: 'Give after or before, not both',
        }),
    )
    .output(z.object({ users: z.array(telegramUser), ...keysetPageOf })),
}
