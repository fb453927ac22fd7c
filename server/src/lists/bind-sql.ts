/** SQL that is written with $1, $2 … as a part of a statement that Kysely builds. */
import { type RawBuilder, sql } from 'kysely'

/** SQL with $1, $2 … for these parameters. */
export function bindSql(text: string, parameters: readonly unknown[]): RawBuilder<unknown> {
  const parts = text
    .split(/\$(\d)/)
    .map((part, index) => (index % 2 === 0 ? sql.raw(part) : sql`${parameters[Number(part) - 1]}`))
  return sql.join(parts, sql``)
}
