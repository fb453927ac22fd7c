/** The same as migration 0034 for small tables, whose indexes are made in a moment. */
import { type Kysely, sql } from 'kysely'
import { aToZSql, idOrderSql, lowerSql } from '#src/db/collations.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const id = idOrderSql('id')
/** A database that knew capitals from A to Z only may have two views whose names now are the same. */
const sameViews = `
  update saved_views set name = name || ' (' || left(saved_views.id, 8) || ')'
    from (select id, row_number() over (partition by owner_id, list, ${lowerSql('name')} order by created_at, ${id}) as place
            from saved_views where owner_id is not null) as same
   where same.id = saved_views.id and place > 1`

function replaceIndex(name: string, on: string, kind = 'index'): string[] {
  return [`drop index ${name}`, `create ${kind} ${name} on ${on}`]
}

const statements = [
  sameViews,
  ...replaceIndex('saved_views_name_key', `saved_views (owner_id, list, ${lowerSql('name')})`, 'unique index'),
  ...replaceIndex('accounts_email_key', `accounts (${lowerSql('email')})`, 'unique index'),
  ...replaceIndex('users_email_key', `users (${lowerSql('email')})`, 'unique index'),
  ...replaceIndex('users_by_email', `users ((${aToZSql('email')}), (${id}))`),
  ...replaceIndex('users_by_first_name', `users ((${aToZSql('fname')}), (${id}))`),
  ...replaceIndex('users_by_last_name', `users ((${aToZSql('lname')}), (${id}))`),
  ...replaceIndex('users_order', `users (created_at, (${id}))`),
  ...replaceIndex('announcements_order', `announcements (created_at, (${id}))`),
  ...replaceIndex('trash_order', `trash (deleted_at desc, (${id}))`),
]
