/** Adds the rows of a batch to a table and changes those that differ. Rows that already have the values are not touched. */
import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { Tables } from '#src/db/tables.ts'
import { updateInListOrder } from '#src/db/transaction-locks.ts'
import type { Columns } from './import-rows.ts'

export interface Table {
  name: string
  key: string[]
  /** The columns and their types. */
  columns: Record<string, string>
  /** SQL for columns that an added row lacks; a changed row keeps its values. */
  defaults?: Readonly<Record<string, string>>
  /** Columns that change only while another column, the value here, is null. */
  onlyWhileNull?: Record<string, string>
  hasVersion?: true
  /** Columns that say whether the date in another column, the value here, is still to take effect. Only a new date sets them. */
  marks?: Readonly<Record<string, string>>
  /** A SQL condition for rows `t` that no import changes. */
  settled?: string
  /** The column of the row's time. `upsert` returns it as `moment`, and for changed rows the earlier time as `before`. */
  moment?: string
}

export interface Key extends Record<string, unknown> {
  moment: Date | null
  before: Date | null
}

/** Returns SQL for rows `r` with the columns of the table. */
export function recordset({ columns }: Table, rows: Columns[]): RawBuilder<unknown> {
  const typed = Object.entries(columns).map(([column, type]) => `${column} ${type}`)
  return sql`json_to_recordset(${JSON.stringify(rows)}::json) as r (${sql.raw(typed.join(', '))})`
}

/**
 * Two statements instead of `on conflict do update`: that one locks every row it finds, which writes to a table in which
 * nothing has changed. The result of both is exact even while others write the same rows.
 */
export async function upsert(tx: Transaction<Tables>, table: Table, rows: Columns[]): Promise<{ added: Key[]; changed: Key[] }> {
  if (rows.length === 0) return { added: [], changed: [] }
  const { columns, moment, onlyWhileNull = {}, settled = 'false', marks = {} } = table
  // A row without earlier fields keeps those that are stored.
  const defaults: Readonly<Record<string, string>> = { from_before: 'null', ...table.defaults }
  const name = sql.table(table.name)
  const names = Object.keys(columns)
  const key = table.key.join(', ')
  const keyColumns = (alias: string): string => table.key.map((column) => `${alias}.${column}`).join(', ')
  const sameKey = (one: string, other: string): string =>
    table.key.map((column) => `${one}.${column} = ${other}.${column}`).join(' and ')
  const imported = recordset(table, rows)
  const values = names.map((column) => (column in defaults ? `coalesce(r.${column}, ${defaults[column]})` : `r.${column}`))
  const marked = Object.values(marks).map((date) => `coalesce(r.${date} > now(), false)`)
  const all = [...names, ...Object.keys(marks)].join(', ')
  // Rows are inserted in the order of their keys, so that two imports wait for each other instead of deadlocking.
  const { rows: added } = await sql<Key>`
    insert into ${name} (${sql.raw(all)}) select ${sql.raw([...values, ...marked].join(', '))} from ${imported} order by ${sql.raw(key)}
    on conflict (${sql.raw(key)}) do nothing returning ${sql.raw(key + (moment ? `, ${moment} as moment` : ''))}`.execute(tx)
  if (added.length === rows.length) return { added, changed: [] }

  await updateInListOrder(tx)
  const others = names.filter((column) => !table.key.includes(column))
  const after = others.map((column) => {
    if (column in defaults) return `coalesce(r.${column}, t.${column})`
    return onlyWhileNull[column]
      ? `case when t.${onlyWhileNull[column]} is null then r.${column} else t.${column} end`
      : `r.${column}`
  })
  const changes = others.map((column, index) => `${column} = ${after[index]}`)
  for (const [mark, date] of Object.entries(marks)) {
    const now = after[others.indexOf(date)]!
    changes.push(`${mark} = case when ${now} is distinct from t.${date} then ${now} > now() else t.${mark} end`)
  }
  if (table.hasVersion) changes.push('version = t.version + 1')
  const differs = `(${others.map((column) => `t.${column}`).join(', ')}) is distinct from (${after.join(', ')})`
  // If another import changed the time of a row in the meantime, its value stays, because it came last. So the earlier time is certain.
  const held = moment ? sql`join ${name} as held on ${sql.raw(sameKey('held', 'r'))}` : sql``
  const isHeld = moment
    ? sql`and ${sql.raw(sameKey('t', 'held'))} and t.${sql.ref(moment)} is not distinct from held.${sql.ref(moment)}`
    : sql``
  const moments = moment ? `, held.${moment} as before, t.${moment} as moment` : ''
  const { rows: changed } = await sql<Key>`
    with r as materialized (select * from ${imported} order by ${sql.raw(key)})
    update ${name} as t set ${sql.raw(changes.join(', '))} from r ${held}
    where ${sql.raw(sameKey('t', 'r'))} ${isHeld} and ${sql.raw(differs)} and not ${sql.raw(settled)} returning ${sql.raw(keyColumns('t') + moments)}`.execute(
    tx,
  )
  return { added, changed }
}
