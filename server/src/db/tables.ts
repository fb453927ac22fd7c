/**
 * The tables as Kysely sees them. `node server/test/write-schema.ts` generates this file from the migrated database.
 * Do not edit it. Comments come from the migrations, types that PostgreSQL does not know from
 * server/test/column-type-overrides.ts.
 */
import type { ColumnType } from 'kysely'
import type { announcementTypeLabels, LinkType } from '@arcade/contract/announcements/fields'
import type { BotScope } from '@arcade/contract/bot-tokens/fields'
import type { HistoryKind } from '@arcade/contract/history/fields'
import type { ListName } from '@arcade/contract/lists'
import type { NoteKind } from '@arcade/contract/notes/fields'
import type { TaskCollection } from '@arcade/contract/tasks/fields'
import type { Role } from '@arcade/contract/team/fields'
import type { TrashKind } from '@arcade/contract/trash/fields'
import type { UserType } from '@arcade/contract/users/fields'
import type { WebhookEvent } from '@arcade/contract/webhooks/fields'

/** A column with a default, which an INSERT may leave out. */
type Generated<T> =
  T extends ColumnType<infer S, infer I, infer U> ? ColumnType<S, I | undefined, U> : ColumnType<T, T | undefined, T>
/** A `numeric` column: exact in the database; the driver parses it to a number. */
type Decimal = ColumnType<number, number | string, number | string>
type Timestamp = ColumnType<Date, Date | string, Date | string>

export interface Tables {
  accounts: AccountsTable
  adjusted_points: AdjustedPointsTable
  announcements: AnnouncementsTable
  attempt_windows: AttemptWindowsTable
  audit_entries: AuditEntriesTable
  audit_head: AuditHeadTable
  audit_log: AuditLogTable
  audit_open: AuditOpenTable
  backup_schedules: BackupSchedulesTable
  backups: BackupsTable
  balances: BalancesTable
  bot_tokens: BotTokensTable
  broadcast_chunks: BroadcastChunksTable
  broadcast_recipients: BroadcastRecipientsTable
  broadcasts: BroadcastsTable
  counter_deltas: CounterDeltasTable
  counters: CountersTable
  dashboard_looks: DashboardLooksTable
  default_views: DefaultViewsTable
  email_changes: EmailChangesTable
  erased_players: ErasedPlayersTable
  file_removals: FileRemovalsTable
  history_items: HistoryItemsTable
  idempotency_keys: IdempotencyKeysTable
  invitations: InvitationsTable
  item_quotas: ItemQuotasTable
  known_addresses: KnownAddressesTable
  ledger_entries: LedgerEntriesTable
  mails: MailsTable
  migrations: MigrationsTable
  moved_documents: MovedDocumentsTable
  note_mentions: NoteMentionsTable
  notes: NotesTable
  oidc_flows: OidcFlowsTable
  oidc_links: OidcLinksTable
  operator_telegrams: OperatorTelegramsTable
  participations: ParticipationsTable
  passkey_challenges: PasskeyChallengesTable
  passkeys: PasskeysTable
  password_links: PasswordLinksTable
  password_requests: PasswordRequestsTable
  password_resets: PasswordResetsTable
  pending_sign_ins: PendingSignInsTable
  player_keys: PlayerKeysTable
  player_messages: PlayerMessagesTable
  player_visits: PlayerVisitsTable
  recovery_codes: RecoveryCodesTable
  role_settings: RoleSettingsTable
  saved_views: SavedViewsTable
  scheduled_work_pauses: ScheduledWorkPausesTable
  secrets: SecretsTable
  sessions: SessionsTable
  setup_links: SetupLinksTable
  status_epoch: StatusEpochTable
  tasks: TasksTable
  telegram_link_codes: TelegramLinkCodesTable
  telegram_pace: TelegramPaceTable
  telegram_users: TelegramUsersTable
  totp_secrets: TotpSecretsTable
  trash: TrashTable
  uncounted_entries: UncountedEntriesTable
  users: UsersTable
  webhook_deliveries: WebhookDeliveriesTable
  webhooks: WebhooksTable
}

