/** The console's calls about a player's balance: its ledger with who wrote each entry and why, adjustments, reversals. */
import type { ExplainedEntry } from '@arcade/contract/balances/calls'
import type { contract } from '@arcade/contract/contract'
import type { Handlers } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { namesOfUsers } from '#src/identity/accounts.ts'
import { createAdjustments } from '#src/ledger/adjustments.ts'
import { createEntryPages, type StoredEntry, toEntry } from '#src/ledger/entry-pages.ts'
import { readTexts } from '#src/players/told-texts.ts'

interface ExplainedRow extends StoredEntry {
  title: string | null
  reason: string | null
  byKind: 'user' | 'bot' | 'player' | null
  byId: string | null
  byName: string | null
}

const explanationSql = {
  columns: `, reason, by_kind as "byKind", by_id as "byId", by_name as "byName", title`,
  joins: 'left join history_items using (kind, item_id)',
}

export function balancesHandlers({ database }: { database: Database }): Handlers<typeof contract.balances> {
  const { db } = database
  const { adjust, reverse } = createAdjustments(database)
  const readEntries = createEntryPages<ExplainedRow>(database, 'explained-entries', explanationSql)

  return {
    adjust,
    reverse,

    async entries({ userId, after }, context) {
      const page = await readEntries(userId, after)
      const names = await namesOfUsers(
        db,
        page.rows.map(({ byKind, byId }) => (byKind === 'user' ? byId : null)),
      )
      const readText = await readTexts(db, context, [userId])
      const rows = page.rows.map((row) => ({ ...row, reason: readText(userId, row.reason) }))
      return { entries: rows.map((row) => explained(userId, row, names)), after: page.after }
    },
  }
}

function explained(userId: number, row: ExplainedRow, names: ReadonlyMap<string | null, string>): ExplainedEntry {
  const { title, reason, byKind, byId, byName } = row
  const { item, ...entry } = toEntry(userId, row)
  return {
    ...entry,
    ...(item && { item: { ...item, title: title ?? '' } }),
    ...(reason !== null && { reason }),
    ...(byKind !== null && { by: { kind: byKind, name: byName ?? names.get(byId) ?? null } }),
  }
}
