/** History (§2 /history, §3, §7): the items of a tab, one item's details, and its participants. */
import { sql } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import type { ListedParticipant } from '@arcade/contract/history/calls'
import { HISTORY_PAGE_SIZE, type HistoryItem, type HistoryKind } from '@arcade/contract/history/fields'
import { Failure, type Handlers } from '#src/calls.ts'
import { counterOfRowSql } from '#src/counters/counters.ts'
import { idOrderSql } from '#src/db/collations.ts'
import type { Database } from '#src/db/database.ts'
import { itemSources } from '#src/db/entities.ts'
import { isoSql } from '#src/db/moments.ts'
import { directionOf, isId, isMicroseconds, isText, keysetPage, readCursor, writeCursor } from '#src/lists/cursors.ts'
import { forPersonalAccess, seesPersonal } from '#src/lists/personal.ts'
import { ITEM, type PageRow, participantTerm, preparePages, type Search, searchParticipants } from './participants.ts'

/** Most titles that a tab lists: more than anyone scrolls through. The newest are listed. */
const MAX_TITLES = 10_000

export function historyHandlers({ database }: { database: Database }): Handlers<typeof contract.history> {
  const { reads } = database
  const find = reads.prepared<HistoryItem>('history-item', ITEM)
  const pagesFor = forPersonalAccess((sees) => preparePages(reads, sees))

  return {
    async titles({ kind }) {
      const items = await reads.rows(
        database.db
          .selectFrom('history_items')
          .select([
            'item_id as id',
            'title',
            sql.raw<number>(counterOfRowSql({ of: 'participants', kind: 'kind', itemId: 'item_id' })).as('participants'),
            sql.raw<string>(isoSql('created_at')).as('createdAt'),
            sql.raw<boolean>(`not exists (${existingSql(kind)})`).as('isDeleted'),
          ])
          .where('kind', '=', kind)
          .orderBy('created_at', 'desc')
          .orderBy(sql.raw(idOrderSql('item_id')))
          .limit(MAX_TITLES),
      )
      return { items }
    },

    async get({ kind, id }) {
      const [item] = await find([kind, id])
      if (!item) throw new Failure('NO_SUCH_HISTORY')
      return item
    },

    async participants({ kind, id, search, after, before }, context) {
      const cursor = after ?? before
      const direction = directionOf({ after, before })
      const list = `${kind}:${id}`
      const key: Search['key'] =
        cursor === undefined ? [] : readCursor<[string, number, string]>(cursor, list, [isMicroseconds, isId, isText])
      const term = participantTerm(search ?? '')
      const { read, total } = term
        ? await searchParticipants(
            database,
            { kind, id, search: search ?? '', term, direction, key, sees: seesPersonal(context) },
            await countParticipants(kind, id),
          )
        : await plainPage()
      const toCursor = (row: PageRow): string => writeCursor([list, row.key, row.id, row.period])
      const page = keysetPage(read, { size: HISTORY_PAGE_SIZE, direction, toCursor })
      return {
        participants: page.rows.map(withoutKeys),
        pageSize: HISTORY_PAGE_SIZE,
        pageCount: Math.max(1, Math.ceil(total / HISTORY_PAGE_SIZE)),
        total,
        after: page.after,
        before: page.before,
      }

      async function plainPage(): Promise<{ read: readonly PageRow[]; total: number }> {
        const rows = await pagesFor(context)[direction ?? 'first']([kind, id, ...key])
        return { read: rows, total: rows[0]?.total ?? (await countParticipants(kind, id)) }
      }
    },
  }

  async function countParticipants(kind: HistoryKind, id: string): Promise<number> {
    const [item] = await find([kind, id])
    if (!item) throw new Failure('NO_SUCH_HISTORY')
    return item.participants
  }
}

/** Returns SQL that finds the task or announcement of a history item. */
function existingSql(kind: HistoryKind): string {
  const { entity, where } = itemSources[kind]
  return `select from ${entity.table} where ${where} and id = item_id`
}

function withoutKeys({ at: _at, period: _period, key: _key, total: _total, ...participant }: PageRow): ListedParticipant {
  return participant
}
