/** A player's balance, for admins: its ledger entries, adjustments with a reason, and reversals. */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { cursorField, idField } from '#src/field-schemas.ts'
import { historyKindField } from '#src/history/calls.ts'
import { adjustmentOfPlayer, entered, ENTRIES_PAGE_SIZE, ledgerEntry, reversalOfPlayer } from '#src/ledger/calls.ts'
import { shownIdParameter } from '#src/players/calls.ts'

/** A ledger entry with everything known about it. */
const explainedEntry = ledgerEntry.extend({
  item: z.object({ kind: historyKindField, id: idField, period: z.string(), title: z.string() }).optional(),
  /** The reason that the adjusting or reversing operator or bot gave. */
  reason: z.string().optional(),
  /** Who wrote the entry; absent for imported entries. The name is null if the user no longer exists. */
  by: z.object({ kind: z.enum(['user', 'bot', 'player']), name: z.string().nullable() }).optional(),
})
export type ExplainedEntry = z.infer<typeof explainedEntry>

const tags = ['Telegram Users']

export const balances = {
  entries: call(['admin'], { needs: 'players.read' })
    .route({
      method: 'GET',
      path: '/api/telegram-users/{userId}/entries',
      tags,
      summary: `What changed a player's balance, who did it and why, the newest first, ${ENTRIES_PAGE_SIZE} a page`,
    })
    .input(z.strictObject({ userId: shownIdParameter, after: cursorField.optional() }))
    .output(z.object({ entries: z.array(explainedEntry), after: z.string().nullable() })),
  adjust: call(['admin'], { needs: 'balances.adjust', heedsIdempotencyKey: true })
    .route({
      method: 'POST',
      path: '/api/telegram-users/{userId}/adjustments',
      tags,
      summary: 'Give a player an amount, or take it, and say why',
    })
    .input(adjustmentOfPlayer)
    .output(entered),
  reverse: call(['admin'], { needs: 'balances.adjust', heedsIdempotencyKey: true })
    .route({
      method: 'POST',
      path: '/api/telegram-users/{userId}/reversals',
      tags,
      summary: 'Take an entry back, once, by an entry of its own, and say why',
    })
    .input(reversalOfPlayer)
    .output(entered),
}
