/**
 * Notes of the team on players and items, whom they mention, and the points that a person has given and taken today, for the limits of
 * roles. All are on the coordinator of a cluster. A server of the previous version keeps working; it counts no points.
 */
import { type Kysely, sql } from 'kysely'
import { searchedNotes } from '#src/db/searched-text.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table adjusted_points (
     user_id text primary key constraint adjusted_points_user_id_fkey references users on delete cascade,
     day date not null,
     points numeric not null)`,
  `comment on table adjusted_points is 'The points that a person’s adjustments and reversals gave and took on the last day (UTC) with any, added up.'`,
  `create table notes (
     id text primary key,
     kind text not null constraint notes_kind_check check (kind in ('player', 'socialTask', 'dailyTask', 'announcement')),
     record_id text not null,
     text text not null,
     author_id text not null,
     created_at timestamptz not null default now(),
     edited_at timestamptz,
     removed_at timestamptz,
     version integer not null default 1,
     ${searchedNotes})`,
  `comment on table notes is 'What the team writes about players and items. Notes of an item that is deleted stay until it is purged.'`,
  `comment on column notes.record_id is 'The id of the item, or the player’s id as text. No foreign key: players are on other servers of a cluster.'`,
  `comment on column notes.author_id is 'The user who wrote the note. No foreign key: a user who is restored from the trash is the author again.'`,
  `comment on column notes.removed_at is 'When the note was deleted. It can be restored for a day.'`,
  `create index notes_of_record on notes (kind, record_id, created_at)`,
  `create index notes_removed on notes (removed_at) where removed_at is not null`,
  `create index notes_searched_words on notes using gin (searched_text gin_trgm_ops)`,
  `create index notes_searched_characters on notes
     using gin (string_to_array(regexp_replace(searched_text, '[a-zA-Z0-9@ ]+', '', 'g'), null)) where searched_text ~ '[^a-zA-Z0-9@ ]'`,
  `create table note_mentions (
     note_id text not null constraint note_mentions_note_id_fkey references notes on delete cascade,
     user_id text not null,
     name text not null,
     seen_at timestamptz,
     primary key (note_id, user_id))`,
  `comment on table note_mentions is 'The colleagues whom a note mentions.'`,
  `comment on column note_mentions.name is 'The name as the note has it, after an @.'`,
  `comment on column note_mentions.seen_at is 'When the colleague saw the note; null until then.'`,
  `create index note_mentions_unseen on note_mentions (user_id) where seen_at is null`,
]
