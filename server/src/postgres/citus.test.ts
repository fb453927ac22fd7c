import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { testDatabase } from '#test/test-database.ts'
import { DISTRIBUTED_TABLES, findCluster } from './citus.ts'
import { citusUrl } from '#test/citus.ts'

const database = await testDatabase()

describe('design §4 the tables of players can be divided by player', () => {
  test('each unique key of these tables contains the player', async () => {
    const { rows } = await sql<{ table: string; index: string; columns: string[] }>`
      select table_class.relname as table, index_class.relname as index,
             array(select attname::text from pg_attribute where attrelid = indrelid and attnum = any(indkey)) as columns
        from pg_index join pg_class index_class on index_class.oid = indexrelid join pg_class table_class on table_class.oid = indrelid
       where indisunique and table_class.relname = any(${DISTRIBUTED_TABLES})`.execute(database.db)
    expect(new Set(rows.map(({ table }) => table))).toEqual(new Set(DISTRIBUTED_TABLES))
    for (const { index, columns } of rows) expect(columns, index).toContain('user_id')
  })

  test('these tables have no foreign keys to or from them, no triggers and no sequences', async () => {
    const { rows } = await sql`
      select conname::text as name from pg_constraint where contype = 'f' and ${sql.raw(isPlayers('conrelid'))} or ${sql.raw(isPlayers('confrelid'))}
      union all select tgname from pg_trigger where not tgisinternal and ${sql.raw(isPlayers('tgrelid'))}
      union all select attname from pg_attribute where attnum > 0 and not attisdropped
        and case when ${sql.raw(isPlayers('attrelid'))} then attidentity <> '' or pg_get_serial_sequence(attrelid::regclass::text, attname) is not null else false end`.execute(
      database.db,
    )
    expect(rows).toEqual([])
  })

  test('no other table has a column with the player’s id, so that all rows of a player are together', async () => {
    const { rows } = await sql<{ table: string }>`
      select table_name as table from information_schema.columns
       where table_schema = 'public' and column_name = 'user_id' and data_type = 'bigint' order by 1`.execute(database.db)
    expect(rows.map(({ table }) => table)).toEqual([...DISTRIBUTED_TABLES].toSorted())
  })
})

test('design §4 whether a database is a Citus cluster', async () => {
  const cluster = await findCluster(database.db)
  expect(cluster?.distributed).toEqual(citusUrl ? [...DISTRIBUTED_TABLES].toSorted() : undefined)
})

function isPlayers(oid: string): string {
  return `${oid}::regclass::text = any(array['${DISTRIBUTED_TABLES.join(`','`)}'])`
}
