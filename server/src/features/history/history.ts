/** History (§2 /history, §3, §7): the items of a tab, one item's details, its participants, and both as a spreadsheet. */
import { type RawBuilder, sql } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { defaultFileNames, type HistoryDownloadInput } from '@arcade/contract/download'
import { HISTORY_PAGE_SIZE, type HistoryItem, type HistoryKind, type HistoryParticipant } from '@arcade/contract/entities/history'
import { Failure, type Handlers } from '#src/calls.ts'
import { isId, isMicroseconds, isText, keysetPage, readCursor, writeCursor } from '#src/lists/cursors.ts'
import { counterSql } from '#src/db/counters.ts'
import type { Database } from '#src/db/database.ts'
import { microsecondsSql, momentOf, momentSql } from '#src/db/moments.ts'
import type { Downloads, Table } from '#src/sheets/download.ts'
import type { Snapshot } from '#src/db/snapshot.ts'
import { searchTerm } from '#src/lists/search.ts'
import type { Column } from '#src/sheets/spreadsheet.ts'

/** More titles than a tab can sensibly list; the newest are kept. */
const TITLES_LIMIT = 10_000

interface ParticipantRow extends Omit<HistoryParticipant, 'timestamp'> {
  timestamp: Date
}

interface PageRow extends ParticipantRow {
  period: string
  /** The moment in microseconds, as exact as the database has it. */
  key: string
  total: number
}

export function historyHandlers({ database }: { database: Database }): Handlers<typeof contract.history> {
  const { db } = database
  const find = database.prepared<HistoryItem>('history-item', ITEM)
  const pages = {
    first: database.prepared<PageRow>('history-first', pageSql(['order by at desc, user_id, period'], 'at desc, id, period')),
    after: database.prepared<PageRow>(
      'history-after',
      pageSql(
        [
          `and at = ${MOMENT} and (user_id, period) > ($4, $5) order by user_id, period`,
          `and at < ${MOMENT} order by at desc, user_id, period`,
        ],
        'at desc, id, period',
      ),
    ),
    before: database.prepared<PageRow>(
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
      const items = await db
        .selectFrom('history_items')
        .select(['item_id as id', 'title'])
        .where('kind', '=', kind)
        .orderBy('created_at', 'desc')
        .orderBy('item_id')
        .limit(TITLES_LIMIT)
        .execute()
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
      const { read, total } =
        search && searchTerm(search)
          ? await searchParticipants(database, { kind, id, search: search ?? '', direction, key }, await participantsOf(kind, id))
          : await plainPage()
      const cursorOf = (row: PageRow): string => writeCursor([list, row.key, row.id, row.period])
      const page = keysetPage(read, { size: HISTORY_PAGE_SIZE, direction, cursorOf })
      return {
        participants: page.rows.map(toWire),
        pageSize: HISTORY_PAGE_SIZE,
        pageCount: Math.max(1, Math.ceil(total / HISTORY_PAGE_SIZE)),
        total,
        after: page.after,
        before: page.before,
      }

      async function plainPage(): Promise<{ read: PageRow[]; total: number }> {
        const rows = await pages[direction ?? 'first']([kind, id, ...key])
        return { read: rows, total: rows[0]?.total ?? (await participantsOf(kind, id)) }
      }
    },
  }

  async function participantsOf(kind: HistoryKind, id: string): Promise<number> {
    const [item] = await find([kind, id])
    if (!item) throw new Failure('NO_SUCH_HISTORY')
    return item.participants
  }
}

/** Participants that are looked through one by one; of more of them players' index gives those that can be meant. */
const LOOKED_THROUGH = 20_000
const MAX_CANDIDATES = 5_000

const NAMES = sql<string>`lower(' ' || coalesce(p.username, '') || ' ' || coalesce(p.first_name, '') || ' ' || coalesce(p.last_name, ''))`

