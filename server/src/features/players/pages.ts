/**
 * Reading the list of players from any place in any order, filtered or not (design §9). Hides how a page is found among a million rows
 * whatever share of them the filter matches, and without believing the planner's guess of that share.
 */
import { type RawBuilder, sql } from 'kysely'
import { type Player, playersPageSizes } from '@arcade/contract/entities/player'
import { counterSql } from '#src/db/counters.ts'
import type { Database } from '#src/db/database.ts'
import type { Filter } from './filter.ts'
import { everyStart, orders, type Reading } from './orders.ts'

export interface PlayerRow extends Omit<Player, 'createdAt'> {
  /** Milliseconds since 1970: a million timestamps as text take a second to parse. */
  createdAt: number | null
}

export interface PageRow extends PlayerRow {
  /** The row's key as the order's cursors have it. */
  key: string | null
}

export interface Read {
  /** Nearest first, up to `limit` of them. */
  rows: PageRow[]
  /** Of all rows the filter matches, where reading came by it. */
  total?: number | undefined
}

export interface Pages {
  read(filter: Filter, reading: Reading, limit: number): Promise<Read>
}

export const PLAYER_COUNT = counterSql({ of: 'players' })

export const FIELDS = `user_id as "userId", (extract(epoch from created_at) * 1000)::float8 as "createdAt", balance, username,
  first_name as "firstName", last_name as "lastName", twitter_username as "twitterUsername", email, phone_number as "phoneNumber",
  instagram_username as "instagramUsername", linked_in_username as "linkedInUsername", discord_username as "discordUsername",
  youtube_username as "youtubeUsername", ton_wallet_address as "tonWalletAddress", bsc_wallet as "bscWallet"`

/** Rows of the order that are looked at before an index gives all that match; more of them if one of those matched for six wanted. */
const lookedAtFirst = (limit: number): number => Math.max(200, 30 * limit)
const lookedAtAgain = (limit: number): number => 20 * lookedAtFirst(limit)
/** That many are sorted in some ten milliseconds. A filter that matches more matches a row in a hundred of a million. */
export const MAX_HITS = 10_000
/** An index for each of them is less than a walk over a million rows. */
const MANY_HITS = 200_000
/** Looked at where a filter matches many rows but few near the place: those of another part of the order. */
const LOOKED_AT_FAR = 20_000

export function createPages(database: Database): Pages {
  const plain = preparePages(database)
  return {
    async read(filter, reading, limit) {
      const near = (lookedAt: number) => matchesNear(database, filter, { reading, limit, lookedAt })
      if (filter.isEmpty) {
        const prepared = plain.get(statementName(reading, limit))
        if (!prepared) return { rows: await near(limit) }
        const rows = await prepared(reading.parameters)
        return { rows, total: rows[0]?.total }
      }
      let rows = await near(lookedAtFirst(limit))
      if (rows.length < limit && rows.length * 6 >= limit) rows = await near(lookedAtAgain(limit))
      if (rows.length === limit) return { rows }
      const hits = await among(database, filter, { reading, limit, maxHits: MAX_HITS })
      if (hits.total <= MAX_HITS) return hits
      if (await isEnd(database, filter, { reading, lookedAt: lookedAtFirst(limit) })) return { rows }
      const further = await near(LOOKED_AT_FAR)
      if (further.length === limit) return { rows: further }
      const many = await among(database, filter, { reading, limit, maxHits: MANY_HITS })
      return many.total <= MANY_HITS ? many : among(database, filter, { reading, limit, maxHits: undefined })
    },
  }
}

/** A statement a sort, start and page size, each a few steps down an index: literal limits let the planner know that. */
function preparePages(database: Database): Map<string, (parameters: unknown[]) => Promise<(PageRow & { total: number })[]>> {
  const pages = new Map<string, (parameters: unknown[]) => Promise<(PageRow & { total: number })[]>>()
  for (const { sort, start, ranges } of everyStart) {
    for (const pageSize of playersPageSizes) {
      const limit = pageSize + 1
      const name = statementName({ sort, start }, limit)
      const parts = ranges.wheres.map(
        ({ where, orderBy }) =>
          `(select ${FIELDS}, ${orders[sort].keyText} as key from telegram_users where ${where} order by ${orderBy} limit ${limit})`,
      )
      const page = `(${parts.join(' union all ')}) as page order by ${ranges.outerOrderBy} limit ${limit}`
      pages.set(name, database.prepared(name, `select *, ${PLAYER_COUNT} as total from ${page}`))
    }
  }
  return pages
}