/** What a user signs in with. It exists apart from the row in users, so either can be missing (§8 No such document!). */
export interface AccountsTable {
  id: string
  email: string
  password_hash: string
  created_at: Generated<Timestamp>
}

/** The points that a person’s adjustments and reversals gave and took on the last day (UTC) with any, added up. */
export interface AdjustedPointsTable {
  user_id: string
  day: Timestamp
  points: Decimal
}

/** Announcements (§5). */
export interface AnnouncementsTable {
  id: string
  type: keyof typeof announcementTypeLabels
  title: string
  subtitle: string
  description: string | null
  link: string | null
  link_type: LinkType | null
  input_text: string | null
  reward: Decimal
  status: Generated<boolean>
  image_key: string | null
  image_name: string | null
  icon_key: string | null
  icon_name: string | null
  created_at: Generated<Timestamp>
  version: Generated<number>
  /** The news number of the last activation; 0 if it was never active. */
  news: Generated<number>
  verified_by_bot: Generated<boolean>
  /** Fields that the console has no place for, as JSON, kept by a move-in. */
  from_before: string | null
  /** When the item starts; null if no start is set. */
  starts_at: Timestamp | null
  /** When the item ends; null if no end is set. */
  ends_at: Timestamp | null
  /** The most players that can take part; null if there is no limit. */
  max_participants: number | null
  /** The most points that the item pays in a UTC day; null if there is no limit. */
  daily_budget: Decimal | null
  /** The view of players for whom the item is; null if it is for everyone. */
  segment_id: string | null
  /** Whether the start is still to be carried out. It is cleared then, so that a clock set back starts nothing twice. */
  start_pending: Generated<boolean>
  /** Whether the end is still to be carried out. */
  end_pending: Generated<boolean>
  /** When the last place was taken; null if there are places left or there is no limit. */
  full_at: Timestamp | null
  /** The UTC day on which the points of the day ran out last. */
  budget_spent_on: Timestamp | null
}

/** Attempts that are limited against guessing, counted from the first one of a window. */
export interface AttemptWindowsTable {
  key: string
  /** The time of the first attempt in the window. */
  started_at: Timestamp
  /** The number of attempts in the window. */
  count: number
}

/** Sealed audit entries. They form a chain of hashes in the order of seq, which has no gaps. */
export interface AuditEntriesTable {
  id: string
  at: Generated<Timestamp>
  /** The request or command that the entry belongs to. */
  act_id: string
  action: string
  actor_kind: string
  actor_id: string | null
  actor_name: string | null
  address: string | null
  origin: string | null
  device: string | null
  /** Null once the data of the actor was erased. */
  actor_salt: string | null
  actor_commitment: Buffer
  record_kind: string | null
  record_id: string | null
  record_name: string | null
  changes: unknown
  detail: unknown
  /** Null once the data of the record was erased. */
  record_salt: string | null
  record_commitment: Buffer
  seq: number
  hash: Buffer
}

/** One row: the last sealed audit entry, and the last one that was dropped because of its age. */
export interface AuditHeadTable {
  id: Generated<number>
  seq: number
  hash: Buffer
  base_seq: Generated<number>
  base_hash: Buffer
}

/** The log that the audit replaced. */
export interface AuditLogTable {
  id: string
  at: Generated<Timestamp>
  actor_id: string | null
  action: string
  target: string
  detail: Generated<unknown>
  request_id: string | null
  address: string | null
  origin: string | null
}

