/** History (§2 /history, §3, §7): the items of a tab, one item's details, its participants, and both as a spreadsheet. */
import { type RawBuilder, sql } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import type { ListedParticipant } from '@arcade/contract/history/calls'
import { defaultFileNames, type HistoryDownloadInput } from '@arcade/contract/downloads/calls'
import type { SheetName } from '@arcade/contract/entity'
import {
  HISTORY_PAGE_SIZE,
  type HistoryItem,
  historyItemFields,
  type HistoryKind,
  participantFields,
} from '@arcade/contract/history/fields'
import { Failure, type Handlers, refuseWithout, signedIn } from '#src/calls.ts'
import {
  type Direction,
  directionOf,
  isId,
  isMicroseconds,
  isText,
  keysetPage,
  readCursor,
  writeCursor,
} from '#src/lists/cursors.ts'
import { counterOfRowSql, counterSql } from '#src/counters/counters.ts'
import { idOrderSql } from '#src/db/collations.ts'
import type { Database } from '#src/db/database.ts'
import { historyItemEntity, itemSources, type Masks, participantEntity, selectList } from '#src/db/entities.ts'
import { foldedSql } from '#src/db/folded-text.ts'
import { isoSql, microsecondsSql, momentParameter, momentSql } from '#src/db/moments.ts'
import type { Downloads, Table } from '#src/sheets/download.ts'
import type { Snapshot } from '#src/db/snapshot.ts'
import { forEachSight, personalMasks, seesPersonal } from '#src/lists/personal.ts'
import { type SearchTerm, searchTerm } from '#src/lists/search.ts'
import { sheetColumns, sheetNames, type SheetRow, sheetValues } from '#src/lists/sheet.ts'
import { copyText, textOf } from '#src/postgres/copy-text.ts'
import { datedFileName } from '#src/sheets/file-name.ts'
import type { Column } from '#src/sheets/cells.ts'

/** Most titles that a tab lists: more than anyone scrolls through. The newest are listed. */
const TITLES_LIMIT = 10_000

/** A participant, with the values that the page's cursors need. */
interface PageRow extends ListedParticipant {
  at?: unknown
  period: string
  /** `at` in microseconds, the precision of the database. */
  key: string
  /** The number of participants on all pages together. */
  total: number
}

/** Prepares the pages of an item's participants, with or without what the players typed. */
function preparePages(reads: Database['reads'], sees: boolean) {
  const prepare = (place: string, ranges: string[], order: string) =>
    reads.prepared<PageRow>(`history-${place}${sees ? '' : '*'}`, pageSql(ranges, order, sees))
  return {
    first: prepare('first', [`order by at desc, user_id, ${PERIOD}`], `at desc, id, ${PERIOD}`),
    after: prepare(
      'after',
      [
        `and at = ${CURSOR_TIME} and (user_id, ${PERIOD}) > ($4, $5) order by user_id, ${PERIOD}`,
        `and at < ${CURSOR_TIME} order by at desc, user_id, ${PERIOD}`,
      ],
      `at desc, id, ${PERIOD}`,
    ),
    before: prepare(
      'before',
      [
        `and at = ${CURSOR_TIME} and (user_id, ${PERIOD}) < ($4, $5) order by user_id desc, ${PERIOD} desc`,
        `and at > ${CURSOR_TIME} order by at, user_id desc, ${PERIOD} desc`,
      ],
      `at, id desc, ${PERIOD} desc`,
    ),
  }
}

