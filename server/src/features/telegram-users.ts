/** Telegram Users (§2, §3, §7, §9): pages by balance or by first name at the same speed anywhere in the list, and all as a spreadsheet. */
import type { contract } from '@arcade/contract/contract'
import { defaultFileNames } from '@arcade/contract/download'
import {
  type TelegramUser,
  telegramUsersPageSizes,
  type TelegramUsersSort,
  telegramUsersSorts,
} from '@arcade/contract/telegram-users'
import type { Handlers } from '#src/calls.ts'
import { isDecimal, isId, isTextOrNull, keysetPage, readCursor, writeCursor } from '#src/cursors.ts'
import { counterSql } from '#src/db/counters.ts'
import type { Database } from '#src/db/database.ts'
import type { Downloads } from '#src/download.ts'
import type { Column } from '#src/spreadsheet.ts'

interface PlayerRow extends Omit<TelegramUser, 'createdAt'> {
  /** Milliseconds since 1970: a million timestamps as text take a second to parse. */
  createdAt: number | null
}

interface PageRow extends PlayerRow {
  /** The balance or the first name as the database compares it. */
  key: string | null
  total: number
}

/** Where a page starts: at an end of the list, beside a row, or beside a row without a first name (those come last). */
type Start = 'first' | 'after' | 'before' | 'afterMissing' | 'beforeMissing'

export function telegramUsersHandlers({ database }: { database: Database }): Handlers<typeof contract.telegramUsers> {
  const pages = preparePages(database)
  const count = database.prepared<{ total: number }>('telegram-users-total', `select ${COUNT} as total`)

  return {
    async list({ sort, pageSize, after, before }) {
      const cursor = after ?? before
      const direction = after !== undefined ? 'after' : before !== undefined ? 'before' : undefined
      const [key, userId] = cursor === undefined ? [] : readCursor<[string | null, number]>(cursor, sort, [keyTests[sort], isId])
      const start = direction === undefined ? 'first' : key === null ? (`${direction}Missing` as const) : direction
      const parameters = direction === undefined ? [] : key === null ? [userId] : [key, userId]
      const read = await pages.get(`${sort} ${start} ${pageSize}`)!(parameters)
      const total = read[0]?.total ?? (await count([]))[0]?.total ?? 0
      const cursorOf = (row: PageRow): string => writeCursor([sort, row.key, row.userId])
      const page = keysetPage(read, { size: pageSize, direction, cursorOf })
      return {
        users: page.rows.map(toWire),
        pageSize,
        pageCount: Math.max(1, Math.ceil(total / pageSize)),
        total,
        after: page.after,
        before: page.before,
      }
    },
  }
}

const COUNT = counterSql(`'telegramUsers'`)

const FIELDS = `user_id as "userId", (extract(epoch from created_at) * 1000)::float8 as "createdAt", balance, username,
  first_name as "firstName", last_name as "lastName", twitter_username as "twitterUsername", email, phone_number as "phoneNumber",
  instagram_username as "instagramUsername", linked_in_username as "linkedInUsername", discord_username as "discordUsername",
  youtube_username as "youtubeUsername", ton_wallet_address as "tonWalletAddress", bsc_wallet as "bscWallet"`

const keyTests = {
  balance: isDecimal as (part: unknown) => part is string | null,
  'a-z': isTextOrNull,
} satisfies Record<TelegramUsersSort, unknown>

/**
 * A statement a sort, start and page size, each a few steps down an index: literal limits let the planner know that, and two exact
 * ranges instead of an OR keep it true among a million equal balances.
 */
function preparePages(database: Database): Map<string, (parameters: unknown[]) => Promise<PageRow[]>> {
  const pages = new Map<string, (parameters: unknown[]) => Promise<PageRow[]>>()
  for (const sort of telegramUsersSorts) {
    for (const [start, { ranges, order }] of Object.entries(startsOf[sort])) {
      for (const pageSize of telegramUsersPageSizes) {
        const [limit, key] = [pageSize + 1, sort === 'balance' ? 'balance::text' : 'lower(first_name)']
        const parts = ranges.map((range) => `(select ${FIELDS}, ${key} as key from telegram_users ${range} limit ${limit})`)
        const text = `select *, ${COUNT} as total from (${parts.join(' union all ')}) as page order by ${order} limit ${limit}`
        pages.set(`${sort} ${start} ${pageSize}`, database.prepared<PageRow>(`telegram-users-${sort}-${start}-${pageSize}`, text))
      }
    }
  }
  return pages
}

