/** SQL conditions on the rows of a list. */
import { type RawBuilder, sql } from 'kysely'

export type Condition = RawBuilder<boolean>

export function all(conditions: Condition[]): Condition {
  return conditions.length === 0 ? sql<boolean>`true` : sql<boolean>`${sql.join(conditions, sql` and `)}`
}

/** Returns SQL text in which $1, $2 … stand for these parameters. */
export function bindSql(text: string, parameters: readonly unknown[]): RawBuilder<unknown> {
  const parts = text
    .split(/\$(\d)/)
    .map((part, index) => (index % 2 === 0 ? sql.raw(part) : sql`${parameters[Number(part) - 1]}`))
  return sql.join(parts, sql``)
}
