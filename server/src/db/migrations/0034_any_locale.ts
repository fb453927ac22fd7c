/**
 * The locale of the database decides nothing in large tables (ADR 25): names are ordered from A to Z as people do, and capitals are the same
 * letters everywhere. Each index is built beside running servers, and the one that it replaces is dropped afterwards.
 */
import { type Kysely, sql } from 'kysely'
import { aToZSql, idOrderSql, lowerSql } from '#src/db/collations.ts'
import { searchedTables, searchIndexes } from '#src/db/searched-text.ts'

export const isResumable = true

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, column] of Object.entries(searchedTables)) {
    if (await dependsOnLocale(db, table)) {
      await sql.raw(`alter table ${table} drop column searched_text, add column ${column}`).execute(db)
    }
    for (const statement of searchIndexes(table)) await sql.raw(statement).execute(db)
  }
  for (const { name, on, replaces } of indexes) {
    await sql.raw(`create index concurrently if not exists ${name} on ${on}`).execute(db)
    await sql.raw(`drop index concurrently if exists ${replaces}`).execute(db)
  }
}

/** Whether migration 0033 ran in a version in which the database's locale told what a capital is. */
async function dependsOnLocale(db: Kysely<unknown>, table: string): Promise<boolean> {
  const { rows } = await sql<{ isC: boolean }>`
    select attcollation = '"C"'::regcollation as "isC" from pg_attribute
     where attrelid = ${table}::regclass and attname = 'searched_text'`.execute(db)
  return rows[0]?.isC === false
}

const indexes = [
  ...['first_name', 'username'].map((column) => ({
    name: `telegram_users_${column}_a_to_z`,
    on: `telegram_users ((${aToZSql(column)}), user_id)`,
    replaces: `telegram_users_by_${column}`,
  })),
  ...(['ton_wallet_address', 'bsc_wallet'] as const).map((column) => ({
    name: `telegram_users_${column}_start`,
    on: `telegram_users (${lowerSql(column)} text_pattern_ops) where ${column} is not null`,
    replaces: `telegram_users_${column.replace('_address', '')}`,
  })),
  ...['actor_name', 'record_name'].map((column) => ({
    name: `audit_entries_${column}_start`,
    on: `audit_entries (${lowerSql(column)} text_pattern_ops)`,
    replaces: `audit_entries_${column}`,
  })),
  {
    name: 'webhook_deliveries_newest',
    on: `webhook_deliveries (webhook_id, created_at desc, (${idOrderSql('id')}))`,
    replaces: 'webhook_deliveries_of',
  },
]