/** Audit entries that are not sealed yet. */
export interface AuditOpenTable {
  id: string
  at: Generated<Timestamp>
  /** The request or command that the entry belongs to. */
  act_id: string
  action: string
  actor_kind: string
  actor_id: string | null
  actor_name: string | null
  address: string | null
  origin: string | null
  device: string | null
  /** Null once the data of the actor was erased. */
  actor_salt: string | null
  actor_commitment: Buffer
  record_kind: string | null
  record_id: string | null
  record_name: string | null
  changes: unknown
  detail: unknown
  /** Null once the data of the record was erased. */
  record_salt: string | null
  record_commitment: Buffer
}

/** Backup schedules that servers have had. */
export interface BackupSchedulesTable {
  /** BACKUP_URL without credentials. */
  place: string
  /** BACKUP_SCHEDULE. */
  times: string
  /** When a server had this schedule for the first time. */
  since: Generated<Timestamp>
}

/** Backups that were made or tried. */
export interface BackupsTable {
  id: string
  /** A folder, or an address without credentials. */
  place: string
  /** Whether BACKUP_SCHEDULE asked for it; false if a person did. */
  is_scheduled: boolean
  started_at: Generated<Timestamp>
  /** When the backup was complete; null while it is being made and if it failed. */
  finished_at: Timestamp | null
  /** When a trial restore of the backup succeeded. */
  verified_at: Timestamp | null
  /** When the backup was removed in favour of newer ones. */
  removed_at: Timestamp | null
  rows: number | null
  bytes: number | null
  /** Why the backup failed or cannot be used. */
  error: string | null
  /** Whether an admin started it in the console; false for scheduled ones and those of the command line. */
  is_of_console: Generated<boolean>
  /** The id of the admin who started it, unless that user was removed. */
  made_by: string | null
  /** What a server or command is doing with the backup now; null if nothing. */
  step: string | null
  /** How much of the making or verifying under way is done. */
  percent: number | null
  /** How many bytes the making or verifying under way has written or read. */
  done_bytes: number | null
  /** When an admin asked to cancel the making or verifying under way, or the making that was cancelled. */
  cancelled_at: Timestamp | null
  /** Why the last verification did not come to an end; null if it did. What is wrong with the backup itself is in error. */
  verify_error: string | null
}

/** One row for each player. The balance is the sum of the ledger entries of the player. */
export interface BalancesTable {
  user_id: number
  balance: Generated<Decimal>
  /** The balance that the last import brought. The next import adds its difference to this. */
  imported: Generated<Decimal>
  /** The number of ledger entries, which is also the number of the last one. */
  entries: Generated<number>
  /** When the player was blocked; null if the player is not blocked. */
  blocked_at: Timestamp | null
  /** The id of the user who blocked the player. */
  blocked_by: string | null
  /** Why the player was blocked. */
  block_reason: string | null
  /** What capped causes paid on the last day on which one did: amounts by day and cause. */
  given: unknown
}

/** Tokens with which bots call the API. */
export interface BotTokensTable {
  id: string
  name: string
  token_hash: Buffer
  created_at: Generated<Timestamp>
  scope: Generated<BotScope>
  rotated_at: Timestamp | null
  last_used_at: Timestamp | null
  /** The hash of the token before the last rotation, while that token still works. */
  previous_hash: Buffer | null
  previous_used_at: Timestamp | null
}

/** Recipients of a broadcast that one worker sends to, one after the other. */
export interface BroadcastChunksTable {
  broadcast: number
  chunk: number
  size: number
  leased_by: string | null
  lease_until: Timestamp | null
  done_at: Timestamp | null
  /** Recipients by their outcome when the chunk was last leased or released. */
  counts: unknown
}

export interface BroadcastRecipientsTable {
  user_id: number
  /** When the outcome was written; null for a message that waits and for the control group. */
  at: Timestamp | null
  broadcast: number
  chunk: number
  /** A number of broadcasts/outcomes.ts. */
  outcome: number
}

