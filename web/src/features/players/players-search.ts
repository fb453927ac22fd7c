/** What the address of Telegram Users and of a player's page holds: the list one is in. */
import type { PlayersFilter, PlayersSort } from '@arcade/contract/entities/player'
import { dayOf, defined, type ListSearch, listSearch, numberOf, oneOf, textOf } from '#src/ui/list-search.ts'

const sizes = [5, 25, 50, 100] as const // design §7

export interface PlayersSearch extends ListSearch<PlayersSort> {
  size?: (typeof sizes)[number] | undefined
  /** From page 2 on: the cursor it begins after or ends before. */
  after?: string | undefined
  before?: string | undefined
  balanceMin?: number | undefined
  balanceMax?: number | undefined
  /** Days in the operator's time zone; both belong to the range. */
  joinedFrom?: string | undefined
  joinedUntil?: string | undefined
  wallet?: NonNullable<PlayersFilter['wallet']> | undefined
}

/** What is not understood is left out: then it is the first page by balance. */
export function playersSearch(given: Record<string, unknown>): PlayersSearch {
  const { page, ...list } = listSearch<PlayersSort>(given, ['balance', 'a-z', 'newest', 'user-id', 'username'])
  const after = textOf(given['after'])
  const before = textOf(given['before'])
  const cursor = after !== undefined ? { after } : before !== undefined ? { before } : undefined
  const size = sizes.find((candidate) => candidate === Number(given['size']))
  return {
    ...list,
    ...(cursor && page !== undefined && { page, ...cursor }),
    ...defined({
      size: size === sizes[0] ? undefined : size,
      balanceMin: numberOf(given['balanceMin']),
      balanceMax: numberOf(given['balanceMax']),
      joinedFrom: dayOf(given['joinedFrom']),
      joinedUntil: dayOf(given['joinedUntil']),
      wallet: oneOf(given['wallet'], ['any', 'ton', 'bsc', 'none'] as const),
    }),
  }
}

/** The search as the server takes it. */
export function filterOf({ q, balanceMin, balanceMax, joinedFrom, joinedUntil, wallet }: PlayersSearch): PlayersFilter {
  return defined({
    search: q,
    balanceMin,
    balanceMax,
    joinedFrom: joinedFrom && startOfDay(joinedFrom),
    joinedBefore: joinedUntil && startOfDay(joinedUntil, 1),
    wallet,
  })
}

function startOfDay(day: string, daysLater = 0): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + daysLater).toISOString()
}
