/**
 * Who made a password link, so that the link ends with the maker's rights; and the players who are not blocked by balance, for leaderboard
 * and ranks: the histogram of balances no longer counts blocked players. A server of the previous version keeps working. The links that it
 * makes cannot be used, and the players whom it blocks stay in the histogram until `arcade check --repair`.
 */
import { type Kysely, sql } from 'kysely'

export const isResumable = true

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const WHOLE = `trunc(balance)::text`
/** The counter of a balance in the histogram (counter-keys.ts). */
const BUCKET = `'balances:' || case when balance < 0 then '-' else lpad(length(${WHOLE})::text, 2, '0') || left(${WHOLE}, 2) end`

const statements = [
  `alter table password_links add column if not exists made_by text references users (id) on delete cascade`,
  `create index concurrently if not exists password_links_made_by on password_links (made_by)`,
  `comment on column password_links.made_by is 'The id of the admin who made the link. A link without a maker cannot be used.'`,
  `create index concurrently if not exists balances_open_by_balance on balances (balance desc, user_id) where blocked_at is null`,
  // The comment shows that blocked players have left the histogram, so that this happens once.
  `do $$ begin
     if obj_description('balances_open_by_balance'::regclass, 'pg_class') is null then
       insert into counter_deltas (user_id, name, delta) select 0, ${BUCKET}, -count(*) from balances where blocked_at is not null group by 2;
       comment on index balances_open_by_balance is 'The players whom the histogram of balances counts.';
     end if;
   end $$`,
]
