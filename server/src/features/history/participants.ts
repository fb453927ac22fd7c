/** The participants of a history item, as SQL: in pages by cursors, and those that a search finds. */
import { type RawBuilder, sql } from 'kysely'
import type { ListedParticipant } from '@arcade/contract/history/calls'
import { HISTORY_PAGE_SIZE, type HistoryKind, participantFields } from '@arcade/contract/history/fields'
import { counterSql } from '#src/counters/counters.ts'
import { idOrderSql } from '#src/db/collations.ts'
import type { Database } from '#src/db/database.ts'
import { historyItemEntity, type Masks, participantEntity, selectList } from '#src/db/entities.ts'
import { foldedSql } from '#src/db/folded-text.ts'
import { microsecondsSql, momentParameter, momentSql } from '#src/db/moments.ts'
import type { Direction } from '#src/lists/cursors.ts'
import { personalMasks } from '#src/lists/personal.ts'
import { type SearchTerm, searchTerm } from '#src/lists/search.ts'

/** The number of participants of the item. */
const COUNT = counterSql({ of: 'participants', kind: '$1::text', itemId: '$2::text' })

/** Selects the history item with the kind $1 and the id $2. */
export const ITEM = `select ${selectList(historyItemEntity, { derived: { participants: COUNT } })} from history_items where kind = $1 and item_id = $2`

export const OF_ITEM = 'from participations where kind = $1 and item_id = $2'
const CURSOR_TIME = momentSql('$3')
export const PERIOD = idOrderSql('period')

/** A participant, with the values that the page's cursors need. */
export interface PageRow extends ListedParticipant {
  at?: unknown
  period: string
  /** `at` in microseconds, the precision of the database. */
  key: string
  /** The number of participants on all pages together. */
  total: number
}

/** Prepares the pages of an item's participants, with or without what the players typed. */
export function preparePages(reads: Database['reads'], sees: boolean) {
  const prepare = (startName: string, ranges: string[], order: string) =>
    reads.prepared<PageRow>(`history-${startName}${sees ? '' : '*'}`, pageSql(ranges, order, sees))
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

/** Returns the SQL of one page. Two exact ranges read fewer index rows than an OR where many participants have the same time. */
function pageSql(ranges: string[], order: string, sees: boolean): string {
  const limit = HISTORY_PAGE_SIZE + 1
  const parts = ranges.map((range) => `(select ${participantSql(sees)}, at, period ${OF_ITEM} ${range} limit ${limit})`)
  const names = [...Object.keys(participantFields), 'hasFromBefore'].map((name) => `"${name}"`)
  return `select ${names.join(', ')}, period, ${microsecondsSql('at')} as key, ${COUNT} as total from (${parts.join(' union all ')}) as page order by ${order} limit ${limit}`
}

/** Selects a participant. Fields from before are left out for people who may not see them. */
function participantSql(sees: boolean): string {
  const hasFromBefore = sees ? 'from_before is not null' : 'false'
  return `${selectList(participantEntity, { derived: {}, masks: masksFor(sees) })}, ${hasFromBefore} as "hasFromBefore"`
}

export function masksFor(sees: boolean): Masks {
  return sees ? {} : personalMasks(participantFields)
}

/** A search scans lists of up to this many participants. In longer lists the index of players finds candidates first. */
const MAX_SCANNED = 20_000
/** A name that more players share is too common for the index of players: the whole list is scanned instead. */
const MAX_CANDIDATES = 5_000

const NAMES = sql.raw<string>(
  foldedSql(`(' ' || coalesce(p.username, '') || ' ' || coalesce(p.first_name, '') || ' ' || coalesce(p.last_name, ''))`),
)

/** Returns the term that finds participants by their names, or undefined for an empty text. */
export function participantTerm(search: string): SearchTerm | undefined {
  return searchTerm(search, NAMES)
}

export interface Search {
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
export async function searchParticipants(
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
  const rowKey = sql`(${key[1] ?? 0}::bigint, ${key[2] ?? ''}::text)`
  const afterCursor =
    direction === undefined
      ? sql`true`
      : direction === 'after'
        ? sql`(at < ${cursorTime} or (at = ${cursorTime} and (user_id, ${period}) > ${rowKey}))`
        : sql`(at > ${cursorTime} or (at = ${cursorTime} and (user_id, ${period}) < ${rowKey}))`
  const order = sql.raw(direction === 'before' ? `at, id desc, ${PERIOD} desc` : `at desc, id, ${PERIOD}`)
  const rows = await reads.rows(sql<PageRow>`
    with hits as materialized (${hits})
    select counted.total, page.* from (select count(*) as total from hits) as counted left join (
      select ${sql.raw(participantSql(sees))}, at, period, ${sql.raw(microsecondsSql('at'))} as key from hits where ${afterCursor} order by ${order} limit ${sql.lit(HISTORY_PAGE_SIZE + 1)}
    ) as page on true order by ${order}`)
  return { read: rows.filter((row) => (row.id as number | null) !== null), total: rows[0]?.total ?? 0 }
}

export function countSql(query: RawBuilder<unknown>): RawBuilder<{ total: number }> {
  return sql`select count(*) as total from (${query}) as counted`
}

interface Found extends Pick<Search, 'kind' | 'id' | 'search' | 'term'> {
  /** The number of participants of the item. */
  participants: number
  countRows: (query: RawBuilder<unknown>) => Promise<number>
}

/** Returns the query for an item's participants whose names or id a search finds. */
export async function participantsFound({
  kind,
  id,
  search,
  term,
  participants,
  countRows,
}: Found): Promise<RawBuilder<unknown>> {
  const ofItem = sql`p.kind = ${kind} and p.item_id = ${id}`
  const hasId = /^\d{1,16}$/.test(search) ? sql`p.user_id = ${search}::bigint` : sql`false`
  const scanned = sql`select p.* from participations p where ${ofItem} and (${term.matches} or ${hasId})`
  const candidates = sql`select user_id from telegram_users where ${term.inIndex} limit ${sql.lit(MAX_CANDIDATES + 1)}`
  const usesIndex = participants > MAX_SCANNED && (await countRows(candidates)) <= MAX_CANDIDATES
  const byNameOfPlayer = sql`select p.* from (${candidates} offset 0) as candidate join participations p using (user_id) where ${ofItem} and ${term.matches}`
  return usesIndex ? sql`${byNameOfPlayer} union select p.* from participations p where ${ofItem} and ${hasId}` : scanned
}
