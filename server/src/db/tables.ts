/** The tables as Kysely sees them (design §5). Columns are snake_case; those of an entity's fields are derived from the contract. */
import type { ColumnType, Generated } from 'kysely'
import type { BotScope } from '@arcade/contract/bot-tokens/fields'
import type { HistoryKind } from '@arcade/contract/history/fields'
import type { ListName } from '@arcade/contract/lists'
import type { TaskCollection } from '@arcade/contract/tasks/fields'
import type { WebhookEvent } from '@arcade/contract/webhooks/fields'
import type {
  announcementEntity,
  ColumnsOf,
  Decimal,
  historyItemEntity,
  participantEntity,
  playerEntity,
  taskEntity,
  Timestamp,
  trashEntity,
  userEntity,
} from './entities.ts'

export interface Tables {
  accounts: AccountsTable
  users: UsersTable
  sessions: SessionsTable
  attempt_windows: AttemptWindowsTable
  known_addresses: KnownAddressesTable
  secrets: SecretsTable
  setup_links: SetupLinksTable
  password_links: PasswordLinksTable
  bot_tokens: BotTokensTable
  webhooks: WebhooksTable
  webhook_deliveries: WebhookDeliveriesTable
  audit_open: AuditOpenTable
  audit_entries: AuditEntriesTable
  audit_head: AuditHeadTable
  telegram_users: TelegramUsersTable
  balances: BalancesTable
  ledger_entries: LedgerEntriesTable
  player_keys: PlayerKeysTable
  uncounted_entries: UncountedEntriesTable
  /** Of the ids that erased players had (ledger/erased-players.ts). */
  erased_players: { id_hash: Buffer }
  tasks: TasksTable
  announcements: AnnouncementsTable
  history_items: HistoryItemsTable
  participations: ParticipationsTable
  status_epoch: StatusEpochTable
  counters: CountersTable
  counter_deltas: CounterDeltasTable
  file_removals: FileRemovalsTable
  trash: TrashTable
  idempotency_keys: IdempotencyKeysTable
  saved_views: SavedViewsTable
  default_views: DefaultViewsTable
  backups: BackupsTable
  backup_schedules: BackupSchedulesTable
  scheduled_work_pauses: ScheduledWorkPausesTable
}

/** An authentication account. Its users document is a row of its own, so either can exist alone (§8 `No such document!`). */
export interface AccountsTable {
  id: string
  email: string
  password_hash: string
  created_at: Timestamp
}

export type UsersTable = ColumnsOf<typeof userEntity, 'version'>

export interface SessionsTable {
  /** SHA-256 of the token, which itself is only in the cookie. */
  token_hash: Buffer
  user_id: string
  /** What one's own sessions are told apart by. */
  id: Generated<string>
  /** `Chrome on Windows`, say. */
  device: Generated<string>
  created_at: Timestamp
  last_seen_at: Timestamp
}

/** A user's link to set a new password, the last one that was made. */
export interface PasswordLinksTable {
  user_id: string
  token_hash: Buffer
  expires_at: ColumnType<Date, Date | string, Date | string>
  used_at: ColumnType<Date | null, Date | string | null, Date | string | null>
}

/** Attempts counted against guessing since the first one of a window. */
export interface AttemptWindowsTable {
  key: string
  started_at: Timestamp
  count: number
}

/** Addresses from which a user has signed in. */
export interface KnownAddressesTable {
  user_id: string
  /** SHA-256 of the address. */
  address_hash: Buffer
  seen_at: Timestamp
}

/** Keys that the servers of an installation share. */
export interface SecretsTable {
  name: string
  value: Buffer
}

export interface SetupLinksTable {
  token_hash: Buffer
  expires_at: ColumnType<Date, Date | string, Date | string>
}

export interface BotTokensTable {
  id: string
  name: string
  scope: Generated<BotScope>
  token_hash: Buffer
  created_at: Timestamp
  rotated_at: ColumnType<Date | null, Date | string | null | undefined, Date | string | null>
  last_used_at: ColumnType<Date | null, Date | string | null | undefined, Date | string | null>
  /** The secret before the last rotation, while that works. */
  previous_hash: Buffer | null
  previous_used_at: ColumnType<Date | null, Date | string | null | undefined, Date | string | null>
}

