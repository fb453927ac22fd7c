/** What narrows the list of players down, as conditions: for rows at hand, and for finding rows by an index. */
import { type RawBuilder, sql } from 'kysely'
import type { PlayersFilter, PlayersSort } from '@arcade/contract/entities/player'
import { momentOf } from '#src/db/moments.ts'
import { searchTerm } from '#src/lists/search.ts'

type Condition = RawBuilder<boolean>

export interface Filter {
  isEmpty: boolean
  /** Holds for the rows of the list. */
  isMatch: Condition
  /** Each finds a part of the rows in an index of its own; together all of them, none twice. */
  found: Condition[]
  /** Bounds of the column that a sort goes by, which narrow its index down. */
  boundsOf: (sort: PlayersSort) => Condition
}

const walletConditions: Record<NonNullable<PlayersFilter['wallet']>, Condition> = {
  any: sql`(ton_wallet_address is not null or bsc_wallet is not null)`,
  ton: sql`ton_wallet_address is not null`,
  bsc: sql`bsc_wallet is not null`,
  none: sql`(ton_wallet_address is null and bsc_wallet is null)`,
}

export function filterOf({ search, wallet, ...bounds }: PlayersFilter): Filter {
  const { balanceMin, balanceMax, joinedFrom, joinedBefore } = bounds
  const balance: Condition[] = []
  if (balanceMin !== undefined) balance.push(sql`balance >= ${balanceMin}::numeric`)
  if (balanceMax !== undefined) balance.push(sql`balance <= ${balanceMax}::numeric`)
  const joined: Condition[] = []
  if (joinedFrom !== undefined) joined.push(sql`created_at >= ${momentOf(new Date(joinedFrom))}`)
  if (joinedBefore !== undefined) joined.push(sql`created_at < ${momentOf(new Date(joinedBefore))}`)
  const others = [...balance, ...joined, ...(wallet === undefined ? [] : [walletConditions[wallet]])]
  const term = searchTerm(search)
  if (!term) {
    return { isEmpty: others.length === 0, isMatch: all(others), found: [all(others)], boundsOf }
  }
  const { prefix, userId } = keysIn(search ?? '')
  const ids = userId === undefined ? [] : [sql<boolean>`user_id = ${userId}`]
  const isWallet = ['ton_wallet_address', 'bsc_wallet'].map(
    (column) => sql<boolean>`starts_with(lower(${sql.ref(column)}), lower(${prefix}::text))`,
  )
  const wallets = ['ton_wallet_address', 'bsc_wallet'].map((column) => beginsWith(column, prefix))
  const ways = [term.found, ...wallets, ...ids]
  const isFound = sql<boolean>`(${sql.join([term.isMatch, ...isWallet, ...ids], sql` or `)})`
  return {
    isEmpty: false,
    isMatch: all([isFound, ...others]),
    found: ways.map((way, index) => all([way, ...[term.isMatch, ...wallets].slice(0, index).map(isNot), ...others])),
    boundsOf,
  }

  function boundsOf(sort: PlayersSort): Condition {
    return all(sort === 'balance' ? balance : sort === 'newest' ? joined : [])
  }
}

export function all(conditions: Condition[]): Condition {
  return conditions.length === 0 ? sql<boolean>`true` : sql<boolean>`${sql.join(conditions, sql` and `)}`
}

function isNot(condition: Condition): Condition {
  return sql<boolean>`(${condition}) is not true`
}

function keysIn(search: string): { prefix: string; userId: number | undefined } {
  const prefix = search.trim()
  const userId = /^\d{1,16}$/.test(prefix) && Number.isSafeInteger(Number(prefix)) ? Number(prefix) : undefined
  return { prefix, userId }
}

/** A range instead of LIKE, whose pattern the planner would have to know. */
function beginsWith(column: string, prefix: string): Condition {
  const value = sql`lower(${sql.ref(column)})`
  return sql<boolean>`(${value} ~>=~ lower(${prefix}::text) and ${value} ~<~ (lower(${prefix}::text) || chr(1114111)))`
}