interface Search {
  kind: HistoryKind
  id: string
  search: string
  direction: 'after' | 'before' | undefined
  key: [] | [moment: string, userId: number, period: string]
}

/**
 * Participants by part of a name or by their id. Of a long list only those are found by name whose player has that name, too, unless
 * the name is so common that the whole list is looked through.
 */
async function searchParticipants(
  { db }: Database,
  { kind, id, search, direction, key }: Search,
  participants: number,
): Promise<{ read: PageRow[]; total: number }> {
  const term = searchTerm(search, NAMES)!
  const isOfItem = sql`p.kind = ${kind} and p.item_id = ${id}`
  const isWholeId = /^\d{1,16}$/.test(search) ? sql`p.user_id = ${search}::bigint` : sql`false`
  const walk = sql`select p.* from participations p where ${isOfItem} and (${term.matches} or ${isWholeId})`
  const candidates = sql`select user_id from telegram_users where ${term.inIndex} limit ${sql.lit(MAX_CANDIDATES + 1)}`
  const isFew = participants > LOOKED_THROUGH && (await countOf(candidates)) <= MAX_CANDIDATES
  const byName = sql`select p.* from (${candidates} offset 0) as candidate join participations p using (user_id) where ${isOfItem} and ${term.matches}`
  const hits = isFew ? sql`${byName} union select p.* from participations p where ${isOfItem} and ${isWholeId}` : walk

  const moment = momentOf(key[0] ?? '0')
  const place = sql`(${key[1] ?? 0}::bigint, ${key[2] ?? ''}::text)`
  const isNext =
    direction === undefined
      ? sql`true`
      : direction === 'after'
        ? sql`(at < ${moment} or (at = ${moment} and (user_id, period) > ${place}))`
        : sql`(at > ${moment} or (at = ${moment} and (user_id, period) < ${place}))`
  const order = sql.raw(direction === 'before' ? 'at, id desc, period desc' : 'at desc, id, period')
  const { rows } = await sql<PageRow>`
    with hits as materialized (${hits})
    select counted.total, page.* from (select count(*) as total from hits) as counted left join (
      select user_id as id, username, first_name, last_name, user_input as "userInput", at as timestamp, at, period,
        ${sql.raw(microsecondsSql('at'))} as key
        from hits where ${isNext} order by ${order} limit ${sql.lit(HISTORY_PAGE_SIZE + 1)}
    ) as page on true order by ${order}`.execute(db)
  return { read: rows.filter((row) => (row.id as number | null) !== null), total: rows[0]?.total ?? 0 }

  async function countOf(query: RawBuilder<unknown>): Promise<number> {
    const counted = await sql<{ total: number }>`select count(*) as total from (${query}) as counted`.execute(db)
    return counted.rows[0]?.total ?? 0
  }
}

const COUNT = counterSql({ of: 'participants', kind: '$1::text', itemId: '$2::text' })

const ITEM = `select kind, item_id as id, title, type, link_type as "linkType", link, description, input_text as "inputText", reward,
  ${COUNT} as participants from history_items where kind = $1 and item_id = $2`

const PARTICIPANTS = `select user_id as id, username, first_name, last_name, user_input as "userInput", at as timestamp`
const OF_ITEM = 'from participations where kind = $1 and item_id = $2'
const MOMENT = momentSql('$3')

/** Two exact ranges instead of an OR, so that a page is a few steps down the index also where many took part at one moment. */
function pageSql(ranges: string[], order: string): string {
  const limit = HISTORY_PAGE_SIZE + 1
  const parts = ranges.map((range) => `(${PARTICIPANTS}, at, period ${OF_ITEM} ${range} limit ${limit})`)
  return `select id, username, first_name, last_name, "userInput", timestamp, period,
    ${microsecondsSql('at')} as key, ${COUNT} as total
    from (${parts.join(' union all ')}) as page order by ${order} limit ${limit}`
}