/** `ranges` are disjoint, nearest first; `order` is that of the whole, in the direction of reading. */
const startsOf: Record<TelegramUsersSort, Partial<Record<Start, { ranges: string[]; order: string }>>> = {
  balance: {
    first: { ranges: ['order by balance desc, user_id'], order: 'balance desc, "userId"' },
    after: {
      ranges: [
        'where balance = $1::numeric and user_id > $2 order by user_id',
        'where balance < $1::numeric order by balance desc, user_id',
      ],
      order: 'balance desc, "userId"',
    },
    before: {
      ranges: [
        'where balance = $1::numeric and user_id < $2 order by user_id desc',
        'where balance > $1::numeric order by balance, user_id desc',
      ],
      order: 'balance, "userId" desc',
    },
  },
  // A missing first name sorts last, as it does in the index. To order them by all its columns is what makes the planner take it.
  'a-z': {
    first: { ranges: ['order by lower(first_name), user_id'], order: 'key, "userId"' },
    after: {
      ranges: [
        'where (lower(first_name), user_id) > ($1::text, $2::bigint) order by lower(first_name), user_id',
        'where lower(first_name) is null order by lower(first_name), user_id',
      ],
      order: 'key, "userId"',
    },
    afterMissing: {
      ranges: ['where lower(first_name) is null and user_id > $1 order by lower(first_name), user_id'],
      order: '"userId"',
    },
    before: {
      ranges: ['where (lower(first_name), user_id) < ($1::text, $2::bigint) order by lower(first_name) desc, user_id desc'],
      order: 'key desc, "userId" desc',
    },
    beforeMissing: {
      ranges: [
        'where lower(first_name) is null and user_id < $1 order by lower(first_name) desc, user_id desc',
        'where lower(first_name) is not null order by lower(first_name) desc, user_id desc',
      ],
      order: 'key desc, "userId" desc',
    },
  },
}

function toWire(row: PageRow): TelegramUser {
  return {
    userId: row.userId,
    createdAt: row.createdAt === null ? null : new Date(row.createdAt).toISOString(),
    firstName: row.firstName,
    lastName: row.lastName,
    username: row.username,
    twitterUsername: row.twitterUsername,
    instagramUsername: row.instagramUsername,
    linkedInUsername: row.linkedInUsername,
    discordUsername: row.discordUsername,
    youtubeUsername: row.youtubeUsername,
    email: row.email,
    phoneNumber: row.phoneNumber,
    tonWalletAddress: row.tonWalletAddress,
    bscWallet: row.bscWallet,
    balance: row.balance,
  }
}

const columns: Column<PlayerRow>[] = [
  { header: 'User ID', width: 14, kind: 'number', value: (player) => player.userId },
  { header: 'Created At', width: 20, kind: 'date', value: ({ createdAt }) => (createdAt === null ? null : new Date(createdAt)) },
  { header: 'First Name', width: 20, kind: 'text', value: (player) => player.firstName },
  { header: 'Last Name', width: 20, kind: 'text', value: (player) => player.lastName },
  { header: 'Username', width: 20, kind: 'text', value: (player) => player.username },
  { header: 'Twitter Username', width: 20, kind: 'text', value: (player) => player.twitterUsername },
  { header: 'Instagram Username', width: 20, kind: 'text', value: (player) => player.instagramUsername },
  { header: 'LinkedIn Username', width: 20, kind: 'text', value: (player) => player.linkedInUsername },
  { header: 'Discord Username', width: 20, kind: 'text', value: (player) => player.discordUsername },
  { header: 'Youtube Username', width: 20, kind: 'text', value: (player) => player.youtubeUsername },
  { header: 'Email', width: 32, kind: 'text', value: (player) => player.email },
  { header: 'Phone Number', width: 18, kind: 'text', value: (player) => player.phoneNumber },
  { header: 'TON Wallet Address', width: 50, kind: 'text', value: (player) => player.tonWalletAddress },
  { header: 'BSC Wallet', width: 46, kind: 'text', value: (player) => player.bscWallet },
  { header: 'Balance', width: 14, kind: 'number', value: (player) => player.balance },
]

/** GET /downloadTelegramUsersData: all players, the highest balance first. */
export function telegramUsersDownload({
  downloads,
}: {
  downloads: Downloads
}): Handlers<typeof contract.downloads>['telegramUsers'] {
  return ({ exportId }, context) =>
    downloads.start<PlayerRow>({
      context,
      exportId,
      target: 'telegramUsers',
      fileName: defaultFileNames.telegramUsers,
      sheetName: 'Telegram Users',
      async open(snapshot) {
        const [counted] = await snapshot.query<{ total: number }>(`select ${COUNT} as total`)
        const sql = `select ${FIELDS} from telegram_users order by balance desc, user_id`
        return { columns, total: counted?.total ?? 0, rows: { sql } }
      },
    })
}
