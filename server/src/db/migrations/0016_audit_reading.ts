/**
 * Reading the audit trail: a view of all entries, sealed or not, and indexes that give the entries of one filter, newest first. The indexes
 * contain the time in UTC, by which nothing else is ordered. Otherwise the planner would read the whole trail in the order of time for a
 * value that it estimates to be common.
 */
import { type Kysely, sql } from 'kysely'

export const isResumable = true

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const entry = `id, at, act_id, action, actor_kind, actor_id, actor_name, address, origin, device, actor_salt, actor_commitment,
  record_kind, record_id, record_name, changes, detail, record_salt, record_commitment`

const statements = [
  // An open entry has the number under which it would be sealed now.
  `create or replace view audit_trail as
     select ${entry}, seq from audit_entries
     union all
     select ${entry}, (select seq from audit_head) + row_number() over (order by at, id) from audit_open`,
  ...['action', 'actor_kind', 'actor_id', 'record_kind', 'record_id'].map(
    (column) =>
      `create index concurrently if not exists audit_entries_by_${column} on audit_entries (${column}, (at at time zone 'UTC') desc, seq)`,
  ),
  ...['actor', 'action', 'record_kind'].map((index) => `drop index concurrently if exists audit_entries_${index}`),
]
