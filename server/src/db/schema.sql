-- The schema that all migrations together create. This file is for reading only: the server runs the migrations.
-- `node server/test/write-schema.ts` generates it; do not edit it. Comments come from the database, too.

CREATE EXTENSION pg_trgm;

-- The collation a_to_z: server/src/db/collations.ts makes it from what the server offers.

-- The collation letters: server/src/db/collations.ts makes it from what the server offers.

-- What a user signs in with. It exists apart from the row in users, so either can be missing (§8 No such document!).
CREATE TABLE accounts (
  id text NOT NULL,
  email text NOT NULL,
  password_hash text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT accounts_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX accounts_email_key ON accounts USING btree (lower((email COLLATE letters)));

-- The points that a person’s adjustments and reversals gave and took on the last day (UTC) with any, added up.
CREATE TABLE adjusted_points (
  user_id text NOT NULL,
  day date NOT NULL,
  points numeric NOT NULL,
  CONSTRAINT adjusted_points_pkey PRIMARY KEY (user_id),
  CONSTRAINT adjusted_points_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

-- Announcements (§5).
CREATE TABLE announcements (
  id text NOT NULL,
  type text NOT NULL,
  title text NOT NULL,
  subtitle text NOT NULL,
  description text,
  link text,
  link_type text,
  input_text text,
  reward numeric NOT NULL,
  status boolean NOT NULL DEFAULT false,
  image_key text,
  image_name text,
  icon_key text,
  icon_name text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  version integer NOT NULL DEFAULT 1,
  -- The news number of the last activation; 0 if it was never active.
  news bigint NOT NULL DEFAULT 0,
  verified_by_bot boolean NOT NULL DEFAULT false,
  -- Fields that the console has no place for, as JSON, kept by a move-in.
  from_before text,
  -- When the item starts; null if no start is set.
  starts_at timestamp with time zone,
  -- When the item ends; null if no end is set.
  ends_at timestamp with time zone,
  -- The most players that can take part; null if there is no limit.
  max_participants integer,
  -- The most points that the item pays in a UTC day; null if there is no limit.
  daily_budget numeric,
  -- The view of players for whom the item is; null if it is for everyone.
  segment_id text,
  -- Whether the start is still to be carried out. It is cleared then, so that a clock set back starts nothing twice.
  start_pending boolean NOT NULL DEFAULT false,
  -- Whether the end is still to be carried out.
  end_pending boolean NOT NULL DEFAULT false,
  -- When the last place was taken; null if there are places left or there is no limit.
  full_at timestamp with time zone,
  -- The UTC day on which the points of the day ran out last.
  budget_spent_on date,
  CONSTRAINT announcements_pkey PRIMARY KEY (id),
  CONSTRAINT announcements_link_type_check CHECK ((link_type = ANY (ARRAY['input'::text, 'noInput'::text]))),
  CONSTRAINT announcements_segment_id_fkey FOREIGN KEY (segment_id) REFERENCES saved_views(id) ON DELETE RESTRICT,
  CONSTRAINT announcements_type_check CHECK ((type = ANY (ARRAY['desc'::text, 'link'::text])))
);
CREATE INDEX announcements_order ON announcements USING btree (created_at, id COLLATE "C");
CREATE INDEX announcements_to_end ON announcements USING btree (ends_at) WHERE end_pending;
CREATE INDEX announcements_to_start ON announcements USING btree (starts_at) WHERE start_pending;

-- Attempts that are limited against guessing, counted from the first one of a window.
CREATE TABLE attempt_windows (
  key text NOT NULL,
  -- The time of the first attempt in the window.
  started_at timestamp with time zone NOT NULL,
  -- The number of attempts in the window.
  count integer NOT NULL,
  CONSTRAINT attempt_windows_pkey PRIMARY KEY (key)
);

-- Sealed audit entries. They form a chain of hashes in the order of seq, which has no gaps.
CREATE TABLE audit_entries (
  id uuid NOT NULL,
  at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  -- The request or command that the entry belongs to.
  act_id uuid NOT NULL,
  action text NOT NULL,
  actor_kind text NOT NULL,
  actor_id text,
  actor_name text,
  address text,
  origin text,
  device text,
  -- Null once the data of the actor was erased.
  actor_salt uuid,
  actor_commitment bytea NOT NULL,
  record_kind text,
  record_id text,
  record_name text,
  changes json,
  detail json,
  -- Null once the data of the record was erased.
  record_salt uuid,
  record_commitment bytea NOT NULL,
  seq bigint NOT NULL,
  hash bytea NOT NULL,
  CONSTRAINT audit_entries_seq_key PRIMARY KEY (seq)
);
CREATE INDEX audit_entries_act ON audit_entries USING btree (act_id);
CREATE INDEX audit_entries_actor_name_start ON audit_entries USING btree (lower((actor_name COLLATE letters)) text_pattern_ops);
CREATE INDEX audit_entries_by_action ON audit_entries USING btree (action, (at AT TIME ZONE 'UTC'::text) DESC, seq);
CREATE INDEX audit_entries_by_actor_id ON audit_entries USING btree (actor_id, (at AT TIME ZONE 'UTC'::text) DESC, seq);
CREATE INDEX audit_entries_by_actor_kind ON audit_entries USING btree (actor_kind, (at AT TIME ZONE 'UTC'::text) DESC, seq);
CREATE INDEX audit_entries_by_record_id ON audit_entries USING btree (record_id, (at AT TIME ZONE 'UTC'::text) DESC, seq);
CREATE INDEX audit_entries_by_record_kind ON audit_entries USING btree (record_kind, (at AT TIME ZONE 'UTC'::text) DESC, seq);
CREATE INDEX audit_entries_order ON audit_entries USING btree (at DESC, seq);
CREATE INDEX audit_entries_reason_start ON audit_entries USING btree (lower(("left"(COALESCE((detail ->> 'reason'::text), ((changes -> 'blocked'::text) ->> 1)), 100) COLLATE letters)) text_pattern_ops);
CREATE INDEX audit_entries_record ON audit_entries USING btree (record_id, seq);
CREATE INDEX audit_entries_record_name_start ON audit_entries USING btree (lower((record_name COLLATE letters)) text_pattern_ops);

-- One row: the last sealed audit entry, and the last one that was dropped because of its age.
CREATE TABLE audit_head (
  id smallint NOT NULL DEFAULT 1,
  seq bigint NOT NULL,
  hash bytea NOT NULL,
  base_seq bigint NOT NULL DEFAULT 0,
  base_hash bytea NOT NULL,
  CONSTRAINT audit_head_pkey PRIMARY KEY (id),
  CONSTRAINT audit_head_id_check CHECK ((id = 1))
);

-- The log that the audit replaced.
CREATE TABLE audit_log (
  id text NOT NULL,
  at timestamp with time zone NOT NULL DEFAULT now(),
  actor_id text,
  action text NOT NULL,
  target text NOT NULL,
  detail jsonb NOT NULL DEFAULT '{}'::jsonb,
  request_id text,
  address text,
  origin text,
  CONSTRAINT audit_log_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_log_at ON audit_log USING btree (at DESC);

-- Audit entries that are not sealed yet.
CREATE TABLE audit_open (
  id uuid NOT NULL,
  at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  -- The request or command that the entry belongs to.
  act_id uuid NOT NULL,
  action text NOT NULL,
  actor_kind text NOT NULL,
  actor_id text,
  actor_name text,
  address text,
  origin text,
  device text,
  -- Null once the data of the actor was erased.
  actor_salt uuid,
  actor_commitment bytea NOT NULL,
  record_kind text,
  record_id text,
  record_name text,
  changes json,
  detail json,
  -- Null once the data of the record was erased.
  record_salt uuid,
  record_commitment bytea NOT NULL,
  CONSTRAINT audit_open_pkey PRIMARY KEY (at, id)
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);

-- Backup schedules that servers have had.
CREATE TABLE backup_schedules (
  -- BACKUP_URL without credentials.
  place text NOT NULL,
  -- BACKUP_SCHEDULE.
  times text NOT NULL,
  -- When a server had this schedule for the first time.
  since timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT backup_schedules_pkey PRIMARY KEY (place, times)
);

-- Backups that were made or tried.
CREATE TABLE backups (
  id text NOT NULL,
  -- A folder, or an address without credentials.
  place text NOT NULL,
  -- Whether BACKUP_SCHEDULE asked for it; false if a person did.
  is_scheduled boolean NOT NULL,
  started_at timestamp with time zone NOT NULL DEFAULT now(),
  -- When the backup was complete; null while it is being made and if it failed.
  finished_at timestamp with time zone,
  -- When a trial restore of the backup succeeded.
  verified_at timestamp with time zone,
  -- When the backup was removed in favour of newer ones.
  removed_at timestamp with time zone,
  rows bigint,
  bytes bigint,
  -- Why the backup failed or cannot be used.
  error text,
  -- Whether an admin started it in the console; false for scheduled ones and those of the command line.
  is_of_console boolean NOT NULL DEFAULT false,
  -- The id of the admin who started it, unless that user was removed.
  made_by text,
  -- What a server or command is doing with the backup now; null if nothing.
  step text,
  -- How much of the making or verifying under way is done.
  percent smallint,
  -- How many bytes the making or verifying under way has written or read.
  done_bytes bigint,
  -- When an admin asked to cancel the making or verifying under way, or the making that was cancelled.
  cancelled_at timestamp with time zone,
  -- Why the last verification did not come to an end; null if it did. What is wrong with the backup itself is in error.
  verify_error text,
  CONSTRAINT backups_pkey PRIMARY KEY (id),
  CONSTRAINT backups_made_by_fkey FOREIGN KEY (made_by) REFERENCES users(id) ON DELETE SET NULL
);
CREATE INDEX backups_order ON backups USING btree (started_at DESC, id);

-- One row for each player. The balance is the sum of the ledger entries of the player.
CREATE TABLE balances (
  user_id bigint NOT NULL,
  balance numeric NOT NULL DEFAULT 0,
  -- The balance that the last import brought. The next import adds its difference to this.
  imported numeric NOT NULL DEFAULT 0,
  -- The number of ledger entries, which is also the number of the last one.
  entries bigint NOT NULL DEFAULT 0,
  -- When the player was blocked; null if the player is not blocked.
  blocked_at timestamp with time zone,
  -- The id of the user who blocked the player.
  blocked_by text,
  -- Why the player was blocked.
  block_reason text,
  -- What capped causes paid on the last day on which one did: amounts by day and cause.
  given jsonb,
  CONSTRAINT balances_pkey PRIMARY KEY (user_id),
  CONSTRAINT balances_balance_check CHECK ((abs(balance) <= ('9007199254740992'::bigint)::numeric))
);
CREATE INDEX balances_blocked ON balances USING btree (user_id) WHERE (blocked_at IS NOT NULL);
CREATE INDEX balances_by_balance ON balances USING btree (balance DESC, user_id);
CREATE INDEX balances_open_by_balance ON balances USING btree (balance DESC, user_id) WHERE (blocked_at IS NULL);

-- Tokens with which bots call the API.
CREATE TABLE bot_tokens (
  id text NOT NULL,
  name text NOT NULL,
  token_hash bytea NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  scope text NOT NULL DEFAULT 'play'::text,
  rotated_at timestamp with time zone,
  last_used_at timestamp with time zone,
  -- The hash of the token before the last rotation, while that token still works.
  previous_hash bytea,
  previous_used_at timestamp with time zone,
  CONSTRAINT bot_tokens_pkey PRIMARY KEY (id),
  CONSTRAINT bot_tokens_name_key UNIQUE (name),
  CONSTRAINT bot_tokens_previous_hash_key UNIQUE (previous_hash),
  CONSTRAINT bot_tokens_scope_check CHECK ((scope = ANY (ARRAY['read'::text, 'play'::text, 'admin'::text]))),
  CONSTRAINT bot_tokens_token_hash_key UNIQUE (token_hash)
);

-- Recipients of a broadcast that one worker sends to, one after the other.
CREATE TABLE broadcast_chunks (
  broadcast integer NOT NULL,
  chunk integer NOT NULL,
  size integer NOT NULL,
  leased_by text,
  lease_until timestamp with time zone,
  done_at timestamp with time zone,
  -- Recipients by their outcome when the chunk was last leased or released.
  counts json NOT NULL,
  CONSTRAINT broadcast_chunks_pkey PRIMARY KEY (broadcast, chunk)
);
CREATE INDEX broadcast_chunks_open ON broadcast_chunks USING btree (broadcast, chunk) WHERE (done_at IS NULL);

CREATE TABLE broadcast_recipients (
  user_id bigint NOT NULL,
  -- When the outcome was written; null for a message that waits and for the control group.
  at timestamp with time zone,
  broadcast integer NOT NULL,
  chunk integer NOT NULL,
  -- A number of broadcasts/outcomes.ts.
  outcome smallint NOT NULL,
  CONSTRAINT broadcast_recipients_pkey PRIMARY KEY (user_id, broadcast)
) WITH (fillfactor=85);
CREATE INDEX broadcast_recipients_chunk ON broadcast_recipients USING btree (broadcast, chunk);

CREATE TABLE broadcasts (
  id text NOT NULL,
  -- Names the broadcast in the rows of recipients, shorter than the id.
  number integer NOT NULL,
  announcement_id text NOT NULL,
  title text NOT NULL,
  -- The message as it is sent, in JSON; null until sending begins.
  content text,
  -- What Telegram calls the image after the first message with it, so that it is uploaded once.
  photo_id text,
  -- The filter of the list of players, in JSON.
  filter text NOT NULL,
  state text NOT NULL,
  is_paused boolean NOT NULL DEFAULT false,
  -- Why the console paused or cancelled the broadcast by itself.
  problem text,
  send_at timestamp with time zone,
  ends_at timestamp with time zone,
  -- Percent of the players who get no message, to compare them with the others.
  hold_back smallint NOT NULL DEFAULT 0,
  -- The price of a message of paid sending, which an operator confirmed; null if sending is not paid.
  stars_each numeric,
  stars_most numeric,
  made_by text,
  made_at timestamp with time zone NOT NULL DEFAULT now(),
  started_at timestamp with time zone,
  -- Players up to this id have been looked at; null before the first.
  planned_up_to bigint,
  planned_at timestamp with time zone,
  done_at timestamp with time zone,
  -- Recipients by their outcome when the broadcast was done or cancelled.
  counts json,
  CONSTRAINT broadcasts_pkey PRIMARY KEY (id),
  CONSTRAINT broadcasts_number_key UNIQUE (number),
  CONSTRAINT broadcasts_state_check CHECK ((state = ANY (ARRAY['scheduled'::text, 'planning'::text, 'sending'::text, 'done'::text, 'cancelled'::text])))
);

-- Pending changes of counters, which a background task folds into counters.
CREATE TABLE counter_deltas (
  -- The player whom the change is about, 0 for none. Citus distributes the table by it.
  user_id bigint NOT NULL,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  name text COLLATE "C" NOT NULL,
  delta numeric NOT NULL,
  CONSTRAINT counter_deltas_pkey PRIMARY KEY (user_id, id)
);
CREATE INDEX counter_deltas_name ON counter_deltas USING btree (name);

-- The folded values. A counter is its row here plus its rows in counter_deltas and uncounted_entries.
CREATE TABLE counters (
  name text COLLATE "C" NOT NULL,
  -- An integer, except for sums of rewards.
  value numeric NOT NULL,
  CONSTRAINT counters_pkey PRIMARY KEY (name)
);

-- When an admin looked at the dashboard. A visit ends after half an hour without a look.
CREATE TABLE dashboard_looks (
  user_id text NOT NULL,
  -- The last look, of the present or the last visit.
  seen_at timestamp with time zone NOT NULL DEFAULT now(),
  -- The last look of the visit before that one; null before the second visit.
  looked_at timestamp with time zone,
  CONSTRAINT dashboard_looks_pkey PRIMARY KEY (user_id),
  CONSTRAINT dashboard_looks_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

-- The view that a user sees first of a list.
CREATE TABLE default_views (
  user_id text NOT NULL,
  list text NOT NULL,
  view_id text NOT NULL,
  CONSTRAINT default_views_pkey PRIMARY KEY (user_id, list),
  CONSTRAINT default_views_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  CONSTRAINT default_views_view_id_fkey FOREIGN KEY (view_id) REFERENCES saved_views(id) ON DELETE CASCADE
);
CREATE INDEX default_views_view_id ON default_views USING btree (view_id);

-- A change of a person’s own e-mail address, which waits until it is confirmed at both.
CREATE TABLE email_changes (
  user_id text NOT NULL,
  new_email text NOT NULL,
  old_email text NOT NULL,
  -- The hash of the link that was mailed to the new address.
  new_hash bytea NOT NULL,
  -- The hash of the link that was mailed to the present address, which can also cancel the change.
  old_hash bytea NOT NULL,
  new_confirmed_at timestamp with time zone,
  old_confirmed_at timestamp with time zone,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT email_changes_pkey PRIMARY KEY (user_id),
  CONSTRAINT email_changes_new_hash_key UNIQUE (new_hash),
  CONSTRAINT email_changes_old_hash_key UNIQUE (old_hash),
  CONSTRAINT email_changes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

-- Hashes of the ids of erased players, so that an import does not bring them back.
CREATE TABLE erased_players (
  id_hash bytea NOT NULL,
  CONSTRAINT erased_players_pkey PRIMARY KEY (id_hash)
);

-- Files that no row names and that wait to be removed from the file store.
CREATE TABLE file_removals (
  key text NOT NULL,
  requested_at timestamp with time zone NOT NULL DEFAULT now(),
  -- Whether the removal has begun, so that no row may name the file any more.
  is_removing boolean NOT NULL DEFAULT false,
  -- Whether a row named the file before. Such a file is no longer served, although its bytes are still stored.
  is_withdrawn boolean NOT NULL DEFAULT false,
  CONSTRAINT file_removals_pkey PRIMARY KEY (key)
);

-- The history document of each task and announcement. It stays when the item is deleted.
CREATE TABLE history_items (
  kind text NOT NULL,
  item_id text NOT NULL,
  title text NOT NULL,
  type text NOT NULL,
  link text,
  link_type text,
  description text,
  input_text text,
  reward numeric NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  -- Fields that the console has no place for, as JSON, kept by a move-in.
  from_before text,
  CONSTRAINT history_items_pkey PRIMARY KEY (kind, item_id),
  CONSTRAINT history_items_kind_check CHECK ((kind = ANY (ARRAY['announcement'::text, 'social'::text, 'daily'::text])))
);

-- Requests with an Idempotency-Key that create something, and their answers.
CREATE TABLE idempotency_keys (
  -- A user or a bot.
  caller text NOT NULL,
  key_hash bytea NOT NULL,
  fingerprint bytea NOT NULL,
  -- The answer as JSON; null while there is none.
  answer text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (caller, key_hash)
);
CREATE INDEX idempotency_keys_created_at ON idempotency_keys USING btree (created_at);

-- Links with which a person without an account makes one that has a role.
CREATE TABLE invitations (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  -- Null once the link was used: the account has the address then.
  email text,
  -- Null for an account of the type user.
  role text,
  token_hash bytea NOT NULL,
  -- Whose rights the link stands on: the admin who made it, or made it anew.
  made_by text NOT NULL,
  made_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone NOT NULL,
  used_at timestamp with time zone,
  CONSTRAINT invitations_pkey PRIMARY KEY (id),
  CONSTRAINT invitations_made_by_fkey FOREIGN KEY (made_by) REFERENCES users(id) ON DELETE CASCADE,
  CONSTRAINT invitations_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'manager'::text, 'editor'::text, 'reviewer'::text, 'analyst'::text]))),
  CONSTRAINT invitations_token_hash_key UNIQUE (token_hash)
);
CREATE UNIQUE INDEX invitations_email_key ON invitations USING btree (lower((email COLLATE letters)));
CREATE INDEX invitations_made_by ON invitations USING btree (made_by);

-- What is left of the limits of items, each divided among several rows. The first claim of an item with a limit makes its rows.
CREATE TABLE item_quotas (
  kind text NOT NULL,
  item_id text NOT NULL,
  -- What is limited: places are participants, points are what a UTC day may pay.
  quota text NOT NULL,
  -- The UTC day of points; empty for places.
  period text NOT NULL DEFAULT ''::text,
  bucket smallint NOT NULL,
  -- The places or points left in this row; the sum of the rows is left in all.
  remaining numeric NOT NULL,
  CONSTRAINT item_quotas_pkey PRIMARY KEY (kind, item_id, quota, period, bucket),
  CONSTRAINT item_quotas_quota_check CHECK ((quota = ANY (ARRAY['places'::text, 'points'::text])))
);

-- Addresses from which a user has signed in.
CREATE TABLE known_addresses (
  user_id text NOT NULL,
  -- SHA-256 of the address.
  address_hash bytea NOT NULL,
  seen_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT known_addresses_pkey PRIMARY KEY (user_id, address_hash),
  CONSTRAINT known_addresses_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE
);

-- Changes of balances. The entries of a player are numbered from 1 without gaps, and none is changed or removed.
CREATE TABLE ledger_entries (
  user_id bigint NOT NULL,
  seq bigint NOT NULL,
  amount numeric NOT NULL,
  -- A cause of the console (claim, adjustment, …) or of the game.
  cause text NOT NULL,
  -- The caller's own name for the payment, unique for each player and cause.
  reference text,
  kind text,
  item_id text,
  period text,
  by_kind text,
  by_id text,
  by_name text,
  -- The text that a person typed.
  reason text,
  at timestamp with time zone NOT NULL DEFAULT now(),
  -- The balance after the entry.
  balance numeric NOT NULL,
  CONSTRAINT ledger_entries_pkey PRIMARY KEY (user_id, seq)
);
CREATE INDEX ledger_entries_by_user ON ledger_entries USING btree (by_id) WHERE (by_kind = 'user'::text);
CREATE UNIQUE INDEX ledger_entries_reference ON ledger_entries USING btree (user_id, cause, reference) WHERE (reference IS NOT NULL);

-- Mails to be sent, and for some days those that were sent or given up.
CREATE TABLE mails (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  kind text NOT NULL,
  user_id text,
  invitation_id uuid,
  recipient text NOT NULL,
  -- Subject and texts, encrypted with SECRET_KEY. Null once the mail was sent or given up, because it may hold a link.
  content bytea,
  attempts integer NOT NULL DEFAULT 0,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  -- When a server may try next: also the end of a lease. Null once the mail was sent or given up.
  next_at timestamp with time zone DEFAULT now(),
  -- After this time the mail is of no use and is not tried again.
  give_up_at timestamp with time zone NOT NULL,
  sent_at timestamp with time zone,
  given_up_at timestamp with time zone,
  -- How the last attempt ended.
  result text,
  CONSTRAINT mails_pkey PRIMARY KEY (id),
  CONSTRAINT mails_invitation_id_fkey FOREIGN KEY (invitation_id) REFERENCES invitations(id) ON DELETE CASCADE,
  CONSTRAINT mails_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX mails_invitation_id ON mails USING btree (invitation_id);
CREATE INDEX mails_next_at ON mails USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX mails_user_id ON mails USING btree (user_id);

-- Migrations that were applied.
CREATE TABLE migrations (
  name text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT migrations_pkey PRIMARY KEY (name)
);

-- Hashes of the documents that the last move-in has stored, some thousand in a row.
CREATE TABLE moved_documents (
  part integer NOT NULL,
  -- A hash of what became of the documents.
  mapping text NOT NULL,
  hashes bytea NOT NULL,
  CONSTRAINT moved_documents_pkey PRIMARY KEY (part)
);

-- The colleagues whom a note mentions.
CREATE TABLE note_mentions (
  note_id text NOT NULL,
  user_id text NOT NULL,
  -- The name as the note has it, after an @.
  name text NOT NULL,
  -- When the colleague saw the note; null until then.
  seen_at timestamp with time zone,
  CONSTRAINT note_mentions_pkey PRIMARY KEY (note_id, user_id),
  CONSTRAINT note_mentions_note_id_fkey FOREIGN KEY (note_id) REFERENCES notes(id) ON DELETE CASCADE
);
CREATE INDEX note_mentions_unseen ON note_mentions USING btree (user_id) WHERE (seen_at IS NULL);

-- What the team writes about players and items. Notes of an item that is deleted stay until it is purged.
CREATE TABLE notes (
  id text NOT NULL,
  kind text NOT NULL,
  -- The id of the item, or the player’s id as text. No foreign key: players are on other servers of a cluster.
  record_id text NOT NULL,
  text text NOT NULL,
  -- The user who wrote the note. No foreign key: a user who is restored from the trash is the author again.
  author_id text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  edited_at timestamp with time zone,
  -- When the note was deleted. It can be restored for a day.
  removed_at timestamp with time zone,
  version integer NOT NULL DEFAULT 1,
  searched_text text COLLATE "C" GENERATED ALWAYS AS (translate((
CASE
    WHEN (octet_length((' '::text || text)) = char_length((' '::text || text))) THEN translate(lower(((' '::text || text) COLLATE letters)), ('	
'::text || '''`'::text), '     '::text)
    ELSE translate(replace(replace(replace(replace(lower((regexp_replace(NORMALIZE(translate((' '::text || text), '´'::text, ''::text), NFKD), '[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\u0027\u0060\u02b9\u02bb\u02bc\u02bd\u2018\u2019\u201b\u2032\u2035]'::text, ''::text, 'g'::text) COLLATE letters)), 'ß'::text, 'ss'::text), 'æ'::text, 'ae'::text), 'œ'::text, 'oe'::text), 'þ'::text, 'th'::text), ('	
'::text || '   ֊־᐀᠆‐‒–—―⁃⁓−⸗⸚⸺⸻⹀⹝〜〰゠𐵮𐺭øđðħıłŧς'::text), '         -----------------------oddhiltσ'::text)
END COLLATE "C"), '_.-#'::text, 'QXZJ'::text)) STORED,
  CONSTRAINT notes_pkey PRIMARY KEY (id),
  CONSTRAINT notes_kind_check CHECK ((kind = ANY (ARRAY['player'::text, 'socialTask'::text, 'dailyTask'::text, 'announcement'::text])))
);
CREATE INDEX notes_of_record ON notes USING btree (kind, record_id, created_at);
CREATE INDEX notes_removed ON notes USING btree (removed_at) WHERE (removed_at IS NOT NULL);
CREATE INDEX notes_searched_characters ON notes USING gin (string_to_array(regexp_replace(searched_text, '[a-zA-Z0-9@ ]+'::text, ''::text, 'g'::text), NULL::text)) WHERE (searched_text ~ '[^a-zA-Z0-9@ ]'::text);
CREATE INDEX notes_searched_words ON notes USING gin (searched_text gin_trgm_ops);

-- Browsers that were sent to the sign-in service and have not come back. Coming back deletes the row.
CREATE TABLE oidc_flows (
  state_hash bytea NOT NULL,
  -- The hash of the token in the cookie of the browser that was sent.
  browser_hash bytea NOT NULL,
  -- Who is linking an account; null for somebody who signs in.
  user_id text,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT oidc_flows_pkey PRIMARY KEY (state_hash),
  CONSTRAINT oidc_flows_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX oidc_flows_user_id ON oidc_flows USING btree (user_id);

-- Accounts of a sign-in service (OpenID Connect) with which admins sign in.
CREATE TABLE oidc_links (
  user_id text NOT NULL,
  issuer text NOT NULL,
  -- Who it is there: the sub of the service.
  subject text NOT NULL,
  -- What the service called the person when the account was linked.
  name text,
  linked_at timestamp with time zone NOT NULL DEFAULT now(),
  last_used_at timestamp with time zone,
  CONSTRAINT oidc_links_pkey PRIMARY KEY (user_id),
  CONSTRAINT oidc_links_subject_key UNIQUE (issuer, subject),
  CONSTRAINT oidc_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

-- The Telegram account of an admin, to which the bot sends the tests of a broadcast.
CREATE TABLE operator_telegrams (
  user_id text NOT NULL,
  -- Telegram’s id of the account. Several admins may share one.
  telegram_id bigint NOT NULL,
  linked_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT operator_telegrams_pkey PRIMARY KEY (user_id),
  CONSTRAINT operator_telegrams_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

-- Who completed which item: the users subcollection of a history document.
CREATE TABLE participations (
  user_id bigint NOT NULL,
  kind text NOT NULL,
  item_id text NOT NULL,
  -- The UTC day for a daily task that repeats, else empty.
  period text NOT NULL DEFAULT ''::text,
  username text,
  first_name text,
  last_name text,
  user_input text,
  at timestamp with time zone NOT NULL DEFAULT now(),
  -- Fields that the console has no place for, as JSON, kept by a move-in.
  from_before text,
  CONSTRAINT participations_pkey PRIMARY KEY (user_id, kind, item_id, period)
);
CREATE INDEX participations_of_item ON participations USING btree (kind, item_id, at DESC, user_id);

-- Challenges that a browser was given and has not used. Using one deletes it.
CREATE TABLE passkey_challenges (
  challenge_hash bytea NOT NULL,
  purpose text NOT NULL,
  -- Whom it is for; null for somebody who signs in with a passkey alone.
  user_id text,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT passkey_challenges_pkey PRIMARY KEY (challenge_hash),
  CONSTRAINT passkey_challenges_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX passkey_challenges_user_id ON passkey_challenges USING btree (user_id);

-- The passkeys of admins (WebAuthn): public keys, with which nobody can sign in.
CREATE TABLE passkeys (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  user_id text NOT NULL,
  credential_id bytea NOT NULL,
  -- A COSE key.
  public_key bytea NOT NULL,
  -- The signature counter of the last use. It only grows; 0 if the authenticator has none.
  counter bigint NOT NULL,
  transports text[] NOT NULL,
  name text NOT NULL,
  -- singleDevice, or multiDevice for a passkey that can be on several devices.
  device_type text NOT NULL,
  backed_up boolean NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  last_used_at timestamp with time zone,
  CONSTRAINT passkeys_pkey PRIMARY KEY (id),
  CONSTRAINT passkeys_credential_id_key UNIQUE (credential_id),
  CONSTRAINT passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX passkeys_user_id ON passkeys USING btree (user_id);

-- The last link to set a new password that was made for a user.
CREATE TABLE password_links (
  user_id text NOT NULL,
  token_hash bytea NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  used_at timestamp with time zone,
  -- The id of the admin who made the link. A link without a maker cannot be used.
  made_by text,
  CONSTRAINT password_links_pkey PRIMARY KEY (user_id),
  CONSTRAINT password_links_made_by_fkey FOREIGN KEY (made_by) REFERENCES users(id) ON DELETE CASCADE,
  CONSTRAINT password_links_token_hash_key UNIQUE (token_hash),
  CONSTRAINT password_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX password_links_made_by ON password_links USING btree (made_by);

-- Requests for a link to set a forgotten password; a background task answers them within seconds.
CREATE TABLE password_requests (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  -- Null if nobody has the e-mail address: the request takes the same work then.
  user_id text,
  requested_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT password_requests_pkey PRIMARY KEY (id)
);

-- Links that were mailed to people who forgot their password. Beside password_links, so that a stranger cannot end a link of an admin.
CREATE TABLE password_resets (
  token_hash bytea NOT NULL,
  user_id text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  used_at timestamp with time zone,
  CONSTRAINT password_resets_pkey PRIMARY KEY (token_hash),
  CONSTRAINT password_resets_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX password_resets_user_id ON password_resets USING btree (user_id);

-- Sign-ins whose password was right and that wait for the second factor.
CREATE TABLE pending_sign_ins (
  token_hash bytea NOT NULL,
  user_id text NOT NULL,
  -- The hash that the password matched: a new password ends the sign-in. Null if no password was asked for.
  password_hash text,
  -- Codes that were tried.
  attempts integer NOT NULL DEFAULT 0,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT pending_sign_ins_pkey PRIMARY KEY (token_hash),
  CONSTRAINT pending_sign_ins_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX pending_sign_ins_expires_at_idx ON pending_sign_ins USING btree (expires_at);
CREATE INDEX pending_sign_ins_user_id_idx ON pending_sign_ins USING btree (user_id);

-- Requests with an Idempotency-Key that changed the balance of a player, and repetitions of such requests.
CREATE TABLE player_keys (
  user_id bigint NOT NULL,
  -- A hash of the caller and the key.
  key_hash bytea NOT NULL,
  fingerprint bytea NOT NULL,
  -- The ledger entry in the answer; null if the answer has none.
  seq bigint,
  is_first boolean NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  -- The balance in the answer if it has no ledger entry.
  balance numeric,
  CONSTRAINT player_keys_pkey PRIMARY KEY (user_id, key_hash)
);
CREATE INDEX player_keys_created_at ON player_keys USING brin (created_at);

-- Whether the bot can send a player messages. A player without a row can be sent some, as far as is known.
CREATE TABLE player_messages (
  user_id bigint NOT NULL,
  -- When Telegram refused a message to the player; null since the player came back.
  unreachable_at timestamp with time zone,
  -- What Telegram answered.
  unreachable_reason text,
  -- When the player asked for no more messages; null if the player did not.
  opted_out_at timestamp with time zone,
  CONSTRAINT player_messages_pkey PRIMARY KEY (user_id)
);
CREATE INDEX player_messages_opted_out ON player_messages USING btree (user_id) WHERE (opted_out_at IS NOT NULL);
CREATE INDEX player_messages_unreachable ON player_messages USING btree (user_id) WHERE (unreachable_at IS NOT NULL);

-- When each player was last seen: by the own client, or when the bot called for the player. Accurate to an hour.
CREATE TABLE player_visits (
  user_id bigint NOT NULL,
  seen_at timestamp with time zone NOT NULL,
  CONSTRAINT player_visits_pkey PRIMARY KEY (user_id)
);
CREATE INDEX player_visits_by_seen_at ON player_visits USING btree (seen_at DESC, user_id);

-- The recovery codes that a person has left. A code is deleted when it is used.
CREATE TABLE recovery_codes (
  user_id text NOT NULL,
  code_hash bytea NOT NULL,
  CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, code_hash),
  CONSTRAINT recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

-- What owners have decided about a role; a role without a row has the settings of the contract.
CREATE TABLE role_settings (
  role text NOT NULL,
  -- Whether the role sees personal fields of players.
  sees_personal boolean NOT NULL,
  -- The most points that one adjustment may give or take.
  max_adjustment numeric,
  -- The most points that one person may give and take in a UTC day, added up.
  max_adjusted_daily numeric,
  -- The most records that one bulk act may change.
  max_bulk integer,
  CONSTRAINT role_settings_pkey PRIMARY KEY (role),
  CONSTRAINT role_settings_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'manager'::text, 'editor'::text, 'reviewer'::text, 'analyst'::text])))
);

-- Views: the search, filters, order, columns and density of a list, saved under a name.
CREATE TABLE saved_views (
  id text NOT NULL,
  list text NOT NULL,
  name text NOT NULL,
  -- The part after ? in the address of the list's page.
  address text NOT NULL,
  -- The user who made the view; null once that user is removed.
  owner_id text,
  -- The only user who sees the view, which is removed with that user; null if the view is shared.
  private_to text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  version integer NOT NULL DEFAULT 1,
  CONSTRAINT saved_views_pkey PRIMARY KEY (id),
  CONSTRAINT saved_views_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT saved_views_private_to_fkey FOREIGN KEY (private_to) REFERENCES users(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX saved_views_name_key ON saved_views USING btree (owner_id, list, lower((name COLLATE letters)));
CREATE INDEX saved_views_private_to ON saved_views USING btree (private_to);

-- One row while scheduled work waits until a person lets it continue.
CREATE TABLE scheduled_work_pauses (
  id smallint NOT NULL DEFAULT 1,
  since timestamp with time zone NOT NULL DEFAULT now(),
  reason text NOT NULL,
  CONSTRAINT scheduled_work_pauses_pkey PRIMARY KEY (id),
  CONSTRAINT scheduled_work_pauses_id_check CHECK ((id = 1))
);

-- Keys that the servers of an installation share.
CREATE TABLE secrets (
  name text NOT NULL,
  value bytea NOT NULL,
  CONSTRAINT secrets_pkey PRIMARY KEY (name)
);

-- Sessions of users who are signed in.
CREATE TABLE sessions (
  -- SHA-256 of the token, which itself is only in the cookie.
  token_hash bytea NOT NULL,
  user_id text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  last_seen_at timestamp with time zone NOT NULL DEFAULT now(),
  -- Identifies the session in the user's list of own sessions.
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  -- For example Chrome on Windows.
  device text NOT NULL DEFAULT ''::text,
  -- The address of the sign-in: an IPv4 address or the /64 network of an IPv6 one; empty if a server of an older version began the session.
  begun_address text NOT NULL DEFAULT ''::text,
  -- The address of the last use, about as accurate as last_seen_at: an IPv4 address or the /64 network of an IPv6 one; empty if a server of an older version began the session.
  last_address text NOT NULL DEFAULT ''::text,
  -- When the person last proved the second factor in this session.
  second_factor_at timestamp with time zone,
  CONSTRAINT sessions_pkey PRIMARY KEY (token_hash),
  CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX sessions_user ON sessions USING btree (user_id);

-- Links to create the first administrator.
CREATE TABLE setup_links (
  token_hash bytea NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT setup_links_pkey PRIMARY KEY (token_hash)
);

-- One row: the news number, which each activation of an announcement raises.
CREATE TABLE status_epoch (
  id smallint NOT NULL DEFAULT 1,
  epoch bigint NOT NULL,
  CONSTRAINT status_epoch_pkey PRIMARY KEY (id),
  CONSTRAINT status_epoch_id_check CHECK ((id = 1))
);

-- Social and daily tasks (§5).
CREATE TABLE tasks (
  collection text NOT NULL,
  id text NOT NULL,
  image text NOT NULL,
  priority numeric NOT NULL,
  title text NOT NULL,
  link text,
  reward numeric NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  version integer NOT NULL DEFAULT 1,
  verified_by_bot boolean NOT NULL DEFAULT false,
  -- Fields that the console has no place for, as JSON, kept by a move-in.
  from_before text,
  -- When the item starts; null if no start is set.
  starts_at timestamp with time zone,
  -- When the item ends; null if no end is set.
  ends_at timestamp with time zone,
  -- The most players that can take part; null if there is no limit.
  max_participants integer,
  -- The most points that the item pays in a UTC day; null if there is no limit.
  daily_budget numeric,
  -- The view of players for whom the item is; null if it is for everyone.
  segment_id text,
  -- Whether the start is still to be carried out. It is cleared then, so that a clock set back starts nothing twice.
  start_pending boolean NOT NULL DEFAULT false,
  -- Whether the end is still to be carried out.
  end_pending boolean NOT NULL DEFAULT false,
  -- When the last place was taken; null if there are places left or there is no limit.
  full_at timestamp with time zone,
  -- The UTC day on which the points of the day ran out last.
  budget_spent_on date,
  -- Whether an operator has paused the task: nobody can claim it.
  paused boolean NOT NULL DEFAULT false,
  CONSTRAINT tasks_pkey PRIMARY KEY (collection, id),
  CONSTRAINT tasks_collection_check CHECK ((collection = ANY (ARRAY['social'::text, 'daily'::text]))),
  CONSTRAINT tasks_priority_key UNIQUE (collection, priority),
  CONSTRAINT tasks_segment_id_fkey FOREIGN KEY (segment_id) REFERENCES saved_views(id) ON DELETE RESTRICT
);
CREATE INDEX tasks_to_end ON tasks USING btree (ends_at) WHERE end_pending;
CREATE INDEX tasks_to_start ON tasks USING btree (starts_at) WHERE start_pending;

-- The last code that an admin made to link a Telegram account. It is deleted when it is used.
CREATE TABLE telegram_link_codes (
  user_id text NOT NULL,
  code_hash bytea NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT telegram_link_codes_pkey PRIMARY KEY (user_id),
  CONSTRAINT telegram_link_codes_code_hash_key UNIQUE (code_hash),
  CONSTRAINT telegram_link_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

-- One row: the time of the next message of all servers, and until when they wait.
CREATE TABLE telegram_pace (
  id boolean NOT NULL DEFAULT true,
  next_at timestamp with time zone NOT NULL DEFAULT now(),
  -- Nobody waits before this time, which only a clock that was set back shows.
  waiting_since timestamp with time zone,
  waiting_until timestamp with time zone,
  reason text,
  CONSTRAINT telegram_pace_pkey PRIMARY KEY (id),
  CONSTRAINT telegram_pace_id_check CHECK (id)
);

-- Players. Their balances are in balances.
CREATE TABLE telegram_users (
  user_id bigint NOT NULL,
  created_at timestamp with time zone,
  first_name text,
  last_name text,
  username text,
  twitter_username text,
  instagram_username text,
  linked_in_username text,
  discord_username text,
  youtube_username text,
  email text,
  phone_number text,
  ton_wallet_address text,
  bsc_wallet text,
  -- The highest news number that the player has seen.
  seen_status_epoch bigint NOT NULL DEFAULT 0,
  searched_text text COLLATE "C" GENERATED ALWAYS AS ((translate((
CASE
    WHEN (octet_length((((((((((((((((((' '::text || COALESCE(username, ''::text)) || ' '::text) || COALESCE(first_name, ''::text)) || ' '::text) || COALESCE(last_name, ''::text)) || ' '::text) || COALESCE(twitter_username, ''::text)) || ' '::text) || COALESCE(instagram_username, ''::text)) || ' '::text) || COALESCE(linked_in_username, ''::text)) || ' '::text) || COALESCE(discord_username, ''::text)) || ' '::text) || COALESCE(youtube_username, ''::text)) || ' '::text) || COALESCE(email, ''::text))) = char_length((((((((((((((((((' '::text || COALESCE(username, ''::text)) || ' '::text) || COALESCE(first_name, ''::text)) || ' '::text) || COALESCE(last_name, ''::text)) || ' '::text) || COALESCE(twitter_username, ''::text)) || ' '::text) || COALESCE(instagram_username, ''::text)) || ' '::text) || COALESCE(linked_in_username, ''::text)) || ' '::text) || COALESCE(discord_username, ''::text)) || ' '::text) || COALESCE(youtube_username, ''::text)) || ' '::text) || COALESCE(email, ''::text)))) THEN translate(lower(((((((((((((((((((' '::text || COALESCE(username, ''::text)) || ' '::text) || COALESCE(first_name, ''::text)) || ' '::text) || COALESCE(last_name, ''::text)) || ' '::text) || COALESCE(twitter_username, ''::text)) || ' '::text) || COALESCE(instagram_username, ''::text)) || ' '::text) || COALESCE(linked_in_username, ''::text)) || ' '::text) || COALESCE(discord_username, ''::text)) || ' '::text) || COALESCE(youtube_username, ''::text)) || ' '::text) || COALESCE(email, ''::text)) COLLATE letters)), ('	
'::text || '''`'::text), '     '::text)
    ELSE translate(replace(replace(replace(replace(lower((regexp_replace(NORMALIZE(translate((((((((((((((((((' '::text || COALESCE(username, ''::text)) || ' '::text) || COALESCE(first_name, ''::text)) || ' '::text) || COALESCE(last_name, ''::text)) || ' '::text) || COALESCE(twitter_username, ''::text)) || ' '::text) || COALESCE(instagram_username, ''::text)) || ' '::text) || COALESCE(linked_in_username, ''::text)) || ' '::text) || COALESCE(discord_username, ''::text)) || ' '::text) || COALESCE(youtube_username, ''::text)) || ' '::text) || COALESCE(email, ''::text)), '´'::text, ''::text), NFKD), '[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\u0027\u0060\u02b9\u02bb\u02bc\u02bd\u2018\u2019\u201b\u2032\u2035]'::text, ''::text, 'g'::text) COLLATE letters)), 'ß'::text, 'ss'::text), 'æ'::text, 'ae'::text), 'œ'::text, 'oe'::text), 'þ'::text, 'th'::text), ('	
'::text || '   ֊־᐀᠆‐‒–—―⁃⁓−⸗⸚⸺⸻⹀⹝〜〰゠𐵮𐺭øđðħıłŧς'::text), '         -----------------------oddhiltσ'::text)
END COLLATE "C"), '_.-#'::text, 'QXZJ'::text) || COALESCE((' '::text || regexp_replace(phone_number, '[^0-9]+'::text, ''::text, 'g'::text)), ''::text))) STORED,
  -- Fields that the console has no place for, as JSON, kept by a move-in.
  from_before text,
  -- When the game last set details of the player; null if only imports did.
  details_set_at timestamp with time zone,
  CONSTRAINT telegram_users_pkey PRIMARY KEY (user_id)
);
CREATE INDEX telegram_users_bsc_wallet_start ON telegram_users USING btree (lower((bsc_wallet COLLATE letters)) text_pattern_ops) WHERE (bsc_wallet IS NOT NULL);
CREATE INDEX telegram_users_by_created_at ON telegram_users USING btree (created_at DESC NULLS LAST, user_id);
CREATE INDEX telegram_users_first_name_a_to_z ON telegram_users USING btree (lower((first_name COLLATE letters)) COLLATE a_to_z, user_id);
CREATE INDEX telegram_users_searched_characters ON telegram_users USING gin (string_to_array(regexp_replace(searched_text, '[a-zA-Z0-9@ ]+'::text, ''::text, 'g'::text), NULL::text)) WHERE (searched_text ~ '[^a-zA-Z0-9@ ]'::text);
CREATE INDEX telegram_users_searched_words ON telegram_users USING gin (searched_text gin_trgm_ops);
CREATE INDEX telegram_users_ton_wallet_address_start ON telegram_users USING btree (lower((ton_wallet_address COLLATE letters)) text_pattern_ops) WHERE (ton_wallet_address IS NOT NULL);
CREATE INDEX telegram_users_username_a_to_z ON telegram_users USING btree (lower((username COLLATE letters)) COLLATE a_to_z, user_id);

-- The authenticator app of a person (RFC 6238), a second factor once it is confirmed.
CREATE TABLE totp_secrets (
  user_id text NOT NULL,
  -- The confirmed secret, encrypted with SECRET_KEY.
  secret bytea,
  confirmed_at timestamp with time zone,
  -- The step of 30 seconds of the last accepted code: codes of it and of earlier steps do not count.
  last_step bigint,
  -- A secret that is not confirmed yet, encrypted.
  new_secret bytea,
  new_secret_at timestamp with time zone,
  CONSTRAINT totp_secrets_pkey PRIMARY KEY (user_id),
  CONSTRAINT totp_secrets_confirmed_check CHECK (((secret IS NULL) = (confirmed_at IS NULL))),
  CONSTRAINT totp_secrets_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

-- Deleted records that can be restored until they expire.
CREATE TABLE trash (
  id text NOT NULL,
  act_id text NOT NULL,
  kind text NOT NULL,
  record_id text NOT NULL,
  name text NOT NULL,
  -- The deleted rows, as PostgreSQL writes rows as JSON: row and, for a user, account, views, sharedViews, defaultViews.
  content jsonb NOT NULL,
  deleted_by_id text,
  deleted_by text,
  deleted_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT trash_pkey PRIMARY KEY (id),
  CONSTRAINT trash_kind_check CHECK ((kind = ANY (ARRAY['socialTask'::text, 'dailyTask'::text, 'announcement'::text, 'user'::text])))
);
CREATE INDEX trash_act ON trash USING btree (act_id);
CREATE INDEX trash_expiry ON trash USING btree (expires_at);
CREATE INDEX trash_order ON trash USING btree (deleted_at DESC, id COLLATE "C");

-- Ledger entries that no counter includes yet, with what the counters need of each.
CREATE TABLE uncounted_entries (
  user_id bigint NOT NULL,
  seq bigint NOT NULL,
  at timestamp with time zone NOT NULL,
  amount numeric NOT NULL,
  -- The balance after the entry.
  balance numeric NOT NULL,
  -- The kind of the claimed item; null if the entry is not a claim.
  kind text,
  item_id text,
  CONSTRAINT uncounted_entries_pkey PRIMARY KEY (user_id, seq)
);

-- Users of the console (§4).
CREATE TABLE users (
  id text NOT NULL,
  fname text NOT NULL,
  lname text NOT NULL,
  email text NOT NULL,
  user_type text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  version integer NOT NULL DEFAULT 1,
  last_seen_at timestamp with time zone,
  searched_text text COLLATE "C" GENERATED ALWAYS AS (translate((
CASE
    WHEN (octet_length((((((' '::text || COALESCE(fname, ''::text)) || ' '::text) || COALESCE(lname, ''::text)) || ' '::text) || COALESCE(email, ''::text))) = char_length((((((' '::text || COALESCE(fname, ''::text)) || ' '::text) || COALESCE(lname, ''::text)) || ' '::text) || COALESCE(email, ''::text)))) THEN translate(lower(((((((' '::text || COALESCE(fname, ''::text)) || ' '::text) || COALESCE(lname, ''::text)) || ' '::text) || COALESCE(email, ''::text)) COLLATE letters)), ('	
'::text || '''`'::text), '     '::text)
    ELSE translate(replace(replace(replace(replace(lower((regexp_replace(NORMALIZE(translate((((((' '::text || COALESCE(fname, ''::text)) || ' '::text) || COALESCE(lname, ''::text)) || ' '::text) || COALESCE(email, ''::text)), '´'::text, ''::text), NFKD), '[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\u0027\u0060\u02b9\u02bb\u02bc\u02bd\u2018\u2019\u201b\u2032\u2035]'::text, ''::text, 'g'::text) COLLATE letters)), 'ß'::text, 'ss'::text), 'æ'::text, 'ae'::text), 'œ'::text, 'oe'::text), 'þ'::text, 'th'::text), ('	
'::text || '   ֊־᐀᠆‐‒–—―⁃⁓−⸗⸚⸺⸻⹀⹝〜〰゠𐵮𐺭øđðħıłŧς'::text), '         -----------------------oddhiltσ'::text)
END COLLATE "C"), '_.-#'::text, 'QXZJ'::text)) STORED,
  -- Fields that the console has no place for, as JSON, kept by a move-in.
  from_before text,
  -- What an admin may do; an admin without one is an owner. Without meaning for a user.
  role text,
  CONSTRAINT users_pkey PRIMARY KEY (id),
  CONSTRAINT users_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'manager'::text, 'editor'::text, 'reviewer'::text, 'analyst'::text]))),
  CONSTRAINT users_user_type_check CHECK ((user_type = ANY (ARRAY['admin'::text, 'user'::text])))
);
CREATE INDEX users_admins ON users USING btree (id) WHERE (user_type = 'admin'::text);
CREATE INDEX users_by_email ON users USING btree (lower((email COLLATE letters)) COLLATE a_to_z, id COLLATE "C");
CREATE INDEX users_by_first_name ON users USING btree (lower((fname COLLATE letters)) COLLATE a_to_z, id COLLATE "C");
CREATE INDEX users_by_last_name ON users USING btree (lower((lname COLLATE letters)) COLLATE a_to_z, id COLLATE "C");
CREATE UNIQUE INDEX users_email_key ON users USING btree (lower((email COLLATE letters)));
CREATE INDEX users_order ON users USING btree (created_at, id COLLATE "C");
CREATE INDEX users_searched_characters ON users USING gin (string_to_array(regexp_replace(searched_text, '[a-zA-Z0-9@ ]+'::text, ''::text, 'g'::text), NULL::text)) WHERE (searched_text ~ '[^a-zA-Z0-9@ ]'::text);
CREATE INDEX users_searched_words ON users USING gin (searched_text gin_trgm_ops);

-- Events for webhooks. A delivery is pending while next_at is set.
CREATE TABLE webhook_deliveries (
  id text NOT NULL,
  webhook_id text NOT NULL,
  event text NOT NULL,
  payload text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  attempts integer NOT NULL DEFAULT 0,
  tried_at timestamp with time zone,
  -- When delivery is tried next; null if it is not tried any more.
  next_at timestamp with time zone DEFAULT now(),
  delivered_at timestamp with time zone,
  -- The result of the last attempt.
  result text,
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_deliveries_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries USING btree (webhook_id, created_at DESC, id COLLATE "C");

-- Addresses to which the console sends events.
CREATE TABLE webhooks (
  id text NOT NULL,
  url text NOT NULL,
  events text[] NOT NULL,
  -- The secret that signs deliveries, encrypted with SECRET_KEY.
  secret bytea NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  -- Since when no delivery has succeeded.
  failing_since timestamp with time zone,
  switched_off_at timestamp with time zone,
  -- Why the console switched the webhook off.
  alert text,
  CONSTRAINT webhooks_pkey PRIMARY KEY (id)
);

CREATE VIEW audit_trail AS
 SELECT audit_entries.id,
    audit_entries.at,
    audit_entries.act_id,
    audit_entries.action,
    audit_entries.actor_kind,
    audit_entries.actor_id,
    audit_entries.actor_name,
    audit_entries.address,
    audit_entries.origin,
    audit_entries.device,
    audit_entries.actor_salt,
    audit_entries.actor_commitment,
    audit_entries.record_kind,
    audit_entries.record_id,
    audit_entries.record_name,
    audit_entries.changes,
    audit_entries.detail,
    audit_entries.record_salt,
    audit_entries.record_commitment,
    audit_entries.seq
   FROM audit_entries
UNION ALL
 SELECT audit_open.id,
    audit_open.at,
    audit_open.act_id,
    audit_open.action,
    audit_open.actor_kind,
    audit_open.actor_id,
    audit_open.actor_name,
    audit_open.address,
    audit_open.origin,
    audit_open.device,
    audit_open.actor_salt,
    audit_open.actor_commitment,
    audit_open.record_kind,
    audit_open.record_id,
    audit_open.record_name,
    audit_open.changes,
    audit_open.detail,
    audit_open.record_salt,
    audit_open.record_commitment,
    (( SELECT audit_head.seq
           FROM audit_head) + row_number() OVER (ORDER BY audit_open.at, audit_open.id)) AS seq
   FROM audit_open;
