/** The bot's calls about its messages to people: linking an operator's Telegram account, and a player's wish to get no broadcasts. */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { playerIdField } from '#src/game/calls.ts'
import { userIdField } from '#src/players/calls.ts'

/** The longest code that is looked up, in characters: people may type dashes and spaces. */
const MAX_CODE_LENGTH = 64
const tags = ['Game']

export const messages = {
  linkOperator: call(['bot:play'], { heedsIdempotencyKey: true, onFullDisk: 'small' })
    .route({
      method: 'POST',
      path: '/bot/v1/operator-links',
      tags,
      summary: 'Link the Telegram account of an operator who sent the bot the code that Your Account shows',
      description:
        'The console sends the tests of a broadcast to this account. A code works once and for ten minutes; ten wrong codes of a Telegram account are refused for a quarter of an hour.',
    })
    .input(z.strictObject({ code: z.string().min(1).max(MAX_CODE_LENGTH), userId: userIdField }))
    .output(
      z.object({
        success: z.literal(true),
        /** The operator’s name at the console, for the bot’s answer. */
        name: z.string(),
      }),
    ),
  setMessages: call(['bot:play', 'player'], { onFullDisk: 'small' })
    .route({
      method: 'PUT',
      path: '/bot/v1/players/{userId}/messages',
      tags,
      summary: 'Whether the player wants no broadcasts: they then skip the player until this is taken back',
    })
    .input(z.strictObject({ userId: playerIdField, optedOut: z.boolean() }))
    .output(z.object({ success: z.literal(true), optedOut: z.boolean() })),
}
