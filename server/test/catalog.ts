/** What distribution-rules.ts needs to know about the database: the columns of its tables and the volatility of its functions. */
import type { onServer } from './test-server.ts'

export interface Catalog {
  /** Table name → column name → the column's type. */
  columns: Record<string, Record<string, string>>
  aggregates: string[]
  /** Functions that PostgreSQL calls volatile: each call may return another value. */
  volatile: string[]
  /** Functions that are not immutable: volatile ones, and those that depend on the time or the session. */
  changeable: string[]
  /** Functions that are not immutable and take a timestamp, as `name/number of arguments`. */
  changeableOfTimestamps: string[]
}

export async function readCatalog(sql: Parameters<Parameters<typeof onServer>[1]>[0]): Promise<Catalog> {
  const [columns] = await sql<Pick<Catalog, 'columns'>>(`
    select json_object_agg(name, columns) as columns
      from (select table_name as name, json_object_agg(column_name, udt_name order by ordinal_position) as columns
              from information_schema.columns where table_schema = 'public' group by 1) as tables`)
  const [functions] = await sql<Omit<Catalog, 'columns'>>(`
    select array_agg(name) filter (where is_aggregate) as aggregates, array_agg(name) filter (where is_volatile) as volatile,
           array_agg(name) filter (where is_changeable) as changeable,
           (select array_agg(distinct proname || '/' || pronargs) from pg_proc
             where provolatile <> 'i' and 'timestamptz'::regtype = any(proargtypes::oid[])) as "changeableOfTimestamps"
      from (select proname::text as name, bool_or(prokind = 'a') as is_aggregate, bool_and(provolatile = 'v') as is_volatile,
                   bool_and(provolatile <> 'i') as is_changeable
              from pg_proc group by 1) as functions`)
  return { ...columns!, ...functions! }
}
