/** Webhooks and the queue of their deliveries. A server of the previous version keeps working without them. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table webhooks (
     id text primary key,
     url text not null,
     events text[] not null,
     secret bytea not null,
     created_at timestamptz not null default now(),
     failing_since timestamptz,
     switched_off_at timestamptz,
     alert text)`,
  `create table webhook_deliveries (
     id text primary key,
     webhook_id text not null constraint webhook_deliveries_webhook_id_fkey references webhooks on delete cascade,
     event text not null,
     payload text not null,
     created_at timestamptz not null default now(),
     attempts integer not null default 0,
     tried_at timestamptz,
     next_at timestamptz default now(),
     delivered_at timestamptz,
     result text)`,
  `create index webhook_deliveries_due on webhook_deliveries (next_at) where next_at is not null`,
  `create index webhook_deliveries_of on webhook_deliveries (webhook_id, created_at desc, id)`,
]