type MaybeMoment = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>

/** Addresses that are told of events. */
export interface WebhooksTable {
  id: string
  url: string
  events: WebhookEvent[]
  /** What deliveries are signed with, encrypted with SECRET_KEY. */
  secret: Buffer
  created_at: Timestamp
  /** Since when no delivery succeeds any more. */
  failing_since: MaybeMoment
  switched_off_at: MaybeMoment
  /** Why the console has switched it off by itself. */
  alert: string | null
}

/** What webhooks are told: waiting while `next_at` says when it is tried. */
export interface WebhookDeliveriesTable {
  id: string
  webhook_id: string
  event: string
  payload: string
  created_at: Timestamp
  attempts: Generated<number>
  tried_at: MaybeMoment
  next_at: MaybeMoment
  delivered_at: MaybeMoment
  /** What became of the last attempt. */
  result: string | null
}

/** An act that is not sealed yet. */
export interface AuditOpenTable {
  id: string
  at: Timestamp
  /** The request or command that it belongs to. */
  act_id: string
  action: string
  actor_kind: string
  actor_id: string | null
  actor_name: string | null
  address: string | null
  origin: string | null
  device: string | null
  /** Null once the columns before it were erased. */
  actor_salt: string | null
  actor_commitment: Buffer
  record_kind: string | null
  record_id: string | null
  record_name: string | null
  changes: unknown
  detail: unknown
  record_salt: string | null
  record_commitment: Buffer
}

/** A sealed entry: the chain goes by `seq`, without gaps. */
export interface AuditEntriesTable extends AuditOpenTable {
  seq: number
  hash: Buffer
}

/** One row: the last sealed entry, and the last one that was dropped because of its age. */
export interface AuditHeadTable {
  id: Generated<number>
  seq: number
  hash: Buffer
  base_seq: number
  base_hash: Buffer
}

/** Players without their balances. */
export interface TelegramUsersTable extends Omit<ColumnsOf<typeof playerEntity>, 'balance'> {
  /** The number of news that was shown to this player last (items/news.ts). */
  seen_status_epoch: Generated<number>
}

/** A row for each player: the sum of the entries. */
export interface BalancesTable {
  user_id: number
  balance: Decimal
  /** What the last import brought: the next one adds its difference to that. */
  imported: Decimal
  /** How many entries there are, which is the number of the last one. */
  entries: number
  /** Since when the player can claim and be given nothing, who said so, and why. */
  /** What causes with a cap have given on the last day that one has (ledger/caps.ts). */
  given: unknown
  blocked_at: MaybeMoment
  blocked_by: string | null
  block_reason: string | null
}

/** What changed a player's balance, numbered from 1 without gaps. Nothing is changed or removed here. */
export interface LedgerEntriesTable {
  user_id: number
  seq: number
  amount: Decimal
  /** One of `entryCauses`, or the game's own. */
  cause: string
  /** What the entry is about in the words of whoever wrote it, once for each player and cause. */
  reference: string | null
  kind: HistoryKind | null
  item_id: string | null
  period: string | null
  by_kind: string | null
  by_id: string | null
  by_name: string | null
  /** Why, in the words of a person. */
  reason: string | null
  at: Timestamp
  /** After the entry. */
  balance: Decimal
}

/** Requests that moved a player's balance, and repetitions of them, by their Idempotency-Key. */
export interface PlayerKeysTable {
  user_id: number
  /** Of the caller and the key. */
  key_hash: Buffer
  fingerprint: Buffer
  /** The entry of the answer; null where there is none. */
  seq: number | null
  /** Of the answer, where there is no entry that has it. */
  balance: number | null
  is_first: boolean
  created_at: Timestamp
}

export interface TasksTable extends ColumnsOf<typeof taskEntity, 'verifiedByBot' | 'version'> {
  collection: TaskCollection
}

