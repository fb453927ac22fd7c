/** Players as spreadsheets (§7): all of them, picked ones, or those a filter matches; the highest balance first. */
import { sql } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { defaultFileNames } from '@arcade/contract/download'
import type { PlayersFilter } from '@arcade/contract/entities/player'
import type { Target } from '#src/lists/bulk.ts'
import type { CallContext, Handlers } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { DownloadAnswer, Downloads } from '#src/sheets/download.ts'
import type { Column } from '#src/sheets/spreadsheet.ts'
import { filterOf } from './filter.ts'
import { FIELDS, PLAYER_COUNT, type PlayerRow } from './pages.ts'

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

const sheet = { fileName: defaultFileNames.players, sheetName: 'Telegram Users' }
const ORDER = 'balance desc, user_id'

/** GET /downloadTelegramUsersData: all players, the highest balance first. */
export function playersDownload({ downloads }: { downloads: Downloads }): Handlers<typeof contract.downloads>['players'] {
  return ({ exportId }, context) =>
    downloads.start<PlayerRow>({
      ...sheet,
      context,
      exportId,
      target: 'telegramUsers',
      async open(snapshot) {
        const [counted] = await snapshot.query<{ total: number }>(`select ${PLAYER_COUNT} as total`)
        return { columns, total: counted?.total ?? 0, rows: { sql: `select ${FIELDS} from telegram_users order by ${ORDER}` } }
      },
    })
}

/** POST /api/exports: picked players, or those of a filter. */
export function playersSelection({ database, downloads }: { database: Database; downloads: Downloads }) {
  return (
    { target, exportId }: { target: Target<PlayersFilter>; exportId?: string | undefined },
    context: CallContext,
  ): Promise<DownloadAnswer> => {
    const isSelected =
      'ids' in target
        ? sql`user_id = any(${target.ids.map(Number).filter(Number.isSafeInteger)}::bigint[])`
        : filterOf(target.filter).isMatch
    return downloads.selection<PlayerRow>({
      ...sheet,
      context,
      exportId,
      target: 'telegramUsers',
      selection: target,
      columns,
      from: sql`telegram_users where ${isSelected}`.compile(database.db),
      fields: FIELDS,
      orderBy: ORDER,
    })
  }
}
