/**
 * The error codes of violated database constraints. Uniqueness is left to the constraints: a check beforehand would miss what another
 * request writes in the meantime. A test compares this list with the schema.
 */
import type { ErrorCode } from '@arcade/contract/errors'

export const constraintCodes: Record<string, ErrorCode> = {
  // Two requests want the same value, or one needs a row that another has just removed.
  accounts_email_key: 'CREATE_USER_FAILED',
  users_email_key: 'CREATE_USER_FAILED',
  tasks_priority_key: 'PRIORITY_TAKEN',
  sessions_user_id_fkey: 'LOGIN_FAILED', // the account was removed while the person was signing in
  known_addresses_user_id_fkey: 'LOGIN_FAILED',
  password_links_user_id_fkey: 'NO_SUCH_USER',
  password_links_made_by_fkey: 'SIGNED_OUT',
  bot_tokens_name_key: 'TOKEN_NAME_TAKEN',
  webhook_deliveries_webhook_id_fkey: 'NO_SUCH_WEBHOOK',
  saved_views_name_key: 'VIEW_NAME_TAKEN',
  saved_views_owner_id_fkey: 'SIGNED_OUT', // the account was removed while the person was saving a view
  saved_views_private_to_fkey: 'SIGNED_OUT',
  default_views_user_id_fkey: 'SIGNED_OUT',
  default_views_view_id_fkey: 'NO_SUCH_VIEW',

  // Two rows with the same key, inserted by two requests that both found none.
  accounts_pkey: 'CREATE_USER_FAILED',
  users_pkey: 'CREATE_USER_FAILED',
  sessions_pkey: 'STALE',
  attempt_windows_pkey: 'STALE',
  known_addresses_pkey: 'STALE',
  secrets_pkey: 'STALE',
  backup_schedules_pkey: 'STALE',
  setup_links_pkey: 'STALE',
  password_links_pkey: 'STALE',
  password_links_token_hash_key: 'STALE',
  bot_tokens_pkey: 'STALE',
  bot_tokens_token_hash_key: 'STALE',
  bot_tokens_previous_hash_key: 'STALE',
  audit_log_pkey: 'STALE',
  audit_open_pkey: 'STALE',
  audit_entries_seq_key: 'STALE',
  audit_head_pkey: 'STALE',
  telegram_users_pkey: 'STALE',
  balances_pkey: 'STALE',
  ledger_entries_pkey: 'STALE',
  ledger_entries_reference: 'STALE',
  player_keys_pkey: 'STALE',
  erased_players_pkey: 'STALE',
  tasks_pkey: 'STALE',
  announcements_pkey: 'STALE',
  history_items_pkey: 'STALE',
  participations_pkey: 'STALE',
  status_epoch_pkey: 'STALE',
  counters_pkey: 'STALE',
  counter_deltas_pkey: 'STALE',
  uncounted_entries_pkey: 'STALE',
  file_removals_pkey: 'STALE',
  idempotency_keys_pkey: 'STALE',
  saved_views_pkey: 'STALE',
  trash_pkey: 'STALE',
  default_views_pkey: 'STALE',
  backups_pkey: 'STALE',
  webhooks_pkey: 'STALE',
  webhook_deliveries_pkey: 'STALE',
  scheduled_work_pauses_pkey: 'STALE',

  // Values that the schemas of the calls refuse before they reach the database.
  users_user_type_check: 'INVALID_INPUT',
  balances_balance_check: 'INVALID_INPUT',
  bot_tokens_scope_check: 'INVALID_INPUT',
  tasks_collection_check: 'INVALID_INPUT',
  announcements_type_check: 'INVALID_INPUT',
  announcements_link_type_check: 'INVALID_INPUT',
  history_items_kind_check: 'INVALID_INPUT',
  status_epoch_id_check: 'INVALID_INPUT',
  scheduled_work_pauses_id_check: 'INVALID_INPUT',
  trash_kind_check: 'INVALID_INPUT',
  audit_head_id_check: 'INVALID_INPUT',
}
