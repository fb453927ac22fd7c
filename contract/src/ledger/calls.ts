/** The calls of the game about balances (design §8): what moves them is credited once, however often it is sent. */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { isOwnCause } from './fields.ts'
import { amountOf, cursorField, idField, numberField, textField } from '#src/field-schemas.ts'
import { playerIdField } from '#src/game/calls.ts'
import { historyKindField } from '#src/history/calls.ts'
import { numberParameter } from '#src/numbers.ts'
import { shownIdParameter } from '#src/players/calls.ts'

export const USER_INPUT_MAX_LENGTH = 2000
export const ENTRIES_PAGE_SIZE = 50
export const REFERENCE_MAX_LENGTH = 200
export const REASON_MAX_LENGTH = 500

/** What changed a balance. */
export const entry = z.object({
  /** The player's id and the entry's number, such as `7-12`. */
  id: z.string(),
  amount: z.number(),
  /** One of the console's own, or the game's. */
  cause: z.string(),
  at: z.iso.datetime(),
})
export type Entry = z.infer<typeof entry>

/** Stands for all causes of the game that have no cap of their own (ENTRY_CAPS). */
export const OTHER_CAUSES = '*'

/** What an entry of the game is for in the game's own words, never in the console's. */
export const gameCauseField = z
  .string('cause must be a text')
  .regex(/^[a-z][a-z0-9_.-]{0,39}$/, 'cause must be up to 40 small letters, digits, dots, dashes and underscores after a letter')
  .refine((cause) => !isOwnCause(cause), 'This cause is the console’s own')

/** Below 0 it is taken, which no balance goes below 0 for. */
const amountField = amountOf('Amount', numberField('Amount')).refine((amount) => amount !== 0, 'Amount must not be 0')
const reasonField = textField('Reason', REASON_MAX_LENGTH)
const numberedPlayer = { userId: shownIdParameter }

/** The form of an adjustment. */
export const adjustmentInput = z.strictObject({ amount: amountField, reason: reasonField })
export type AdjustmentInput = z.infer<typeof adjustmentInput>
export const adjustmentOfPlayer = adjustmentInput.extend(numberedPlayer)

/** The form of a reversal. */
export const reversalInput = z.strictObject({ reason: reasonField })
export type ReversalInput = z.infer<typeof reversalInput>
export const reversalOfPlayer = reversalInput.extend({
  ...numberedPlayer,
  /** The entry that is taken back. */
  entryId: z.string().regex(/^-?[1-9]\d{0,15}-[1-9]\d{0,15}$/, 'entryId must be the id of an entry, such as 7-12'),
})

export const entered = z.object({
  success: z.literal(true),
  /** False if there was this entry already, such as one of the same cause and reference: the rest is as it was then. */
  isFirst: z.boolean(),
  /** After the entry. */
  balance: z.number(),
  entry,
})
export type EntryResult = z.infer<typeof entered>

const claimed = z.object({
  success: z.literal(true),
  /** False if the player has claimed this before: the rest is as it was then. */
  isFirst: z.boolean(),
  reward: z.number(),
  /** After the entry. */
  balance: z.number(),
  /** Null where an import brought the participation. */
  entry: entry.nullable(),
})
export type ClaimResult = z.infer<typeof claimed>

/** An entry in the player's ledger. */
export const ledgerEntry = entry.extend({
  seq: z.int(),
  /** What was claimed: a daily task with its day. */
  item: z.object({ kind: historyKindField, id: idField, period: z.string() }).optional(),
  /** What it is about in the words of whoever wrote it; of a reversal the id of the entry that it takes back. */
  reference: z.string().optional(),
  /** After the entry. */
  balance: z.number(),
})
export type LedgerEntry = z.infer<typeof ledgerEntry>

export const LEADERBOARD_MAX = 100

const tags = ['Game']

export const ledger = {
  claim: call(['bot:play', 'player'], { heedsIdempotencyKey: true })
    .route({
      method: 'POST',
      path: '/bot/v1/players/{userId}/claims',
      tags,
      summary: 'A player has done a task or announcement and is paid its reward: once, a daily task once a day in UTC',
    })
    .input(
      z.strictObject({
        userId: playerIdField,
        kind: historyKindField,
        id: idField,
        /** What the announcement asks the player for. */
        userInput: z.string().trim().max(USER_INPUT_MAX_LENGTH).optional(),
      }),
    )
    .output(claimed),
  enter: call(['bot:play'], { heedsIdempotencyKey: true })
    .route({
      method: 'POST',
      path: '/bot/v1/players/{userId}/entries',
      tags,
      summary: 'The game gives or takes an amount: once for each cause and reference of the player, for ever',
    })
    .input(
      z.strictObject({
        userId: playerIdField,
        amount: amountField,
        cause: gameCauseField,
        /** The game's own name of what this is, such as a round or a purchase. */
        reference: z.string().min(1).max(REFERENCE_MAX_LENGTH),
      }),
    )
    .output(entered),
  adjust: call(['bot:admin'], { heedsIdempotencyKey: true })
    .route({
      method: 'POST',
      path: '/bot/v1/players/{userId}/adjustments',
      tags,
      summary: 'A person gives or takes an amount, and says why',
    })
    .input(adjustmentOfPlayer)
    .output(entered),
  reverse: call(['bot:admin'], { heedsIdempotencyKey: true })
    .route({
      method: 'POST',
      path: '/bot/v1/players/{userId}/reversals',
      tags,
      summary: 'A person takes an entry back, once, by an entry of its own, and says why',
    })
    .input(reversalOfPlayer)
    .output(entered),
  entries: call(['bot:read', 'player'])
    .route({
      method: 'GET',
      path: '/bot/v1/players/{userId}/entries',
      tags,
      summary: `What changed a player's balance, the newest first, ${ENTRIES_PAGE_SIZE} a page`,
    })
    .input(z.strictObject({ userId: playerIdField, after: cursorField.optional() }))
    .output(z.object({ entries: z.array(ledgerEntry), after: z.string().nullable() })),
  leaderboard: call(['bot:read', 'player'])
    .route({
      method: 'GET',
      path: '/bot/v1/leaderboard',
      tags,
      summary: `The players with the highest balances, up to ${LEADERBOARD_MAX}; of equal ones the lower id comes first`,
    })
    .input(z.strictObject({ limit: numberParameter.pipe(z.int().min(1).max(LEADERBOARD_MAX)).default(10) }))
    .output(
      z.object({
        players: z.array(
          z.object({
            rank: z.int(),
            userId: z.int(),
            username: z.string().nullable(),
            firstName: z.string().nullable(),
            balance: z.number(),
          }),
        ),
      }),
    ),
}
