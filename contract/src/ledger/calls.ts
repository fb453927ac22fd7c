/** The game's calls about balances (design §8). Each claim and entry is credited once, however often it is sent. */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { isOwnCause } from './fields.ts'
import { amountOf, cursorField, idField, numberField, numberParameter, textField } from '#src/field-schemas.ts'
import { playerIdField } from '#src/game/calls.ts'
import { historyKindField } from '#src/history/calls.ts'
import { shownIdParameter } from '#src/players/calls.ts'
import { typedText } from '#src/text.ts'

export const MAX_USER_INPUT_LENGTH = 2000
export const ENTRIES_PAGE_SIZE = 50
export const MAX_REFERENCE_LENGTH = 200
export const MAX_REASON_LENGTH = 500

/** A change of a balance. */
export const entry = z.object({
  /** The player's id and the entry's number: `7-12`. */
  id: z.string(),
  amount: z.number(),
  /** A cause of the console, or one of the game. */
  cause: z.string(),
  at: z.iso.datetime(),
})
export type Entry = z.infer<typeof entry>

/** In ENTRY_CAPS: all causes of the game without a cap of their own. */
export const OTHER_CAUSES = '*'

/** In ENTRY_CAPS, before a cause: the cap limits what the cause takes. */
export const TAKEN = '-'

/** The game's own name for what an entry is for. It must not be a cause of the console. */
export const gameCauseField = z
  .string('cause must be a text')
  .regex(/^[a-z][a-z0-9_.-]{0,39}$/, 'cause must be up to 40 small letters, digits, dots, dashes and underscores after a letter')
  .refine((cause) => !isOwnCause(cause), 'This cause is the console’s own')

/** A negative amount is taken. A balance never becomes negative. */
const amountField = amountOf('Amount', numberField('Amount')).refine((amount) => amount !== 0, 'Amount must not be 0')
const reasonField = textField('Reason', MAX_REASON_LENGTH)
const numberedPlayer = { userId: shownIdParameter }

/** The form for an adjustment. */
export const adjustmentInput = z.strictObject({ amount: amountField, reason: reasonField })
export type AdjustmentInput = z.infer<typeof adjustmentInput>
export const adjustmentOfPlayer = adjustmentInput.extend(numberedPlayer)

/** The form for a reversal. */
export const reversalInput = z.strictObject({ reason: reasonField })
export type ReversalInput = z.infer<typeof reversalInput>
export const reversalOfPlayer = reversalInput.extend({
  ...numberedPlayer,
  /** The entry to reverse. */
  entryId: z.string().regex(/^-?[1-9]\d{0,15}-[1-9]\d{0,15}$/, 'entryId must be the id of an entry, such as 7-12'),
})

export const entered = z.object({
  success: z.literal(true),
  /** False if the entry already existed, for example with the same cause and reference. The other fields then describe the first call. */
  isFirst: z.boolean(),
  /** The balance after the entry. */
  balance: z.number(),
  entry,
})
export type EntryResult = z.infer<typeof entered>

const claimed = z.object({
  success: z.literal(true),
  /** False if the player had already claimed this. The other fields then describe the first claim. */
  isFirst: z.boolean(),
  reward: z.number(),
  /** The balance after the claim. */
  balance: z.number(),
  /** Null if the participation was imported. */
  entry: entry.nullable(),
})
export type ClaimResult = z.infer<typeof claimed>

/** A ledger entry of a player. */
export const ledgerEntry = entry.extend({
  seq: z.int(),
  /** The claimed item; a daily task with its day. */
  item: z.object({ kind: historyKindField, id: idField, period: z.string() }).optional(),
  /** What the entry is about, in the author's words. For a reversal, the id of the reversed entry. */
  reference: z.string().optional(),
  /** The balance after the entry. */
  balance: z.number(),
})
export type LedgerEntry = z.infer<typeof ledgerEntry>

export const MAX_LEADERBOARD = 100

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
        /** The input that the announcement asks for. */
        userInput: z.string().overwrite(typedText).max(MAX_USER_INPUT_LENGTH).optional(),
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
        /** The game's own id for the occasion, such as a round or a purchase. In NFC, so that references that look equal are equal. */
        reference: z.string().normalize('NFC').min(1).max(MAX_REFERENCE_LENGTH),
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
      summary: `The players with the highest balances, up to ${MAX_LEADERBOARD}; of equal ones the lower id comes first`,
      description:
        'Blocked players are left out, and those behind them move up. Erased players are left out but keep their rank.',
    })
    .input(z.strictObject({ limit: numberParameter.pipe(z.int().min(1).max(MAX_LEADERBOARD)).default(10) }))
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