export interface BroadcastsTable {
  id: string
  /** Names the broadcast in the rows of recipients, shorter than the id. */
  number: number
  announcement_id: string
  title: string
  /** The message as it is sent, in JSON; null until sending begins. */
  content: string | null
  /** What Telegram calls the image after the first message with it, so that it is uploaded once. */
  photo_id: string | null
  /** The filter of the list of players, in JSON. */
  filter: string
  state: string
  is_paused: Generated<boolean>
  /** Why the console paused or cancelled the broadcast by itself. */
  problem: string | null
  send_at: Timestamp | null
  ends_at: Timestamp | null
  /** Percent of the players who get no message, to compare them with the others. */
  hold_back: Generated<number>
  /** The price of a message of paid sending, which an operator confirmed; null if sending is not paid. */
  stars_each: Decimal | null
  stars_most: Decimal | null
  made_by: string | null
  made_at: Generated<Timestamp>
  started_at: Timestamp | null
  /** Players up to this id have been looked at; null before the first. */
  planned_up_to: number | null
  planned_at: Timestamp | null
  done_at: Timestamp | null
  /** Recipients by their outcome when the broadcast was done or cancelled. */
  counts: unknown
}

/** Pending changes of counters, which a background task folds into counters. */
export interface CounterDeltasTable {
  /** The player whom the change is about, 0 for none. Citus distributes the table by it. */
  user_id: number
  id: Generated<string>
  name: string
  delta: Decimal
}

/** The folded values. A counter is its row here plus its rows in counter_deltas and uncounted_entries. */
export interface CountersTable {
  name: string
  /** An integer, except for sums of rewards. */
  value: Decimal
}

/** When an admin looked at the dashboard. A visit ends after half an hour without a look. */
export interface DashboardLooksTable {
  user_id: string
  /** The last look, of the present or the last visit. */
  seen_at: Generated<Timestamp>
  /** The last look of the visit before that one; null before the second visit. */
  looked_at: Timestamp | null
}

/** The view that a user sees first of a list. */
export interface DefaultViewsTable {
  user_id: string
  list: ListName
  view_id: string
}

/** A change of a person’s own e-mail address, which waits until it is confirmed at both. */
export interface EmailChangesTable {
  user_id: string
  new_email: string
  old_email: string
  /** The hash of the link that was mailed to the new address. */
  new_hash: Buffer
  /** The hash of the link that was mailed to the present address, which can also cancel the change. */
  old_hash: Buffer
  new_confirmed_at: Timestamp | null
  old_confirmed_at: Timestamp | null
  expires_at: Timestamp
}

/** Hashes of the ids of erased players, so that an import does not bring them back. */
export interface ErasedPlayersTable {
  id_hash: Buffer
}

/** Files that no row names and that wait to be removed from the file store. */
export interface FileRemovalsTable {
  key: string
  requested_at: Generated<Timestamp>
  /** Whether the removal has begun, so that no row may name the file any more. */
  is_removing: Generated<boolean>
  /** Whether a row named the file before. Such a file is no longer served, although its bytes are still stored. */
  is_withdrawn: Generated<boolean>
}

/** The history document of each task and announcement. It stays when the item is deleted. */
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
  created_at: Generated<Timestamp>
  /** Fields that the console has no place for, as JSON, kept by a move-in. */
  from_before: string | null
}

/** Requests with an Idempotency-Key that create something, and their answers. */
export interface IdempotencyKeysTable {
  /** A user or a bot. */
  caller: string
  key_hash: Buffer
  fingerprint: Buffer
  /** The answer as JSON; null while there is none. */
  answer: string | null
  created_at: Generated<Timestamp>
}

/** Links with which a person without an account makes one that has a role. */
export interface InvitationsTable {
  id: Generated<string>
  /** Null once the link was used: the account has the address then. */
  email: string | null
  /** Null for an account of the type user. */
  role: Role | null
  token_hash: Buffer
  /** Whose rights the link stands on: the admin who made it, or made it anew. */
  made_by: string
  made_at: Generated<Timestamp>
  expires_at: Timestamp
  used_at: Timestamp | null
}

