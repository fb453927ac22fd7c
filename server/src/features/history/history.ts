/** History (§2 /history, §3, §7): the items of a tab, one item's details, its participants, and both as a spreadsheet. */
import { type RawBuilder, sql } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { defaultFileNames, type HistoryDownloadInput } from '@arcade/contract/downloads/calls'
import type { SheetName } from '@arcade/contract/entity'
import {
  HISTORY_PAGE_SIZE,
  type HistoryItem,
  historyItemFields,
  type HistoryKind,
  type HistoryParticipant,
  participantFields,
} from '@arcade/contract/history/fields'
import { Failure, type Handlers } from '#src/calls.ts'
import { isId, isMicroseconds, isText, keysetPage, readCursor, writeCursor } from '#src/lists/cursors.ts'
import { counterOfRowSql, counterSql } from '#src/counters/counters.ts'
import type { Database } from '#src/db/database.ts'
import { historyItemEntity, participantEntity, selectList } from '#src/db/entities.ts'
import { foldedSql } from '#src/db/folded-text.ts'
import { isoSql, microsecondsSql, momentParameter, momentSql } from '#src/db/moments.ts'
import type { Downloads, Table } from '#src/sheets/download.ts'
import type { Snapshot } from '#src/db/snapshot.ts'
import { type SearchTerm, searchTerm } from '#src/lists/search.ts'
import { sheetColumns, sheetNames, type SheetRow, sheetValues } from '#src/lists/sheet.ts'
import { copyText, textOf } from '#src/postgres/copy-text.ts'
import type { Column } from '#src/sheets/cells.ts'

/** More titles than a tab can sensibly list; the newest are kept. */
const TITLES_LIMIT = 10_000

/** A participant with what the page's cursors need. */
interface PageRow extends HistoryParticipant {
  at?: unknown
  period: string
  /** The moment in microseconds, as exact as the database has it. */
  key: string
  /** The number of all participants that the page is a part of. */
  total: number
}

