/**
 * Looks for a person's data in the whole database and in the file store, and says which columns may hold any. A column that is in neither
 * list fails a test, so a new column must be added here, together with what an erasure does to it (docs/erasing.md).
 */
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/db/tables.ts'

/** Columns by table, separated by spaces. */
type Columns = Readonly<Record<string, string>>

const inEntries = (columns: string): Columns => ({ audit_entries: columns, audit_open: columns })

function named(columns: Columns): string[] {
  return Object.entries(columns).flatMap(([table, names]) => names.split(' ').map((name) => `${table}.${name}`))
}

/** Columns that may name a player, and that erasing the player clears. */
export const playerColumns = named({
  telegram_users:
    'user_id first_name last_name username email phone_number ton_wallet_address bsc_wallet searched_text from_before ' +
    'twitter_username instagram_username linked_in_username discord_username youtube_username',
  participations: 'user_id username first_name last_name user_input from_before',
  balances: 'user_id block_reason',
  ledger_entries: 'user_id reference reason',
  uncounted_entries: 'user_id',
  counter_deltas: 'user_id',
  player_keys: 'user_id',
  player_visits: 'user_id',
  player_messages: 'user_id',
  broadcast_recipients: 'user_id',
  broadcasts: 'filter',
  idempotency_keys: 'caller answer',
  webhook_deliveries: 'payload',
  notes: 'record_id text searched_text',
  saved_views: 'name address',
  trash: 'content',
  ...inEntries('record_id record_name changes detail'),
})

/** Columns that may name a user of the console, and that removing and erasing the user clear. */
export const userColumns = named({
  accounts: 'id email',
  users: 'id fname lname email searched_text from_before',
  sessions: 'user_id begun_address last_address',
  known_addresses: 'user_id',
  password_links: 'user_id made_by',
  password_requests: 'user_id',
  password_resets: 'user_id',
  email_changes: 'user_id new_email old_email',
  invitations: 'email made_by',
  mails: 'user_id recipient',
  operator_telegrams: 'user_id',
  telegram_link_codes: 'user_id',
  totp_secrets: 'user_id',
  recovery_codes: 'user_id',
  pending_sign_ins: 'user_id',
  passkeys: 'user_id name',
  passkey_challenges: 'user_id',
  oidc_links: 'user_id subject name',
  oidc_flows: 'user_id',
  dashboard_looks: 'user_id',
  adjusted_points: 'user_id',
  notes: 'author_id text searched_text',
  note_mentions: 'user_id name',
  default_views: 'user_id',
  saved_views: 'owner_id private_to name address',
  trash: 'record_id name content deleted_by_id deleted_by',
  ledger_entries: 'by_id',
  backups: 'made_by',
  broadcasts: 'made_by',
  balances: 'blocked_by',
  idempotency_keys: 'caller answer',
  ...inEntries('actor_id actor_name address record_id record_name changes detail'),
})