/** What is left of the limits of items, each divided among several rows. The first claim of an item with a limit makes its rows. */
export interface ItemQuotasTable {
  kind: HistoryKind
  item_id: string
  /** What is limited: places are participants, points are what a UTC day may pay. */
  quota: 'places' | 'points'
  /** The UTC day of points; empty for places. */
  period: Generated<string>
  bucket: number
  /** The places or points left in this row; the sum of the rows is left in all. */
  remaining: Decimal
}

/** Addresses from which a user has signed in. */
export interface KnownAddressesTable {
  user_id: string
  /** SHA-256 of the address. */
  address_hash: Buffer
  seen_at: Generated<Timestamp>
}

/** Changes of balances. The entries of a player are numbered from 1 without gaps, and none is changed or removed. */
export interface LedgerEntriesTable {
  user_id: number
  seq: number
  amount: Decimal
  /** A cause of the console (claim, adjustment, …) or of the game. */
  cause: string
  /** The caller's own name for the payment, unique for each player and cause. */
  reference: string | null
  kind: HistoryKind | null
  item_id: string | null
  period: string | null
  by_kind: string | null
  by_id: string | null
  by_name: string | null
  /** The text that a person typed. */
  reason: string | null
  at: Generated<Timestamp>
  /** The balance after the entry. */
  balance: Decimal
}

/** Mails to be sent, and for some days those that were sent or given up. */
export interface MailsTable {
  id: Generated<string>
  kind: string
  user_id: string | null
  invitation_id: string | null
  recipient: string
  /** Subject and texts, encrypted with SECRET_KEY. Null once the mail was sent or given up, because it may hold a link. */
  content: Buffer | null
  attempts: Generated<number>
  created_at: Generated<Timestamp>
  /** When a server may try next: also the end of a lease. Null once the mail was sent or given up. */
  next_at: Generated<Timestamp | null>
  /** After this time the mail is of no use and is not tried again. */
  give_up_at: Timestamp
  sent_at: Timestamp | null
  given_up_at: Timestamp | null
  /** How the last attempt ended. */
  result: string | null
}

/** Migrations that were applied. */
export interface MigrationsTable {
  name: string
  applied_at: Generated<Timestamp>
}

/** Hashes of the documents that the last move-in has stored, some thousand in a row. */
export interface MovedDocumentsTable {
  part: number
  /** A hash of what became of the documents. */
  mapping: string
  hashes: Buffer
}

/** The colleagues whom a note mentions. */
export interface NoteMentionsTable {
  note_id: string
  user_id: string
  /** The name as the note has it, after an @. */
  name: string
  /** When the colleague saw the note; null until then. */
  seen_at: Timestamp | null
}

/** What the team writes about players and items. Notes of an item that is deleted stay until it is purged. */
export interface NotesTable {
  id: string
  kind: NoteKind
  /** The id of the item, or the player’s id as text. No foreign key: players are on other servers of a cluster. */
  record_id: string
  text: string
  /** The user who wrote the note. No foreign key: a user who is restored from the trash is the author again. */
  author_id: string
  created_at: Generated<Timestamp>
  edited_at: Timestamp | null
  /** When the note was deleted. It can be restored for a day. */
  removed_at: Timestamp | null
  version: Generated<number>
  searched_text: ColumnType<string, never, never>
}

/** Browsers that were sent to the sign-in service and have not come back. Coming back deletes the row. */
export interface OidcFlowsTable {
  state_hash: Buffer
  /** The hash of the token in the cookie of the browser that was sent. */
  browser_hash: Buffer
  /** Who is linking an account; null for somebody who signs in. */
  user_id: string | null
  expires_at: Timestamp
}

/** Accounts of a sign-in service (OpenID Connect) with which admins sign in. */
export interface OidcLinksTable {
  user_id: string
  issuer: string
  /** Who it is there: the sub of the service. */
  subject: string
  /** What the service called the person when the account was linked. */
  name: string | null
  linked_at: Generated<Timestamp>
  last_used_at: Timestamp | null
}

