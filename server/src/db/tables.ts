/** The tables as Kysely sees them (design §5). Columns are snake_case; features alias them to the spec's names in their SELECTs. */
import type { ColumnType, Generated } from 'kysely'

/** A `numeric` column is exact in the database; connections.ts parses it to a number. */
type Decimal = ColumnType<number, number | string, number | string>
type Timestamp = ColumnType<Date, Date | string | undefined, Date | string>

export interface Tables {
  accounts: AccountsTable
  users: UsersTable
  sessions: SessionsTable
  attempts: AttemptsTable
  setup_links: SetupLinksTable
  bot_tokens: BotTokensTable
  audit_log: AuditLogTable
  telegram_users: TelegramUsersTable
  tasks: TasksTable
  announcements: AnnouncementsTable
  history_items: HistoryItemsTable
  participations: ParticipationsTable
  status_epoch: StatusEpochTable
  counters: CountersTable
  counter_deltas: CounterDeltasTable
  file_removals: FileRemovalsTable
}

/** An authentication account. Its users document is a row of its own, so either can exist alone (§8 `No such document!`). */
export interface AccountsTable {
  id: string
  email: string
  password_hash: string
  created_at: Timestamp
}

export interface UsersTable {
  id: string
  fname: string
  lname: string
  email: string
  user_type: 'admin' | 'user'
  created_at: Timestamp
  version: Generated<number>
}

export interface SessionsTable {
  /** SHA-256 of the token, which itself is only in the cookie. */
  token_hash: Buffer
  user_id: string
  created_at: Timestamp
  last_seen_at: Timestamp
}

/** Attempts counted against guessing, one row for each key and time window. */
export interface AttemptsTable {
  key: string
  window_start: ColumnType<Date, Date | string, Date | string>
  count: number
}

export interface SetupLinksTable {
  token_hash: Buffer
  expires_at: ColumnType<Date, Date | string, Date | string>
}

export interface BotTokensTable {
  id: string
  name: string
  token_hash: Buffer
  created_at: Timestamp
}

export interface AuditLogTable {
  id: string
  at: Timestamp
  actor_id: string | null
  action: string
  target: string
  detail: ColumnType<unknown, string, string>
  request_id: string | null
}

export interface TelegramUsersTable {
  user_id: number
  created_at: ColumnType<Date | null, Date | string | null, Date | string | null>
  first_name: string | null
  last_name: string | null
  username: string | null
  twitter_username: string | null
  instagram_username: string | null
  linked_in_username: string | null
  discord_username: string | null
  youtube_username: string | null
  email: string | null
  phone_number: string | null
  ton_wallet_address: string | null
  bsc_wallet: string | null
  balance: Decimal
  /** The status epoch the bot last showed this player; below the current one means "has something new". */
  seen_status_epoch: Generated<number>
}

export interface TasksTable {
  collection: 'social' | 'daily'
  id: string
  /** The task's type, which the collection calls image (§3). */
  image: string
  priority: Decimal
  title: string
  link: string | null
  reward: Decimal
  created_at: Timestamp
  version: Generated<number>
}

export interface AnnouncementsTable {
  id: string
  type: 'desc' | 'link'
  title: string
  subtitle: string
  description: string | null
  link: string | null
  link_type: 'input' | 'noInput' | null
  input_text: string | null
  reward: Decimal
  status: Generated<boolean>
  /** Keys in the file store. */
  image_key: string | null
  image_name: string | null
  icon_key: string | null
  icon_name: string | null
  created_at: Timestamp
  version: Generated<number>
}

export type HistoryKind = 'announcement' | 'social' | 'daily'

/** One document for each task or announcement; it stays when the item is deleted. */
export interface HistoryItemsTable {
  kind: HistoryKind
  item_id: string
  title: string
  type: string
  link: string | null
  link_type: string | null
  description: string | null
  input_text: string | null
  reward: Decimal
  created_at: Timestamp
}

/** The users subcollection of a history document. `period` is the UTC day for a daily task that repeats, else ''. */
export interface ParticipationsTable {
  user_id: number
  kind: HistoryKind
  item_id: string
  period: Generated<string>
  username: string | null
  first_name: string | null
  last_name: string | null
  user_input: string | null
  at: Timestamp
}

/** One row: how often an announcement was activated (design §7, GET /update-users-status). */
export interface StatusEpochTable {
  id: Generated<number>
  epoch: number
}

export interface CountersTable {
  name: string
  value: number
}

/** Append-only changes of counters. A counter is its row in `counters` plus its deltas, which the server folds into that row. */
export interface CounterDeltasTable {
  /** The player whom the change is about, 0 for none. It is the distribution column. */
  user_id: number
  id: Generated<string>
  name: string
  delta: number
}

/** Files that have no row any more and wait to be removed from the store. */
export interface FileRemovalsTable {
  key: string
  requested_at: Timestamp
}