/** Columns that hold no data of people, or only what docs/erasing.md explains. */
const impersonal: Readonly<Record<string, Columns>> = {
  'hashes, which cannot be reversed, and secrets': {
    accounts: 'password_hash',
    attempt_windows: 'key',
    sessions: 'token_hash',
    known_addresses: 'address_hash',
    secrets: 'name value',
    setup_links: 'token_hash',
    password_links: 'token_hash',
    telegram_link_codes: 'code_hash',
    invitations: 'token_hash',
    password_resets: 'token_hash',
    email_changes: 'new_hash old_hash',
    mails: 'content',
    totp_secrets: 'secret new_secret',
    recovery_codes: 'code_hash',
    pending_sign_ins: 'token_hash password_hash',
    passkey_challenges: 'challenge_hash',
    oidc_flows: 'state_hash browser_hash',
    passkeys: 'credential_id public_key',
    bot_tokens: 'token_hash previous_hash',
    erased_players: 'id_hash',
    idempotency_keys: 'key_hash fingerprint',
    player_keys: 'key_hash fingerprint',
    webhooks: 'secret',
    audit_head: 'hash base_hash',
    moved_documents: 'mapping hashes',
    audit_entries: 'actor_commitment record_commitment hash',
    audit_open: 'actor_commitment record_commitment',
  },
  'names that the console or the game chooses, and ids of records that are not people': {
    ...inEntries('action actor_kind record_kind device origin'),
    balances: 'given',
    bot_tokens: 'scope',
    broadcast_chunks: 'leased_by counts',
    broadcasts: 'id announcement_id state counts',
    counter_deltas: 'name',
    counters: 'name',
    default_views: 'list view_id',
    invitations: 'role',
    item_quotas: 'kind item_id quota period',
    ledger_entries: 'cause kind item_id period by_kind',
    mails: 'kind',
    migrations: 'name',
    notes: 'id kind',
    note_mentions: 'note_id',
    participations: 'kind item_id period',
    oidc_links: 'issuer',
    passkey_challenges: 'purpose',
    passkeys: 'transports device_type',
    saved_views: 'id list',
    sessions: 'device',
    trash: 'id act_id kind',
    uncounted_entries: 'kind item_id',
    role_settings: 'role',
    users: 'user_type role',
    webhook_deliveries: 'id webhook_id event',
    webhooks: 'events',
  },
  'what operators publish or set up for the whole console': {
    announcements:
      'id type title subtitle description link link_type input_text image_key image_name icon_key icon_name from_before segment_id',
    backup_schedules: 'place times',
    backups: 'id place step error verify_error',
    bot_tokens: 'id name',
    broadcasts: 'title content photo_id problem',
    file_removals: 'key',
    mails: 'result',
    history_items: 'kind item_id title type link link_type description input_text from_before',
    ledger_entries: 'by_name',
    player_messages: 'unreachable_reason',
    scheduled_work_pauses: 'reason',
    tasks: 'collection id image title link from_before segment_id',
    telegram_pace: 'reason',
    webhook_deliveries: 'result',
    webhooks: 'id url alert',
  },
  'a table that is empty since migration 0032': { audit_log: 'id actor_id action target detail request_id address origin' },
}

interface Column {
  table: string
  name: string
  type: string
}

async function allColumns(db: Kysely<Tables>): Promise<Column[]> {
  const { rows } = await sql<Column>`
    select relname as "table", attname as name, format_type(atttypid, null) as type
      from pg_attribute join pg_class on pg_class.oid = attrelid
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and attnum > 0 and not attisdropped
     order by relname, attnum`.execute(db)
  return rows
}

const TEXT_TYPES = ['text', 'text[]', 'character varying', 'json', 'jsonb', 'bytea', 'inet']

/** Returns the columns of texts, bytes and players' ids about which no list above says anything. */
export async function unknownColumns(db: Kysely<Tables>): Promise<string[]> {
  const known = new Set([...playerColumns, ...userColumns, ...Object.values(impersonal).flatMap(named)])
  const columns = (await allColumns(db)).filter(({ name, type }) => TEXT_TYPES.includes(type) || name === 'user_id')
  return columns.map(({ table, name }) => `${table}.${name}`).filter((column) => !known.has(column))
}

/** The columns that hold each value, in any case and also encoded as in an address. Reads every column of every table. */
export async function findInTables(db: Kysely<Tables>, values: readonly string[]): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  const note = (value: string, column: string): void => void found.set(value, [...(found.get(value) ?? []), column])
  for (const { table, name, type } of await allColumns(db)) {
    const text = type === 'bytea' ? sql`encode(${sql.ref(name)}, 'escape')` : sql`${sql.ref(name)}::text`
    const { rows } = await sql<{ text: string }>`
      select ${text} as text from ${sql.table(table)} where ${sql.ref(name)} is not null`.execute(db)
    const all = rows.map((row) => row.text.toLowerCase()).join('\n')
    for (const value of values) if (spellings(value).some((spelling) => all.includes(spelling))) note(value, `${table}.${name}`)
  }
  return found
}

function spellings(value: string): string[] {
  const lower = value.toLowerCase()
  const encoded = encodeURIComponent(lower).toLowerCase()
  return [...new Set([lower, encoded, encoded.replaceAll('%20', '+'), Buffer.from(value).toString('hex')])]
}

/** The values that the names or bytes of the files in a folder contain. */
export async function findInFiles(directory: string, values: readonly string[]): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const texts = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => `${entry.name}\n${await readFile(path.join(entry.parentPath, entry.name), 'latin1')}`),
  )
  const all = texts.join('\n').toLowerCase()
  return values.filter((value) => spellings(value).some((spelling) => all.includes(spelling)))
}