export function historyHandlers({ database }: { database: Database }): Handlers<typeof contract.history> {
  const { reads } = database
  const find = reads.prepared<HistoryItem>('history-item', ITEM)
  const pages = {
    first: reads.prepared<PageRow>('history-first', pageSql(['order by at desc, user_id, period'], 'at desc, id, period')),
    after: reads.prepared<PageRow>(
      'history-after',
      pageSql(
        [
          `and at = ${MOMENT} and (user_id, period) > ($4, $5) order by user_id, period`,
          `and at < ${MOMENT} order by at desc, user_id, period`,
        ],
        'at desc, id, period',
      ),
    ),
    before: reads.prepared<PageRow>(
      'history-before',
      pageSql(
        [
          `and at = ${MOMENT} and (user_id, period) < ($4, $5) order by user_id desc, period desc`,
          `and at > ${MOMENT} order by at, user_id desc, period desc`,
        ],
        'at, id desc, period desc',
      ),
    ),
  }

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
            sql.raw<boolean>(`not exists (${EXISTING[kind]})`).as('isDeleted'),
          ])
          .where('kind', '=', kind)
          .orderBy('created_at', 'desc')
          .orderBy('item_id')
          .limit(TITLES_LIMIT),
      )
      return { items }
    },

    async get({ kind, id }) {
      const [item] = await find([kind, id])
      if (!item) throw new Failure('NO_SUCH_HISTORY')
      return item
    },

    async participants({ kind, id, search, after, before }) {
      const cursor = after ?? before
      const direction = after !== undefined ? 'after' : before !== undefined ? 'before' : undefined
      const list = `${kind}:${id}`
      const key: Search['key'] =
        cursor === undefined ? [] : readCursor<[string, number, string]>(cursor, list, [isMicroseconds, isId, isText])
      const term = searchTerm(search ?? '', NAMES)
      const { read, total } = term
        ? await searchParticipants(
            database,
            { kind, id, search: search ?? '', term, direction, key },
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
        const rows = await pages[direction ?? 'first']([kind, id, ...key])
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

/** So many participants are compared one by one. Of more of them the players' index finds those who can match. */
const LOOKED_THROUGH = 20_000
/** A name that more players have is so common that the whole list is looked through. */
const MAX_CANDIDATES = 5_000

const NAMES = sql.raw<string>(
  foldedSql(`(' ' || coalesce(p.username, '') || ' ' || coalesce(p.first_name, '') || ' ' || coalesce(p.last_name, ''))`),
)

interface Search {
  kind: HistoryKind
  id: string
  search: string
  term: SearchTerm
  direction: 'after' | 'before' | undefined
  key: [] | [moment: string, userId: number, period: string]
}

/**
 * Participants by a part of a name or by their id. In a long list a participant is found by a name that the player still has today;
 * a player's former names are only found in short lists and by common names, where the whole list is looked through.
 */
async function searchParticipants(
  { reads }: Database,
  { kind, id, search, term, direction, key }: Search,
  participants: number,
): Promise<{ read: PageRow[]; total: number }> {
  const ofItem = sql`p.kind = ${kind} and p.item_id = ${id}`
  const hasId = /^\d{1,16}$/.test(search) ? sql`p.user_id = ${search}::bigint` : sql`false`
  const walk = sql`select p.* from participations p where ${ofItem} and (${term.matches} or ${hasId})`
  const candidates = sql`select user_id from telegram_users where ${term.inIndex} limit ${sql.lit(MAX_CANDIDATES + 1)}`
  const isFew = participants > LOOKED_THROUGH && (await countRows(candidates)) <= MAX_CANDIDATES
  const byNameOfPlayer = sql`select p.* from (${candidates} offset 0) as candidate join participations p using (user_id) where ${ofItem} and ${term.matches}`
  const hits = isFew ? sql`${byNameOfPlayer} union select p.* from participations p where ${ofItem} and ${hasId}` : walk

  const moment = momentParameter(key[0] ?? '0')
  const place = sql`(${key[1] ?? 0}::bigint, ${key[2] ?? ''}::text)`
  const afterPlace =
    direction === undefined
      ? sql`true`
      : direction === 'after'
        ? sql`(at < ${moment} or (at = ${moment} and (user_id, period) > ${place}))`
        : sql`(at > ${moment} or (at = ${moment} and (user_id, period) < ${place}))`
  const order = sql.raw(direction === 'before' ? 'at, id desc, period desc' : 'at desc, id, period')
  const rows = await reads.rows(sql<PageRow>`
    with hits as materialized (${hits})
    select counted.total, page.* from (select count(*) as total from hits) as counted left join (
      select ${sql.raw(PARTICIPANT)}, at, period, ${sql.raw(microsecondsSql('at'))} as key from hits where ${afterPlace} order by ${order} limit ${sql.lit(HISTORY_PAGE_SIZE + 1)}
    ) as page on true order by ${order}`)
  return { read: rows.filter((row) => (row.id as number | null) !== null), total: rows[0]?.total ?? 0 }

  async function countRows(query: RawBuilder<unknown>): Promise<number> {
    const [counted] = await reads.rows(sql<{ total: number }>`select count(*) as total from (${query}) as counted`)
    return counted?.total ?? 0
  }
}

const COUNT = counterSql({ of: 'participants', kind: '$1::text', itemId: '$2::text' })

/** SQL that finds the row which a history item is about. */
const EXISTING: Record<HistoryKind, string> = {
  announcement: 'select from announcements where id = item_id',
  social: `select from tasks where collection = 'social' and id = item_id`,
  daily: `select from tasks where collection = 'daily' and id = item_id`,
}

const ITEM = `select ${selectList(historyItemEntity, { derived: { participants: COUNT } })} from history_items where kind = $1 and item_id = $2`

const PARTICIPANT = selectList(participantEntity, { derived: {} })
const OF_ITEM = 'from participations where kind = $1 and item_id = $2'
const MOMENT = momentSql('$3')

/** Two exact ranges instead of an OR, so that a page is a few steps down the index also where many took part at one moment. */
function pageSql(ranges: string[], order: string): string {
  const limit = HISTORY_PAGE_SIZE + 1
  const parts = ranges.map((range) => `(select ${PARTICIPANT}, at, period ${OF_ITEM} ${range} limit ${limit})`)
  const names = Object.keys(participantFields).map((name) => `"${name}"`)
  return `select ${names.join(', ')}, period, ${microsecondsSql('at')} as key, ${COUNT} as total from (${parts.join(' union all ')}) as page order by ${order} limit ${limit}`
}

function withoutKeys({ at: _at, period: _period, key: _key, total: _total, ...participant }: PageRow): HistoryParticipant {
  return participant
}

/** What a sheet says of the item itself. */
type Details = { [Name in SheetName<typeof historyItemFields>]?: string | number | null | undefined }

/** The participants, each beside the item's details, so that the table can be filtered, sorted and joined with others. */
function columnsFor(item: Details): Column[] {
  const values = sheetValues(historyItemFields, item)
  const details = sheetColumns(historyItemFields, { flags: {} }).map((column, index) => ({
    ...column,
    field: { always: textOf(values[index]) },
  }))
  return [...sheetColumns(participantFields, { flags: {} }), ...details]
}

/** An item without participants has one row, in which only its details stand. */
const NOBODY: SheetRow = {}

/** POST /download-history: all participants of `kind` and `id` from the database, or those posted. */
export function historyDownload({ downloads }: { downloads: Downloads }): Handlers<typeof contract.downloads>['history'] {
  return ({ data, exportId, format }, context) => {
    const { kind, id } = data
    const isNamed = kind !== undefined && id !== undefined
    if (!isNamed && (kind ?? id) !== undefined)
      throw new Failure('INVALID_INPUT', { message: 'Give both kind and id, or neither.' })
    return downloads.start({
      context,
      exportId,
      format,
      target: isNamed ? `history:${kind}:${id}` : 'history:posted',
      fileName: defaultFileNames.history,
      sheetName: 'Participants',
      open: (snapshot) => (isNamed ? openItem(snapshot, kind, id) : openPosted(data)),
    })
  }
}

async function openItem(snapshot: Snapshot, kind: HistoryKind, id: string): Promise<Table> {
  const [item] = await snapshot.query<HistoryItem>(ITEM, [kind, id])
  if (!item) throw new Failure('NO_SUCH_HISTORY')
  const columns = columnsFor(item)
  if (item.participants === 0) return { columns, total: 0, rows: posted([NOBODY]) }
  const only = sheetNames(participantFields)
  const fields = selectList(participantEntity, { derived: {}, only, moments: 'milliseconds' })
  const query = `select ${fields} ${OF_ITEM} order by at desc, user_id, period`
  return { columns, total: item.participants, rows: { sql: query, parameters: [kind, id] } }
}

async function openPosted(data: HistoryDownloadInput['data']): Promise<Table> {
  const rows: SheetRow[] = data.users.length > 0 ? data.users : [NOBODY]
  return { columns: columnsFor(data), total: data.users.length, rows: posted(rows) }
}

function posted(rows: SheetRow[]): Buffer {
  return copyText(rows.map((row) => sheetValues(participantFields, row)))
}
