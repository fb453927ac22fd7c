/** A few rows for every table, with values that a backup could easily damage, and a function that reads all rows to compare them. */
import { type Kysely, sql } from 'kysely'
import { actOfProcess, audit } from '#src/audit/audit.ts'
import { sealEntries } from '#src/audit/chain.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { addCount } from './activity.ts'

/** Fills a database that has no rows. The rows name the files `announcements/1_image.png` and `announcements/2_icon.png`. */
export async function addRows(database: Database): Promise<void> {
  for (const statement of consoleRows) await sql.raw(statement).execute(database.db)
  await sql`update announcements set news = (select epoch from status_epoch) where status`.execute(database.db)
  await addCount(database, { of: 'players' }, 2)
  const act = actOfProcess('command', 'a command')
  await audit(database.db, act, 'data.seed', { detail: { odd: 'a "quoted" \\ text' } })
  await sealEntries(database)
  await audit(database.db, act, 'data.import', {})
}

/** The tables that a restore empties: sessions, links, codes, mails and browsers at the sign-in service. */
export const endedTables = [
  'sessions',
  'pending_sign_ins',
  'setup_links',
  'password_links',
  'password_requests',
  'password_resets',
  'email_changes',
  'mails',
  'invitations',
  'telegram_link_codes',
  'passkey_challenges',
  'oidc_flows',
]

const HARD_TEXT = String.raw`E'tab\t line\n back\\slash \\N \\. "quotes" \u200f Zoë 😀'`

