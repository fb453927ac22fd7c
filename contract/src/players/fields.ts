/** Players, the messaging-app users (§3 telegramUsers: 15 fields), and the list of them (§2 Telegram Users). */
import { defineList, type Fields, type FilterOf, type RowOf, type SortName } from '#src/entity.ts'
import { isBlank } from '#src/text.ts'

/** A player's fields (§3), in the order of the list's columns. The page shows a missing value as `undefined`. */
export const playerFields = {
  firstName: { label: 'First Name', kind: 'text', isOptional: true, sheetWidth: 20 },
  lastName: { label: 'Last Name', kind: 'text', isOptional: true, sheetWidth: 20 },
  username: { label: 'Username', kind: 'text', isOptional: true, sheetWidth: 20 },
  balance: { label: 'Balance', kind: 'number', sheetWidth: 14 },
  userId: { label: 'User ID', kind: 'integer', sheetWidth: 14 },
  createdAt: { label: 'Created At', kind: 'moment', isOptional: true, sheetWidth: 24 },
  email: { label: 'Email', kind: 'text', isOptional: true, isPersonal: true, sheetWidth: 32 },
  phoneNumber: { label: 'Phone Number', kind: 'text', isOptional: true, isPersonal: true, sheetWidth: 18 },
  twitterUsername: { label: 'Twitter Username', kind: 'text', isOptional: true, isPersonal: true, sheetWidth: 20 },
  instagramUsername: { label: 'Instagram Username', kind: 'text', isOptional: true, isPersonal: true, sheetWidth: 20 },
  linkedInUsername: { label: 'LinkedIn Username', kind: 'text', isOptional: true, isPersonal: true, sheetWidth: 20 },
  discordUsername: { label: 'Discord Username', kind: 'text', isOptional: true, isPersonal: true, sheetWidth: 20 },
  youtubeUsername: { label: 'Youtube Username', kind: 'text', isOptional: true, isPersonal: true, sheetWidth: 20 },
  tonWalletAddress: { label: 'TON Wallet Address', kind: 'text', isOptional: true, isPersonal: true, sheetWidth: 50 },
  bscWallet: { label: 'BSC Wallet', kind: 'text', isOptional: true, isPersonal: true, sheetWidth: 46 },
} as const satisfies Fields
export type Player = RowOf<typeof playerFields>

const wallets = ['tonWalletAddress', 'bscWallet'] as const

export const playerList = defineList({
  name: 'telegramUsers',
  noun: { one: 'player', many: 'players' },
  emptyText: 'No Telegram users yet.',
  fileName: 'TelegramUserdata.xlsx', // §7
  fields: playerFields,
  /** Bounds are inclusive, except `joinedBefore`. */
  filters: {
    balanceMin: { label: 'Balance from', kind: 'min', field: 'balance' },
    balanceMax: { label: 'Balance to', kind: 'max', field: 'balance' },
    joinedFrom: { label: 'Joined from', kind: 'from', field: 'createdAt' },
    joinedBefore: { label: 'Joined until', kind: 'before', field: 'createdAt', dayName: 'joinedUntil' },
    wallet: {
      label: 'Wallet',
      kind: 'choice',
      options: { any: 'Has a wallet', ton: 'Has a TON wallet', bsc: 'Has a BSC wallet', none: 'Has none' },
      optionFields: { any: wallets, ton: ['tonWalletAddress'], bsc: ['bscWallet'], none: wallets },
    },
    status: {
      label: 'Status',
      kind: 'choice',
      options: { blocked: 'Blocked', unblocked: 'Not blocked', erased: 'Erased' },
    },
    tookPart: { label: 'Took part in', kind: 'item' },
    notTookPart: { label: 'Did not take part in', kind: 'item' },
    seenDays: { label: 'Seen within days', kind: 'days' },
    joinedDays: { label: 'Joined within days', kind: 'days', field: 'createdAt' },
    /** Whether the bot can send the player messages, as far as it is known. */
    reach: {
      label: 'Messages',
      kind: 'choice',
      options: { reachable: 'Can be reached', unreachable: 'Has blocked the bot', optedOut: 'Wants none' },
    },
    has: {
      label: 'Has',
      kind: 'all',
      options: {
        username: 'Username',
        email: 'Email',
        phone: 'Phone number',
        wallet: 'Wallet',
        ton: 'TON wallet',
        bsc: 'BSC wallet',
        twitter: 'Twitter',
        instagram: 'Instagram',
        linkedIn: 'LinkedIn',
        discord: 'Discord',
        youtube: 'Youtube',
      },
      optionFields: {
        username: ['username'],
        email: ['email'],
        phone: ['phoneNumber'],
        wallet: wallets,
        ton: ['tonWalletAddress'],
        bsc: ['bscWallet'],
        twitter: ['twitterUsername'],
        instagram: ['instagramUsername'],
        linkedIn: ['linkedInUsername'],
        discord: ['discordUsername'],
        youtube: ['youtubeUsername'],
      },
    },
    any: { label: 'Any of', kind: 'groups' },
  },
  /** §9 defines the first two. All orders have an index. */
  sorts: {
    balance: { label: 'Balance', field: 'balance', isDescending: true },
    'a-z': { label: 'A-Z', field: 'firstName' },
    newest: { label: 'Newest', field: 'createdAt', isDescending: true },
    'user-id': { label: 'User ID', field: 'userId' },
    username: { label: 'Username', field: 'username' },
  },
  defaultSort: 'balance',
  pageSizes: [5, 25, 50, 100], // §9, design §7
  isPagedByCursor: true,
  isOfPeople: true,
})

/** Blocking more players than this at once asks for their number. */
export const BLOCK_TYPED_ABOVE = 100

/** Returns a player's display name: the name, otherwise `@username`, otherwise the id. A name without visible characters counts as missing. */
export function playerName({ firstName, lastName, username, userId }: Named): string {
  const name = [firstName, lastName].filter((part) => !isBlank(part)).join(' ')
  return name || (isBlank(username) ? String(userId) : `@${username}`)
}
type Named = Pick<Player, 'firstName' | 'lastName' | 'username' | 'userId'>

/** Whether the player was erased: the id is then negative, which Telegram never assigns. */
export function isErased({ userId }: Pick<Player, 'userId'>): boolean {
  return userId < 0
}

export type PlayersFilter = FilterOf<typeof playerList>
export type PlayersSort = SortName<typeof playerList>
export const playersSorts = Object.keys(playerList.sorts) as PlayersSort[]
export const playersPageSizes = playerList.pageSizes