/** The Telegram account of an admin, to which the bot sends the tests of a broadcast. */
export interface OperatorTelegramsTable {
  user_id: string
  /** Telegram’s id of the account. Several admins may share one. */
  telegram_id: number
  linked_at: Generated<Timestamp>
}

/** Who completed which item: the users subcollection of a history document. */
export interface ParticipationsTable {
  user_id: number
  kind: HistoryKind
  item_id: string
  /** The UTC day for a daily task that repeats, else empty. */
  period: Generated<string>
  username: string | null
  first_name: string | null
  last_name: string | null
  user_input: string | null
  at: Generated<Timestamp>
  /** Fields that the console has no place for, as JSON, kept by a move-in. */
  from_before: string | null
}

/** Challenges that a browser was given and has not used. Using one deletes it. */
export interface PasskeyChallengesTable {
  challenge_hash: Buffer
  purpose: 'register' | 'sign-in' | 'second-factor' | 'step-up'
  /** Whom it is for; null for somebody who signs in with a passkey alone. */
  user_id: string | null
  expires_at: Timestamp
}

/** The passkeys of admins (WebAuthn): public keys, with which nobody can sign in. */
export interface PasskeysTable {
  id: Generated<string>
  user_id: string
  credential_id: Buffer
  /** A COSE key. */
  public_key: Buffer
  /** The signature counter of the last use. It only grows; 0 if the authenticator has none. */
  counter: number
  transports: string[]
  name: string
  /** singleDevice, or multiDevice for a passkey that can be on several devices. */
  device_type: 'singleDevice' | 'multiDevice'
  backed_up: boolean
  created_at: Generated<Timestamp>
  last_used_at: Timestamp | null
}

/** The last link to set a new password that was made for a user. */
export interface PasswordLinksTable {
  user_id: string
  token_hash: Buffer
  expires_at: Timestamp
  used_at: Timestamp | null
  /** The id of the admin who made the link. A link without a maker cannot be used. */
  made_by: string | null
}

/** Requests for a link to set a forgotten password; a background task answers them within seconds. */
export interface PasswordRequestsTable {
  id: Generated<string>
  /** Null if nobody has the e-mail address: the request takes the same work then. */
  user_id: string | null
  requested_at: Generated<Timestamp>
}

/** Links that were mailed to people who forgot their password. Beside password_links, so that a stranger cannot end a link of an admin. */
export interface PasswordResetsTable {
  token_hash: Buffer
  user_id: string
  expires_at: Timestamp
  used_at: Timestamp | null
}

/** Sign-ins whose password was right and that wait for the second factor. */
export interface PendingSignInsTable {
  token_hash: Buffer
  user_id: string
  /** The hash that the password matched: a new password ends the sign-in. Null if no password was asked for. */
  password_hash: string | null
  /** Codes that were tried. */
  attempts: Generated<number>
  expires_at: Timestamp
}

/** Requests with an Idempotency-Key that changed the balance of a player, and repetitions of such requests. */
export interface PlayerKeysTable {
  user_id: number
  /** A hash of the caller and the key. */
  key_hash: Buffer
  fingerprint: Buffer
  /** The ledger entry in the answer; null if the answer has none. */
  seq: number | null
  is_first: boolean
  created_at: Generated<Timestamp>
  /** The balance in the answer if it has no ledger entry. */
  balance: Decimal | null
}

/** Whether the bot can send a player messages. A player without a row can be sent some, as far as is known. */
export interface PlayerMessagesTable {
  user_id: number
  /** When Telegram refused a message to the player; null since the player came back. */
  unreachable_at: Timestamp | null
  /** What Telegram answered. */
  unreachable_reason: string | null
  /** When the player asked for no more messages; null if the player did not. */
  opted_out_at: Timestamp | null
}

