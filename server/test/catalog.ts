/** What the rules of distribution have to know of a database: the columns of its tables, and what PostgreSQL says of its functions. */
import type { onServer } from './test-server.ts'

export interface Catalog {
  /** The type of each column by table. */
  columns: Record<string, Record<string, string>>
  aggregates: string[]
  /** Functions that give something else each time. */
  volatile: string[]
  /** These, and those that give something else at another moment or in another session. */
  changeable: string[]
  /** Functions that do so when they are given a moment: name/number of arguments. */
  changeableOfMoments: string[]
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
             where provolatile <> 'i' and 'timestamptz'::regtype = any(proargtypes::oid[])) as "changeableOfMoments"
      from (select proname::text as name, bool_or(prokind = 'a') as is_aggregate, bool_and(provolatile = 'v') as is_volatile,
                   bool_and(provolatile <> 'i') as is_changeable
              from pg_proc group by 1) as functions`)
  return { ...columns!, ...functions! }
}
