/** Telegram Users as a list (§2, §7, §9): by balance unless sorted otherwise, searched and filtered, paged by cursors. */
import { sql } from 'kysely'
import { playerList } from '@arcade/contract/players/fields'
import { foldsToNothing } from '@arcade/contract/search'
import { counterSql } from '#src/counters/counters.ts'
import { lower } from '#src/db/collations.ts'
import { playerEntity } from '#src/db/entities.ts'
import { foldedSql } from '#src/db/folded-text.ts'
import { type Condition, type SearchCondition, serveList } from '#src/lists/list.ts'
import { type SearchTerm, searchTerm, startsWithInIndex } from '#src/lists/search.ts'
import { disjoint } from '#src/lists/where.ts'

import { hasAll, reaches, seenWithin, tookPart } from './conditions.ts'

const wallets = {
  any: sql<boolean>`(ton_wallet_address is not null or bsc_wallet is not null)`,
  ton: sql<boolean>`ton_wallet_address is not null`,
  bsc: sql<boolean>`bsc_wallet is not null`,
  none: sql<boolean>`(ton_wallet_address is null and bsc_wallet is null)`,
} satisfies Record<keyof typeof playerList.filters.wallet.options, Condition>

const statuses = {
  blocked: sql<boolean>`blocked_at is not null`,
  unblocked: sql<boolean>`(user_id > 0 and blocked_at is null)`,
  erased: sql<boolean>`user_id < 0`,
} satisfies Record<keyof typeof playerList.filters.status.options, Condition>

export const servedPlayers = serveList<typeof playerList>({
  list: playerList,
  entity: playerEntity,
  derived: {},
  conditions: {
    wallet: (wallet) => wallets[wallet],
    status: (status) => statuses[status],
    tookPart: (item) => tookPart(item, true),
    notTookPart: (item) => tookPart(item, false),
    seenDays: seenWithin,
    reach: (reach) => reaches[reach],
    has: hasAll,
  },
  sheet: {
    sheetName: 'Telegram Users',
    flags: {},
    // The column order of §3, which differs from the list's.
    first: [
      ...(['userId', 'createdAt', 'firstName', 'lastName', 'username', 'twitterUsername', 'instagramUsername'] as const),
      ...(['linkedInUsername', 'discordUsername', 'youtubeUsername', 'email', 'phoneNumber'] as const),
      ...(['tonWalletAddress', 'bscWallet', 'balance'] as const),
    ],
  },
  search: searchPlayers,
  withoutPersonal: { search: searchNames },
  markCondition: 'blocked_at is not null',
  counted: () => counterSql({ of: 'players' }),
})

/** Fewest digits of a search by phone number: fewer digits are in too many numbers. */
const MIN_PHONE_LENGTH = 3

/** Matches a part of a name, handle, e-mail or phone number, the beginning of a wallet, or a whole user id. */
function searchPlayers(text: string): SearchCondition | undefined {
  // Citus refuses a constant condition, such as `false`, beside an outer join.
  if (foldsToNothing(text)) return { matches: sql<boolean>`user_id is null` }
  const term = searchTerm(text)
  if (!term) return undefined
  const walletColumns = ['ton_wallet_address', 'bsc_wallet'].map((column) => lower(sql.ref(column)))
  const hasWallet = walletColumns.map((wallet) => sql<boolean>`starts_with(${wallet}, ${lower(sql`${text}::text`)})`)
  const findsWallet = walletColumns.map((wallet) => startsWithInIndex(wallet, text))
  const ids = idConditions(text)
  const phone = phoneTerm(text)
  const terms = [term, ...(phone ? [phone] : [])]
  const matches = terms.map((one) => one.matches)
  const earlier = [...matches, ...findsWallet]
  const conditions = (how: 'indexed' | 'estimated') =>
    disjoint([...terms.map((one) => one[how]), ...findsWallet, ...ids], earlier)
  return {
    matches: sql<boolean>`(${sql.join([...matches, ...hasWallet, ...ids], sql` or `)})`,
    conditions: conditions('indexed'),
    estimatedConditions: conditions('estimated'),
    isDistinctive: term.isDistinctive === true,
  }
}

const NAMES = sql.raw<string>(
  foldedSql(`(' ' || coalesce(username, '') || ' ' || coalesce(first_name, '') || ' ' || coalesce(last_name, ''))`),
)

/**
 * Matches a part of a name or a whole user id, for people who may not see personal fields. The index finds candidates by handles and e-mails,
 * too, whose names are then compared.
 */
function searchNames(text: string): SearchCondition | undefined {
  if (foldsToNothing(text)) return { matches: sql<boolean>`user_id is null` }
  const [inAll, inNames] = [searchTerm(text), searchTerm(text, NAMES)]
  if (!inAll || !inNames) return undefined
  const isNamed = sql<boolean>`(${inAll.matches} and ${inNames.matches})`
  const ids = idConditions(text)
  const conditions = (how: 'indexed' | 'estimated') =>
    disjoint([sql<boolean>`(${inAll[how]} and ${inNames.matches})`, ...ids], [isNamed])
  return {
    matches: sql<boolean>`(${sql.join([isNamed, ...ids], sql` or `)})`,
    conditions: conditions('indexed'),
    estimatedConditions: conditions('estimated'),
    isDistinctive: inAll.isDistinctive === true,
  }
}

function idConditions(text: string): Condition[] {
  return /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? [sql<boolean>`user_id = ${Number(text)}`] : []
}

const PHONE_DIGITS = sql<string>`regexp_replace(phone_number, '[^0-9]+', '', 'g')`

/**
 * Searches the digits of phone numbers, which include the country code: `+62 812-34` becomes `6281234`, and `0812 34` becomes `81234`.
 * `00 45` becomes `0045`, because `45` would be too short. Returns undefined for texts that do not look like a phone number, and for digits
 * alone, which the ordinary search finds.
 */
function phoneTerm(text: string): SearchTerm | undefined {
  if (!/^[+(]?[\d\s()./-]{3,}$/.test(text)) return undefined
  const all = text.replaceAll(/\D/g, '')
  const significant = all.replace(/^0+/, '')
  const digits = significant.length < MIN_PHONE_LENGTH ? all : significant
  return digits.length < MIN_PHONE_LENGTH || digits === text ? undefined : searchTerm(digits, PHONE_DIGITS)
}
