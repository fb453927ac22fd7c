/**
 * What entries of the ledger count (design §4, §7): participations, what claims were paid, and how many players have how much. An entry leaves
 * one row of its own beside it, from which all counters follow, instead of a change of each; folding adds up the rows and removes them.
 */
import { buckets, type CounterSqlKey, counterNameSql } from './counter-keys.ts'

/** An entry as SQL sees it where it is written: of what `paid` gives, one row of `balances` with the player's `user_id`, or none. */
export interface EntrySql {
  amount: string
  /** What was claimed. */
  item?: { kind: string; itemId: string }
}

/** SQL that counts the entry of `paid`. Whoever writes an entry of one player has this in the same statement. */
export function countEntrySql({ amount, item }: EntrySql): string {
  return `insert into uncounted_entries (user_id, seq, at, amount, balance, kind, item_id)
    select user_id, entries, now(), ${amount}, balance, ${item?.kind ?? 'null::text'}, ${item?.itemId ?? 'null::text'} from paid`
}

const hour = { at: 'hour', kind: 'kind', itemId: 'item_id' }
const { at, ...item } = hour
/** What each claim counts by 1. */
const taken: CounterSqlKey[] = [
  { of: 'participants', ...item },
  ...buckets.map((bucket) => ({ of: 'activity', bucket, at, series: item.kind }) as const),
  ...(['hour', 'day'] as const).map((bucket) => ({ of: 'itemActivity', bucket, at, ...item }) as const),
]
/** What each claim counts by its reward. */
const paid: CounterSqlKey[] = [
  { of: 'paid', ...item },
  ...buckets.map((bucket) => ({ of: 'activity', bucket, at, series: `'paid'` }) as const),
  ...(['hour', 'day'] as const).map((bucket) => ({ of: 'itemPaid', bucket, at, ...item }) as const),
]

/** Parts of counters that claims among these entries add to, in SQL: rows of `name` and `value`. Claims of an item and hour are added up first. */
export function claimPartsSql(entries = 'uncounted_entries'): string {
  const names = [...taken, ...paid].map(counterNameSql)
  const values = [...taken.map(() => 'claims'), ...paid.map(() => 'paid')]
  return `(select unnest(array[${names.join(', ')}]) collate "C" as name, unnest(array[${values.join(', ')}]) as value from (
    select kind, item_id, date_trunc('hour', at at time zone 'UTC') as hour, count(*)::numeric as claims, sum(amount) as paid
      from ${entries} where kind is not null group by 1, 2, 3) as claims)`
}

/** Parts of counters that these entries move from one balance to another. */
export function balancePartsSql(entries = 'uncounted_entries'): string {
  const name = (balance: string): string => `(${counterNameSql({ of: 'balances', balance })}) collate "C"`
  return `(select ${name('balance')} as name, 1::numeric as value from ${entries}
    union all select ${name('balance - amount')}, -1 from ${entries})`
}

/** Participations that are not counted yet, of one item. @param kind and itemId parameters in SQL */
export function uncountedParticipantsSql({ kind, itemId }: { kind: string; itemId: string }): string {
  return `select count(*) from uncounted_entries where (kind, item_id) = (${kind}, ${itemId})`
}
