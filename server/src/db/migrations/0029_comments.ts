/** Says in the database what its tables and columns mean. `server/src/db/schema.sql` and `tables.ts` show these comments. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, comment] of Object.entries(tableComments))
    await sql`comment on table ${sql.table(table)} is ${sql.lit(comment)}`.execute(db)
  for (const [table, columns] of Object.entries(columnComments))
    for (const [column, comment] of Object.entries(columns))
      await sql`comment on column ${sql.table(table)}.${sql.ref(column)} is ${sql.lit(comment)}`.execute(db)
}

const tableComments: Readonly<Record<string, string>> = {
  accounts: 'What a user signs in with. It exists apart from the row in users, so either can be missing (§8 No such document!).',
  announcements: 'Announcements (§5).',
  attempt_windows: 'Attempts that are limited against guessing, counted from the first one of a window.',
  audit_entries: 'Sealed audit entries. They form a chain of hashes in the order of seq, which has no gaps.',
  audit_head: 'One row: the last sealed audit entry, and the last one that was dropped because of its age.',
  audit_log: 'The log that the audit replaced.',
  audit_open: 'Audit entries that are not sealed yet.',
  backup_schedules: 'Backup schedules that servers have had.',
  backups: 'Backups that were made or tried.',
  balances: 'One row for each player. The balance is the sum of the ledger entries of the player.',
  bot_tokens: 'Tokens with which bots call the API.',
  counter_deltas: 'Pending changes of counters, which a background task folds into counters.',
  counters: 'The folded values. A counter is its row here plus its rows in counter_deltas and uncounted_entries.',
  default_views: 'The view that a user sees first of a list.',
  erased_players: 'Hashes of the ids of erased players, so that an import does not bring them back.',
  file_removals: 'Files that no row names and that wait to be removed from the file store.',
  history_items: 'The history document of each task and announcement. It stays when the item is deleted.',
  idempotency_keys: 'Requests with an Idempotency-Key that create something, and their answers.',
  known_addresses: 'Addresses from which a user has signed in.',
  ledger_entries:
    'Changes of balances. The entries of a player are numbered from 1 without gaps, and none is changed or removed.',
  migrations: 'Migrations that were applied.',
  participations: 'Who completed which item: the users subcollection of a history document.',
  password_links: 'The last link to set a new password that was made for a user.',
  player_keys: 'Requests with an Idempotency-Key that changed the balance of a player, and repetitions of such requests.',
  saved_views: 'Views: the search, filters, order, columns and density of a list, saved under a name.',
  scheduled_work_pauses: 'One row while scheduled work waits until a person lets it continue.',
  secrets: 'Keys that the servers of an installation share.',
  sessions: 'Sessions of users who are signed in.',
  setup_links: 'Links to create the first administrator.',
  status_epoch: 'One row: the news number, which each activation of an announcement raises.',
  tasks: 'Social and daily tasks (§5).',
  telegram_users: 'Players. Their balances are in balances.',
  trash: 'Deleted records that can be restored until they expire.',
  uncounted_entries: 'Ledger entries that no counter includes yet, with what the counters need of each.',
  users: 'Users of the console (§4).',
  webhook_deliveries: 'Events for webhooks. A delivery is pending while next_at is set.',
  webhooks: 'Addresses to which the console sends events.',
}

const auditComments = {
  act_id: 'The request or command that the entry belongs to.',
  actor_salt: 'Null once the data of the actor was erased.',
  record_salt: 'Null once the data of the record was erased.',
}

const columnComments: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  announcements: { news: 'The news number of the last activation; 0 if it was never active.' },
  attempt_windows: {
    started_at: 'The time of the first attempt in the window.',
    count: 'The number of attempts in the window.',
  },
  audit_entries: auditComments,
  audit_open: auditComments,
  backup_schedules: {
    place: 'BACKUP_URL without credentials.',
    times: 'BACKUP_SCHEDULE.',
    since: 'When a server had this schedule for the first time.',
  },
  backups: {
    place: 'A folder, or an address without credentials.',
    is_scheduled: 'Whether BACKUP_SCHEDULE asked for it; false if a person did.',
    finished_at: 'When the backup was complete; null while it is being made and if it failed.',
    verified_at: 'When a trial restore of the backup succeeded.',
    removed_at: 'When the backup was removed in favour of newer ones.',
    error: 'Why the backup failed or cannot be used.',
  },
  balances: {
    imported: 'The balance that the last import brought. The next import adds its difference to this.',
    entries: 'The number of ledger entries, which is also the number of the last one.',
    blocked_at: 'When the player was blocked; null if the player is not blocked.',
    blocked_by: 'The id of the user who blocked the player.',
    block_reason: 'Why the player was blocked.',
    given: 'What capped causes paid on the last day on which one did: amounts by day and cause.',
  },
  bot_tokens: {
    previous_hash: 'The hash of the token before the last rotation, while that token still works.',
  },
  counter_deltas: { user_id: 'The player whom the change is about, 0 for none. Citus distributes the table by it.' },
  counters: { value: 'An integer, except for sums of rewards.' },
  file_removals: {
    is_removing: 'Whether the removal has begun, so that no row may name the file any more.',
    is_withdrawn: 'Whether a row named the file before. Such a file is no longer served, although its bytes are still stored.',
  },
  idempotency_keys: {
    caller: 'A user or a bot.',
    answer: 'The answer as JSON; null while there is none.',
  },
  known_addresses: { address_hash: 'SHA-256 of the address.' },
  ledger_entries: {
    cause: 'A cause of the console (claim, adjustment, …) or of the game.',
    reference: "The caller's own name for the payment, unique for each player and cause.",
    reason: 'The text that a person typed.',
    balance: 'The balance after the entry.',
  },
  participations: { period: 'The UTC day for a daily task that repeats, else empty.' },
  player_keys: {
    key_hash: 'A hash of the caller and the key.',
    seq: 'The ledger entry in the answer; null if the answer has none.',
    balance: 'The balance in the answer if it has no ledger entry.',
  },
  saved_views: {
    address: "The part after ? in the address of the list's page.",
    owner_id: 'The user who made the view; null once that user is removed.',
    private_to: 'The only user who sees the view, which is removed with that user; null if the view is shared.',
  },
  sessions: {
    token_hash: 'SHA-256 of the token, which itself is only in the cookie.',
    id: "Identifies the session in the user's list of own sessions.",
    device: 'For example Chrome on Windows.',
  },
  telegram_users: { seen_status_epoch: 'The highest news number that the player has seen.' },
  trash: {
    content:
      'The deleted rows, as PostgreSQL writes rows as JSON: row and, for a user, account, views, sharedViews, defaultViews.',
  },
  uncounted_entries: {
    balance: 'The balance after the entry.',
    kind: 'The kind of the claimed item; null if the entry is not a claim.',
  },
  webhook_deliveries: {
    next_at: 'When delivery is tried next; null if it is not tried any more.',
    result: 'The result of the last attempt.',
  },
  webhooks: {
    secret: 'The secret that signs deliveries, encrypted with SECRET_KEY.',
    failing_since: 'Since when no delivery has succeeded.',
    alert: 'Why the console switched the webhook off.',
  },
}