/** When each player was last seen: by the own client, or when the bot called for the player. Accurate to an hour. */
export interface PlayerVisitsTable {
  user_id: number
  seen_at: Timestamp
}

/** The recovery codes that a person has left. A code is deleted when it is used. */
export interface RecoveryCodesTable {
  user_id: string
  code_hash: Buffer
}

/** What owners have decided about a role; a role without a row has the settings of the contract. */
export interface RoleSettingsTable {
  role: Role
  /** Whether the role sees personal fields of players. */
  sees_personal: boolean
  /** The most points that one adjustment may give or take. */
  max_adjustment: Decimal | null
  /** The most points that one person may give and take in a UTC day, added up. */
  max_adjusted_daily: Decimal | null
  /** The most records that one bulk act may change. */
  max_bulk: number | null
}

/** Views: the search, filters, order, columns and density of a list, saved under a name. */
export interface SavedViewsTable {
  id: string
  list: ListName
  name: string
  /** The part after ? in the address of the list's page. */
  address: string
  /** The user who made the view; null once that user is removed. */
  owner_id: string | null
  /** The only user who sees the view, which is removed with that user; null if the view is shared. */
  private_to: string | null
  created_at: Generated<Timestamp>
  version: Generated<number>
}

/** One row while scheduled work waits until a person lets it continue. */
export interface ScheduledWorkPausesTable {
  id: Generated<number>
  since: Generated<Timestamp>
  reason: string
}

/** Keys that the servers of an installation share. */
export interface SecretsTable {
  name: string
  value: Buffer
}

/** Sessions of users who are signed in. */
export interface SessionsTable {
  /** SHA-256 of the token, which itself is only in the cookie. */
  token_hash: Buffer
  user_id: string
  created_at: Generated<Timestamp>
  last_seen_at: Generated<Timestamp>
  /** Identifies the session in the user's list of own sessions. */
  id: Generated<string>
  /** For example Chrome on Windows. */
  device: Generated<string>
  /** The address of the sign-in: an IPv4 address or the /64 network of an IPv6 one; empty if a server of an older version began the session. */
  begun_address: Generated<string>
  /** The address of the last use, about as accurate as last_seen_at: an IPv4 address or the /64 network of an IPv6 one; empty if a server of an older version began the session. */
  last_address: Generated<string>
  /** When the person last proved the second factor in this session. */
  second_factor_at: Timestamp | null
}

/** Links to create the first administrator. */
export interface SetupLinksTable {
  token_hash: Buffer
  expires_at: Timestamp
}

/** One row: the news number, which each activation of an announcement raises. */
export interface StatusEpochTable {
  id: Generated<number>
  epoch: number
}

/** Social and daily tasks (§5). */
export interface TasksTable {
  collection: TaskCollection
  id: string
  image: string
  priority: Decimal
  title: string
  link: string | null
  reward: Decimal
  created_at: Generated<Timestamp>
  version: Generated<number>
  verified_by_bot: Generated<boolean>
  /** Fields that the console has no place for, as JSON, kept by a move-in. */
  from_before: string | null
  /** When the item starts; null if no start is set. */
  starts_at: Timestamp | null
  /** When the item ends; null if no end is set. */
  ends_at: Timestamp | null
  /** The most players that can take part; null if there is no limit. */
  max_participants: number | null
  /** The most points that the item pays in a UTC day; null if there is no limit. */
  daily_budget: Decimal | null
  /** The view of players for whom the item is; null if it is for everyone. */
  segment_id: string | null
  /** Whether the start is still to be carried out. It is cleared then, so that a clock set back starts nothing twice. */
  start_pending: Generated<boolean>
  /** Whether the end is still to be carried out. */
  end_pending: Generated<boolean>
  /** When the last place was taken; null if there are places left or there is no limit. */
  full_at: Timestamp | null
  /** The UTC day on which the points of the day ran out last. */
  budget_spent_on: Timestamp | null
  /** Whether an operator has paused the task: nobody can claim it. */
  paused: Generated<boolean>
}