function statementName({ sort, start }: Pick<Reading, 'sort' | 'start'>, limit: number): string {
  return `telegram-users-${sort}-${start}-${limit - 1}`
}

interface Question {
  reading: Reading
  limit: number
}

/** So many rows that are next in the order. */
interface Stretch {
  reading: Reading
  lookedAt: number
}

/** Those of the stretch that match. */
async function matchesNear(
  { db }: Database,
  filter: Filter,
  { reading, limit, lookedAt }: Question & Stretch,
): Promise<PageRow[]> {
  const { keyText, starts } = orders[reading.sort]
  const { rows } = await sql<PageRow>`
    select * from (
      select ${sql.raw(FIELDS)}, ${sql.raw(keyText)} as key from ${rowsOf(filter, { reading, lookedAt }, '*')} as looked
        where ${filter.isMatch} limit ${sql.lit(limit)}
    ) as page order by ${sql.raw(starts[reading.start]!.outerOrderBy)}`.execute(db)
  return rows
}

/** Whether the order ends in the stretch. */
async function isEnd({ db }: Database, filter: Filter, { reading, lookedAt }: Stretch): Promise<boolean> {
  const { rows } = await sql`
    select from ${rowsOf(filter, { reading, lookedAt }, 'user_id')} as looked offset ${sql.lit(lookedAt - 1)}`.execute(db)
  return rows.length === 0
}

function rowsOf({ boundsOf }: Filter, { reading, lookedAt }: Stretch, columns: string): RawBuilder<unknown> {
  const { sort, start, parameters } = reading
  const parts = orders[sort].starts[start]!.wheres.map(
    ({
      where,
      orderBy,
    }) => sql`(select ${sql.raw(columns)} from telegram_users where ${bind(where, parameters)} and ${boundsOf(sort)}
      order by ${sql.raw(orderBy)} limit ${sql.lit(lookedAt)})`,
  )
  return sql`(select * from (${sql.join(parts, sql` union all `)}) as ranges limit ${sql.lit(lookedAt)})`
}

/** All that match, up to one more than `maxHits`, and of them the page; in any order if they are too many. */
async function among(
  { db }: Database,
  { found, isMatch }: Filter,
  { reading, limit, maxHits }: Question & { maxHits: number | undefined },
): Promise<{ rows: PageRow[]; total: number }> {
  const { sort, start, parameters } = reading
  const { source, keyText, starts } = orders[sort]
  const ranges = starts[start]!
  const most = maxHits === undefined ? sql`` : sql`limit ${sql.lit(maxHits + 1)}`
  // Without a limit most rows match: one walk over all of them is less than an index for each.
  const parts = (maxHits === undefined ? [isMatch] : found).map(
    (condition) => sql`(select user_id${sql.raw(source ? `, ${source}` : '')} from telegram_users where ${condition} ${most})`,
  )
  const isNext = ranges.wheres.map(({ where }) => bind(where, parameters))
  const { rows } = await sql<PageRow & { total: number }>`
    with hits as materialized (select * from (${sql.join(parts, sql` union all `)}) as parts ${most}),
    next as (
      select user_id as id from hits where (${sql.join(isNext, sql`) or (`)})
       order by ${sql.raw(ranges.wheres.at(-1)!.orderBy)} limit ${sql.lit(limit)})
    select counted.total, page.* from (select count(*) as total from hits) as counted left join (
      select ${sql.raw(FIELDS)}, ${sql.raw(keyText)} as key from next join telegram_users on user_id = id
    ) as page on true order by ${sql.raw(ranges.outerOrderBy)}`.execute(db)
  return { rows: present(rows), total: rows[0]?.total ?? 0 }
}

function present<Row extends PageRow>(rows: Row[]): Row[] {
  // Without a page there is one row of nothing but what is beside it.
  return rows.filter(({ userId }) => (userId as number | null) !== null)
}

/** SQL with $1 and $2 for these parameters. */
function bind(text: string, parameters: (string | number)[]): RawBuilder<unknown> {
  const parts = text
    .split(/\$(\d)/)
    .map((part, index) => (index % 2 === 0 ? sql.raw(part) : sql`${parameters[Number(part) - 1]}`))
  return sql.join(parts, sql``)
}
