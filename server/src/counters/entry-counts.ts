/**
 * Counts ledger entries (design §4, §7): participations, paid points, and the histogram of balances. An entry writes one row to
 * `uncounted_entries`, from which all of its counters follow, instead of one delta for each; folding sums the rows and removes them.
 */
import { type CounterSqlKey, counterNameSql, timeUnits } from './counter-keys.ts'

/** A ledger entry in the statement that writes it, where `paid` is the changed row of `balances`, or no row. */
export interface EntrySql {
  amount: string
  /** The claimed item. */
  item?: { kind: string; itemId: string }
  /** A condition on `paid` without which the entry is not counted. */
  condition?: string
}

/** Returns SQL that counts the entry of `paid`. Every statement that writes an entry of one player contains it. */
export function countEntrySql({ amount, item, condition = 'true' }: EntrySql): string {
  return `insert into uncounted_entries (user_id, seq, at, amount, balance, kind, item_id)
    select user_id, entries, now(), ${amount}, balance, ${item?.kind ?? 'null::text'}, ${item?.itemId ?? 'null::text'} from paid where ${condition}`
}

const hour = { at: 'hour', kind: 'kind', itemId: 'item_id' }
const { at, ...item } = hour
/** The counters that each claim raises by 1. */
const taken: CounterSqlKey[] = [
  { of: 'participants', ...item },
  ...timeUnits.map((bucket) => ({ of: 'activity', bucket, at, series: item.kind }) as const),
  ...(['hour', 'day'] as const).flatMap(
    (bucket) =>
      [
        { of: 'itemActivity', bucket, at, ...item },
        { of: 'activity', bucket, at, series: `'claims'` },
      ] as const,
  ),
]
/** The counters that each claim raises by its reward. */
const paid: CounterSqlKey[] = [
  { of: 'paid', ...item },
  ...timeUnits.map((bucket) => ({ of: 'activity', bucket, at, series: `'paid'` }) as const),
  ...(['hour', 'day'] as const).map((bucket) => ({ of: 'itemPaid', bucket, at, ...item }) as const),
]

/** SQL for the parts of counters of claims among these entries: rows of `name` and `value`. Claims of the same item and hour are summed first. */
export function claimPartsSql(entries = 'uncounted_entries'): string {
  const names = [...taken, ...paid].map(counterNameSql)
  const values = [...taken.map(() => 'claims'), ...paid.map(() => 'paid')]
  return `(select unnest(array[${names.join(', ')}]) collate "C" as name, unnest(array[${values.join(', ')}]) as value from (
    select kind, item_id, date_trunc('hour', at at time zone 'UTC') as hour, count(*)::numeric as claims, sum(amount) as paid
      from ${entries} where kind is not null group by 1, 2, 3) as claims)`
}

/** SQL for the parts of the histogram: each entry moves a player from one bucket to another. */
export function balancePartsSql(entries = 'uncounted_entries'): string {
  const name = (balance: string): string => `(${counterNameSql({ of: 'balances', balance })}) collate "C"`
  return `(select ${name('balance')} as name, 1::numeric as value from ${entries}
    union all select ${name('balance - amount')}, -1 from ${entries})`
}

/** Returns SQL for the number of uncounted participations in one item. @param kind and itemId are SQL parameters */
export function uncountedParticipantsSql({ kind, itemId }: { kind: string; itemId: string }): string {
  return `select count(*) from uncounted_entries where (kind, item_id) = (${kind}, ${itemId})`
}