/** The last code that an admin made to link a Telegram account. It is deleted when it is used. */
export interface TelegramLinkCodesTable {
  user_id: string
  code_hash: Buffer
  expires_at: Timestamp
}

/** One row: the time of the next message of all servers, and until when they wait. */
export interface TelegramPaceTable {
  id: Generated<boolean>
  next_at: Generated<Timestamp>
  /** Nobody waits before this time, which only a clock that was set back shows. */
  waiting_since: Timestamp | null
  waiting_until: Timestamp | null
  reason: string | null
}

/** Players. Their balances are in balances. */
export interface TelegramUsersTable {
  user_id: number
  created_at: Timestamp | null
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
  /** The highest news number that the player has seen. */
  seen_status_epoch: Generated<number>
  searched_text: ColumnType<string, never, never>
  /** Fields that the console has no place for, as JSON, kept by a move-in. */
  from_before: string | null
  /** When the game last set details of the player; null if only imports did. */
  details_set_at: Timestamp | null
}

/** The authenticator app of a person (RFC 6238), a second factor once it is confirmed. */
export interface TotpSecretsTable {
  user_id: string
  /** The confirmed secret, encrypted with SECRET_KEY. */
  secret: Buffer | null
  confirmed_at: Timestamp | null
  /** The step of 30 seconds of the last accepted code: codes of it and of earlier steps do not count. */
  last_step: number | null
  /** A secret that is not confirmed yet, encrypted. */
  new_secret: Buffer | null
  new_secret_at: Timestamp | null
}

/** Deleted records that can be restored until they expire. */
export interface TrashTable {
  id: string
  act_id: string
  kind: TrashKind
  record_id: string
  name: string
  /** The deleted rows, as PostgreSQL writes rows as JSON: row and, for a user, account, views, sharedViews, defaultViews. */
  content: unknown
  deleted_by_id: string | null
  deleted_by: string | null
  deleted_at: Generated<Timestamp>
  expires_at: Timestamp
}

/** Ledger entries that no counter includes yet, with what the counters need of each. */
export interface UncountedEntriesTable {
  user_id: number
  seq: number
  at: Timestamp
  amount: Decimal
  /** The balance after the entry. */
  balance: Decimal
  /** The kind of the claimed item; null if the entry is not a claim. */
  kind: HistoryKind | null
  item_id: string | null
}

/** Users of the console (§4). */
export interface UsersTable {
  id: string
  fname: string
  lname: string
  email: string
  user_type: UserType
  created_at: Generated<Timestamp>
  version: Generated<number>
  last_seen_at: Timestamp | null
  searched_text: ColumnType<string, never, never>
  /** Fields that the console has no place for, as JSON, kept by a move-in. */
  from_before: string | null
  /** What an admin may do; an admin without one is an owner. Without meaning for a user. */
  role: Role | null
}

/** Events for webhooks. A delivery is pending while next_at is set. */
export interface WebhookDeliveriesTable {
  id: string
  webhook_id: string
  event: string
  payload: string
  created_at: Generated<Timestamp>
  attempts: Generated<number>
  tried_at: Timestamp | null
  /** When delivery is tried next; null if it is not tried any more. */
  next_at: Generated<Timestamp | null>
  delivered_at: Timestamp | null
  /** The result of the last attempt. */
  result: string | null
}

/** Addresses to which the console sends events. */
export interface WebhooksTable {
  id: string
  url: string
  events: WebhookEvent[]
  /** The secret that signs deliveries, encrypted with SECRET_KEY. */
  secret: Buffer
  created_at: Generated<Timestamp>
  /** Since when no delivery has succeeded. */
  failing_since: Timestamp | null
  switched_off_at: Timestamp | null
  /** Why the console switched the webhook off. */
  alert: string | null
}