/** Each statement fills one table, named first, and sets only columns that the table has had since its first version. */
export const consoleRows = [
  `insert into accounts (id, email, password_hash) values ('a', 'admin@example.org', 'hash'), ('b', 'user@example.org', 'hash')`,
  `insert into users (id, fname, lname, email, user_type) values ('a', ${HARD_TEXT}, '', 'admin@example.org', 'admin'), ('b', 'U', 'Ser', 'user@example.org', 'user')`,
  `insert into role_settings (role, sees_personal, max_adjustment) values ('analyst', true, 12.5)`,
  `insert into sessions (token_hash, user_id) values ('\\x0001ff', 'a')`,
  `insert into attempt_windows (key, started_at, count) values ('k', '2026-01-01 00:00:00.123456+02', 3)`,
  `insert into known_addresses (user_id, address_hash) values ('a', '\\x00')`,
  `insert into secrets (name, value) values ('device', '\\x5c00ff')`,
  `insert into webhooks (id, url, events, secret) values ('w', 'https://bot.example/', '{task.changed}', '\\x06')`,
  `insert into webhook_deliveries (id, webhook_id, event, payload) values ('msg_1', 'w', 'task.changed', '{}')`,
  `insert into setup_links (token_hash, expires_at) values ('\\x01', now() + interval '1 hour')`,
  `insert into password_links (user_id, token_hash, expires_at) values ('b', '\\x02', now() + interval '1 hour')`,
  `insert into operator_telegrams (user_id, telegram_id) values ('a', 9007199254740991)`,
  `insert into telegram_link_codes (user_id, code_hash, expires_at) values ('a', '\\x08', now() + interval '1 hour')`,
  `insert into adjusted_points (user_id, day, points) values ('a', '2026-02-03', 12.5)`,
  `insert into notes (id, kind, record_id, text, author_id) values ('no', 'player', '1', ${HARD_TEXT}, 'a')`,
  `insert into note_mentions (note_id, user_id, name) values ('no', 'b', 'U Ser')`,
  `insert into invitations (id, email, token_hash, made_by, expires_at)
     values ('00000000-0000-4000-8000-000000000001', 'guest@example.org', '\\x09', 'a', now() + interval '1 hour')`,
  `insert into mails (id, kind, recipient, content, give_up_at)
     values ('00000000-0000-4000-8000-000000000002', 'roleChange', 'admin@example.org', '\\x0a', now() + interval '1 hour')`,
  `insert into password_requests (user_id) values ('a')`,
  `insert into password_resets (token_hash, user_id, expires_at) values ('\\x0b', 'a', now() + interval '1 hour')`,
  `insert into email_changes (user_id, new_email, old_email, new_hash, old_hash, expires_at)
     values ('a', 'new@example.org', 'admin@example.org', '\\x0c', '\\x0d', now() + interval '1 hour')`,
  `insert into totp_secrets (user_id, secret, confirmed_at, last_step) values ('a', '\\x0b', now(), 7)`,
  `insert into recovery_codes (user_id, code_hash) values ('a', '\\x0c')`,
  `insert into pending_sign_ins (token_hash, user_id, password_hash, expires_at) values ('\\x0d', 'a', 'x', now() + interval '1 hour')`,
  `insert into passkeys (id, user_id, credential_id, public_key, counter, transports, name, device_type, backed_up)
     values ('00000000-0000-4000-8000-000000000001', 'a', '\\x5c00ff', '\\xa501', 4294967295, '{internal,hybrid}', ${HARD_TEXT}, 'multiDevice', true)`,
  `insert into passkey_challenges (challenge_hash, purpose, user_id, expires_at) values ('\\x09', 'step-up', 'a', now() + interval '1 hour')`,
  `insert into oidc_links (user_id, issuer, subject, name) values ('a', 'https://oauth.telegram.org/', '42', ${HARD_TEXT})`,
  `insert into oidc_flows (state_hash, browser_hash, user_id, expires_at) values ('\\x0e', '\\x0f', 'a', now() + interval '1 hour')`,
  `insert into bot_tokens (id, name, token_hash) values ('t', 'game bot', '\\x03')`,
  `insert into telegram_users (user_id, first_name, last_name, username, email, phone_number)
     values (1, ${HARD_TEXT}, null, '', 'x@example.org', '+1 23'), (9007199254740991, 'Zoë', 'B', 'moon_7', null, null)`,
  `insert into balances (user_id, balance, imported, entries) values (1, 0.1, 0.1, 1), (9007199254740991, -12345.678901234567, 0, 1)
     on conflict (user_id) do update set balance = excluded.balance, imported = excluded.imported, entries = excluded.entries`,
  `insert into ledger_entries (user_id, seq, amount, cause, reason, at, balance)
     values (1, 1, 0.1, 'opening', null, '2026-02-03 04:05:06.789+00', 0.1),
            (9007199254740991, 1, -12345.678901234567, 'import', ${HARD_TEXT}, '2026-02-03 04:05:06.789+00', -12345.678901234567)`,
  `insert into erased_players (id_hash) values ('\\x07')`,
  `insert into player_keys (user_id, key_hash, fingerprint, seq, is_first) values (1, '\\x05', '\\x06', 1, true)`,
  `insert into uncounted_entries (user_id, seq, at, amount, balance, kind, item_id) values (1, 1, '2026-02-03 04:05:06.789+00', 0.1, 0.1, 'social', 's')`,
  `insert into broadcasts (id, number, announcement_id, title, filter, state) values ('bc', 1, 'n', ${HARD_TEXT}, '{}', 'done')`,
  `insert into broadcast_chunks (broadcast, chunk, size, counts) values (1, 0, 1, '{"0":1}')`,
  `insert into broadcast_recipients (user_id, broadcast, chunk, outcome) values (1, 1, 0, 0)`,
  `insert into telegram_pace (next_at) values ('2026-02-03 04:05:06.789+00')`,
  `insert into tasks (collection, id, image, priority, title, reward) values ('social', 's', 'telegram', 1.5, ${HARD_TEXT}, 10)`,
  `insert into announcements (id, type, title, subtitle, reward, status, image_key, image_name, icon_key, icon_name)
     values ('n', 'desc', 'News', '', 5, true, 'announcements/1_image.png', 'image.png', 'announcements/2_icon.png', 'icon.png')`,
  `insert into player_visits (user_id, seen_at) values (1, '2026-02-03 04:05:06.789+00') on conflict (user_id) do update set seen_at = excluded.seen_at`,
  `insert into player_messages (user_id, unreachable_at, unreachable_reason) values (1, now(), ${HARD_TEXT})`,
  `insert into item_quotas (kind, item_id, quota, bucket, remaining) values ('social', 's', 'places', 3, 12.5)`,
  `insert into history_items (kind, item_id, title, type, reward) values ('social', 's', 'Title', 'telegram', 10)`,
  `insert into participations (user_id, kind, item_id, username, user_input, at) values (1, 'social', 's', 'x', ${HARD_TEXT}, '2026-02-03 04:05:06.789+00')`,
  `update status_epoch set epoch = 7`,
  `insert into file_removals (key, requested_at) values ('announcements/3_gone.png', now() + interval '1 day')`,
  `insert into idempotency_keys (caller, key_hash, fingerprint, answer) values ('a', '\\x04', '\\x05', '{"a": 1}')`,
  `insert into saved_views (id, list, name, address, owner_id) values ('v', 'players', 'View', 'q=1', 'a')`,
  `insert into dashboard_looks (user_id, seen_at, looked_at) values ('a', '2026-02-03 04:05:06.789+00', '2026-02-02 04:05:06+00')`,
  `insert into default_views (user_id, list, view_id) values ('a', 'players', 'v')`,
]

/** Returns all rows of each table as text, except of the tables in `leftOut`. */
export async function rowsOfTables(db: Kysely<Tables>, leftOut: string[] = []): Promise<Record<string, string[]>> {
  const { rows: tables } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' order by 1`.execute(db)
  const all: Record<string, string[]> = {}
  for (const { name } of tables) {
    if (name === 'migrations' || leftOut.includes(name)) continue
    const { rows } = await sql<{ row: string }>`
      select to_jsonb(t)::text as row from ${sql.table(name)} t order by 1`.execute(db)
    all[name] = rows.map(({ row }) => row)
  }
  return all
}