function toWire({ id, username, first_name, last_name, userInput, timestamp }: PageRow): HistoryParticipant {
  return { id, username, first_name, last_name, userInput, timestamp: timestamp.toISOString() }
}

/** What a row of the sheet shows of a participant; those posted may have ids and moments of any form. */
interface SheetRow {
  id?: number | string | null | undefined
  username?: string | null | undefined
  first_name?: string | null | undefined
  last_name?: string | null | undefined
  userInput?: string | null | undefined
  timestamp: Date | null
}

type Details = {
  [K in 'title' | 'type' | 'linkType' | 'link' | 'description' | 'inputText' | 'reward']?:
    | HistoryItem[K]
    | string
    | null
    | undefined
}

/** The participants, each beside the item's details, so that the table can be filtered, sorted and joined with others. */
function columnsFor(item: Details): Column<SheetRow>[] {
  const { reward } = item
  return [
    { header: 'ID', width: 14, kind: 'number', value: (row) => row.id },
    { header: 'Username', width: 20, kind: 'text', value: (row) => row.username },
    { header: 'First Name', width: 20, kind: 'text', value: (row) => row.first_name },
    { header: 'Last Name', width: 20, kind: 'text', value: (row) => row.last_name },
    { header: 'User Input', width: 40, kind: 'text', value: (row) => row.userInput },
    { header: 'Timestamp', width: 20, kind: 'date', value: (row) => row.timestamp },
    { header: 'Title', width: 32, kind: 'text', value: () => item.title },
    { header: 'Type', width: 12, kind: 'text', value: () => item.type },
    { header: 'Link Type', width: 12, kind: 'text', value: () => item.linkType },
    { header: 'Link', width: 40, kind: 'text', value: () => item.link },
    { header: 'Description', width: 40, kind: 'text', value: () => item.description },
    { header: 'Input Text', width: 32, kind: 'text', value: () => item.inputText },
    { header: 'Reward', width: 12, kind: 'number', value: () => reward },
  ]
}

const NOBODY: SheetRow = { timestamp: null }

/** POST /download-history: all participants of `kind` and `id` from the database, or those posted. */
export function historyDownload({ downloads }: { downloads: Downloads }): Handlers<typeof contract.downloads>['history'] {
  return ({ data, exportId }, context) => {
    const { kind, id } = data
    const isNamed = kind !== undefined && id !== undefined
    if (!isNamed && (kind ?? id) !== undefined)
      throw new Failure('INVALID_INPUT', { message: 'Give both kind and id, or neither.' })
    return downloads.start<SheetRow>({
      context,
      exportId,
      target: isNamed ? `history:${kind}:${id}` : 'history:posted',
      fileName: defaultFileNames.history,
      sheetName: 'Participants',
      open: (snapshot) => (isNamed ? openItem(snapshot, kind, id) : openPosted(data)),
    })
  }
}

async function openItem(snapshot: Snapshot, kind: HistoryKind, id: string): Promise<Table<SheetRow>> {
  const [item] = await snapshot.query<HistoryItem>(ITEM, [kind, id])
  if (!item) throw new Failure('NO_SUCH_HISTORY')
  const columns = columnsFor(item)
  if (item.participants === 0) return { columns, total: 0, rows: [NOBODY] }
  const query = `${PARTICIPANTS} ${OF_ITEM} order by at desc, user_id, period`
  return { columns, total: item.participants, rows: { sql: query, parameters: [kind, id] } }
}

async function openPosted(data: HistoryDownloadInput['data']): Promise<Table<SheetRow>> {
  const rows = data.users.map((user): SheetRow => ({ ...user, timestamp: toDate(user.timestamp) }))
  return { columns: columnsFor(data), total: rows.length, rows: rows.length > 0 ? rows : [NOBODY] }
}

function toDate(text: string | null | undefined): Date | null {
  if (text == null) return null
  const date = new Date(/^\d+$/.test(text) ? Number(text) : text)
  return Number.isNaN(date.getTime()) ? null : date
}