export interface AnnouncementsTable extends ColumnsOf<typeof announcementEntity, 'status' | 'verifiedByBot' | 'version'> {
  /** The number of its last activation (items/news.ts); 0 if it was never active. */
  news: Generated<number>
}

/** One document for each task or announcement; it stays when the item is deleted. */
export interface HistoryItemsTable extends ColumnsOf<typeof historyItemEntity> {
  created_at: Timestamp
}

/** The users subcollection of a history document. `period` is the UTC day for a daily task that repeats, else ''. */
export interface ParticipationsTable extends ColumnsOf<typeof participantEntity> {
  kind: HistoryKind
  item_id: string
  period: Generated<string>
}

/** One row: the number that each activation of announcements raises (items/news.ts). */
export interface StatusEpochTable {
  id: Generated<number>
  epoch: number
}

export interface CountersTable {
  name: string
  /** Whole, but for what was paid. */
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

/** Entries of the ledger that no counter has yet: what entry-counts.ts needs of each. */
export interface UncountedEntriesTable {
  user_id: number
  seq: number
  at: Timestamp
  amount: Decimal
  /** After the entry. */
  balance: Decimal
  /** What was claimed; null in entries that are no claims. */
  kind: HistoryKind | null
  item_id: string | null
}

/** Files that no row names and that wait to be removed from the store. */
export interface FileRemovalsTable {
  key: string
  requested_at: Timestamp
  /** Whether a sweep has begun to remove the file, so that no row may name it any more. */
  is_removing: Generated<boolean>
  /** Whether a row named the file until it was deleted or got another one: nobody is served such a file, though its bytes stay until then. */
  is_withdrawn: Generated<boolean>
}

/** Records that were deleted and can be restored. */
export interface TrashTable extends ColumnsOf<typeof trashEntity> {
  deleted_by_id: string | null
  /** `row`, and of a user `account`, `views`, `sharedViews` and `defaultViews`, as PostgreSQL writes rows as JSON. */
  content: unknown
}

/** Requests that created something, or are about to. */
export interface IdempotencyKeysTable {
  /** A user or a bot. */
  caller: string
  key_hash: Buffer
  fingerprint: Buffer
  /** The answer as JSON; null while there is none. */
  answer: string | null
  created_at: Timestamp
}

/** A list's search, filters, order, columns and density under a name. */
export interface SavedViewsTable {
  id: string
  list: ListName
  name: string
  /** What follows `?` in the address of the list's page. */
  address: string
  /** Whoever made it; null once they are removed. */
  owner_id: string | null
  /** The only one who sees it, with whom it is removed; null if it is shared. */
  private_to: string | null
  created_at: Timestamp
  version: Generated<number>
}

/** What a person sees first of a list. */
export interface DefaultViewsTable {
  user_id: string
  list: ListName
  view_id: string
}

/** Backups that were made or tried. */
export interface BackupsTable {
  id: string
  /** A folder or an address without credentials. */
  place: string
  /** Whether BACKUP_SCHEDULE asked for it, not a person. */
  is_scheduled: boolean
  started_at: Timestamp
  /** When all of it was there; null while it is being made, and for one that failed. */
  finished_at: ColumnType<Date | null, Date | string | null | undefined, Date | string | null>
  /** When it was restored on trial and all was as it should be. */
  verified_at: ColumnType<Date | null, Date | string | null | undefined, Date | string | null>
  /** When it made room for newer ones. */
  removed_at: ColumnType<Date | null, Date | string | null | undefined, Date | string | null>
  rows: number | null
  bytes: number | null
  /** Why it could not be made, or why it is of no use. */
  error: string | null
}

/** Schedules by which servers have made backups. */
export interface BackupSchedulesTable {
  /** BACKUP_URL, without credentials. */
  place: string
  /** BACKUP_SCHEDULE. */
  times: string
  /** When a server had it for the first time. */
  since: Timestamp
}

/** One row while scheduled work waits for a person's go. */
export interface ScheduledWorkPausesTable {
  id: Generated<number>
  since: Timestamp
  reason: string
}