export function historyHandlers({ database }: { database: Database }): Handlers<typeof contract.history> {
  const { reads } = database
  const find = reads.prepared<HistoryItem>('history-item', ITEM)
  const pagesFor = forEachSight((sees) => preparePages(reads, sees))

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
          .limit(TITLES_LIMIT),
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
      const term = searchTerm(search ?? '', NAMES)
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

/** A search scans lists of up to this many participants. In longer lists the index of players finds candidates first. */
const SCANNED_MAX = 20_000
/** A name that more players share is too common for the index of players: the whole list is scanned instead. */
const MAX_CANDIDATES = 5_000

const NAMES = sql.raw<string>(
  foldedSql(`(' ' || coalesce(p.username, '') || ' ' || coalesce(p.first_name, '') || ' ' || coalesce(p.last_name, ''))`),
)

interface Search {
  kind: HistoryKind
  id: string
  search: string
  term: SearchTerm
  direction: Direction
  key: [] | [cursorTime: string, userId: number, period: string]
  /** Whether the caller sees what the players typed. */
  sees: boolean
}

/**
 * Finds participants by a part of a name or by id. A scan of the whole list, for short lists and common names, also finds former names of
 * players. Otherwise a participant is only found by a name that the player still has.
 */
async function searchParticipants(
  { reads }: Database,
  { kind, id, search, term, direction, key, sees }: Search,
  participants: number,
): Promise<{ read: PageRow[]; total: number }> {
  const countRows = async (query: RawBuilder<unknown>): Promise<number> => {
    const [counted] = await reads.rows(countSql(query))
    return counted?.total ?? 0
  }
  const hits = await participantsFound({ kind, id, search, term, participants, countRows })
  const cursorTime = momentParameter(key[0] ?? '0')
  const period = sql.raw(PERIOD)
  const place = sql`(${key[1] ?? 0}::bigint, ${key[2] ?? ''}::text)`
  const afterPlace =
    direction === undefined
      ? sql`true`
      : direction === 'after'
        ? sql`(at < ${cursorTime} or (at = ${cursorTime} and (user_id, ${period}) > ${place}))`
        : sql`(at > ${cursorTime} or (at = ${cursorTime} and (user_id, ${period}) < ${place}))`
  const order = sql.raw(direction === 'before' ? `at, id desc, ${PERIOD} desc` : `at desc, id, ${PERIOD}`)
  const rows = await reads.rows(sql<PageRow>`
    with hits as materialized (${hits})
    select counted.total, page.* from (select count(*) as total from hits) as counted left join (
      select ${sql.raw(participantSql(sees))}, at, period, ${sql.raw(microsecondsSql('at'))} as key from hits where ${afterPlace} order by ${order} limit ${sql.lit(HISTORY_PAGE_SIZE + 1)}
    ) as page on true order by ${order}`)
  return { read: rows.filter((row) => (row.id as number | null) !== null), total: rows[0]?.total ?? 0 }
}

function countSql(query: RawBuilder<unknown>): RawBuilder<{ total: number }> {
  return sql`select count(*) as total from (${query}) as counted`
}

interface Found extends Pick<Search, 'kind' | 'id' | 'search' | 'term'> {
  /** The number of participants of the item. */
  participants: number
  countRows: (query: RawBuilder<unknown>) => Promise<number>
}

/** Returns the query for an item's participants whose names or id a search finds. */
async function participantsFound({ kind, id, search, term, participants, countRows }: Found): Promise<RawBuilder<unknown>> {
  const ofItem = sql`p.kind = ${kind} and p.item_id = ${id}`
  const hasId = /^\d{1,16}$/.test(search) ? sql`p.user_id = ${search}::bigint` : sql`false`
  const scanned = sql`select p.* from participations p where ${ofItem} and (${term.matches} or ${hasId})`
  const candidates = sql`select user_id from telegram_users where ${term.inIndex} limit ${sql.lit(MAX_CANDIDATES + 1)}`
  const usesIndex = participants > SCANNED_MAX && (await countRows(candidates)) <= MAX_CANDIDATES
  const byNameOfPlayer = sql`select p.* from (${candidates} offset 0) as candidate join participations p using (user_id) where ${ofItem} and ${term.matches}`
  return usesIndex ? sql`${byNameOfPlayer} union select p.* from participations p where ${ofItem} and ${hasId}` : scanned
}

const COUNT = counterSql({ of: 'participants', kind: '$1::text', itemId: '$2::text' })

/** Returns SQL that finds the task or announcement of a history item. */
function existingSql(kind: HistoryKind): string {
  const { entity, where } = itemSources[kind]
  return `select from ${entity.table} where ${where} and id = item_id`
}

const ITEM = `select ${selectList(historyItemEntity, { derived: { participants: COUNT } })} from history_items where kind = $1 and item_id = $2`

/** Selects a participant. Nobody is told of fields from before that they may not see. */
function participantSql(sees: boolean): string {
  const hasFromBefore = sees ? 'from_before is not null' : 'false'
  return `${selectList(participantEntity, { derived: {}, masks: masksFor(sees) })}, ${hasFromBefore} as "hasFromBefore"`
}

function masksFor(sees: boolean): Masks {
  return sees ? {} : personalMasks(participantFields)
}

const OF_ITEM = 'from participations where kind = $1 and item_id = $2'
const CURSOR_TIME = momentSql('$3')
const PERIOD = idOrderSql('period')

/** Returns the SQL of one page. Two exact ranges read fewer index rows than an OR where many participants have the same time. */
function pageSql(ranges: string[], order: string, sees: boolean): string {
  const limit = HISTORY_PAGE_SIZE + 1
  const parts = ranges.map((range) => `(select ${participantSql(sees)}, at, period ${OF_ITEM} ${range} limit ${limit})`)
  const names = [...Object.keys(participantFields), 'hasFromBefore'].map((name) => `"${name}"`)
  return `select ${names.join(', ')}, period, ${microsecondsSql('at')} as key, ${COUNT} as total from (${parts.join(' union all ')}) as page order by ${order} limit ${limit}`
}

function withoutKeys({ at: _at, period: _period, key: _key, total: _total, ...participant }: PageRow): ListedParticipant {
  return participant
}

/** The item's own values in a sheet. */
type Details = { [Name in SheetName<typeof historyItemFields>]?: string | number | null | undefined }

/** Repeats the item's details beside each participant, so that the table can be filtered, sorted and joined with others. */
function columnsFor(item: Details): Column[] {
  const values = sheetValues(historyItemFields, item)
  const details = sheetColumns(historyItemFields, { flags: {} }).map((column, index) => ({
    ...column,
    field: { always: textOf(values[index]) },
  }))
  return [...sheetColumns(participantFields, { flags: {} }), ...details]
}

/** The only row of an item without participants: just the item's details have values. */
const DETAILS_ONLY: SheetRow = {}

/**
 * POST /download-history: all participants of `kind` and `id` from the database, or those that a search finds, or the participants in the
 * request.
 */
export function historyDownload({
  database,
  downloads,
}: {
  database: Database
  downloads: Downloads
}): Handlers<typeof contract.downloads>['history'] {
  return ({ data, exportId, format }, context) => {
    const { kind, id, search = '' } = data
    refuseWithout('history.read', signedIn(context))
    const isNamed = kind !== undefined && id !== undefined
    if (!isNamed && (kind ?? id) !== undefined)
      throw new Failure('INVALID_INPUT', { message: 'Give both kind and id, or neither.' })
    return downloads.start({
      context,
      exportId,
      format,
      target: isNamed ? `history:${kind}:${id}` : 'history:posted',
      ...(isNamed && search !== '' && { detail: { filter: { search } } }),
      fileName: defaultFileNames.history,
      sheetName: 'Participants',
      open: (snapshot) =>
        isNamed ? openItem(snapshot, { kind, id, search, sees: seesPersonal(context) }, database) : openPosted(data),
    })
  }
}

async function openItem(
  snapshot: Snapshot,
  { kind, id, search, sees }: Pick<Search, 'kind' | 'id' | 'search' | 'sees'>,
  { db }: Database,
): Promise<Table> {
  const [item] = await snapshot.query<HistoryItem>(ITEM, [kind, id])
  if (!item) throw new Failure('NO_SUCH_HISTORY')
  const columns = columnsFor(item)
  if (item.participants === 0) return { columns, total: 0, rows: posted([DETAILS_ONLY]) }
  const only = sheetNames(participantFields)
  const fields = selectList(participantEntity, { derived: {}, only, moments: 'milliseconds', masks: masksFor(sees) })
  const term = searchTerm(search, NAMES)
  if (term) {
    const countRows = async (query: RawBuilder<unknown>): Promise<number> => {
      const counting = countSql(query).compile(db)
      const [counted] = await snapshot.query<{ total: number }>(counting.sql, [...counting.parameters])
      return counted?.total ?? 0
    }
    const hits = await participantsFound({ kind, id, search, term, participants: item.participants, countRows })
    const found = sql`select ${sql.raw(fields)} from (${hits}) as hits order by at desc, user_id, ${sql.raw(PERIOD)}`.compile(db)
    const rows = { sql: found.sql, parameters: [...found.parameters] }
    return { columns, total: await countRows(hits), rows, fileName: datedFileName('history', item.title, 'filtered') }
  }
  const query = `select ${fields} ${OF_ITEM} order by at desc, user_id, ${PERIOD}`
  return { columns, total: item.participants, rows: { sql: query, parameters: [kind, id] } }
}

async function openPosted(data: HistoryDownloadInput['data']): Promise<Table> {
  const rows: SheetRow[] = data.users.length > 0 ? data.users : [DETAILS_ONLY]
  return { columns: columnsFor(data), total: data.users.length, rows: posted(rows) }
}

function posted(rows: SheetRow[]): Buffer {
  return copyText(rows.map((row) => sheetValues(participantFields, row)))
}
