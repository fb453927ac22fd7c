/** Reads notes: those on a record, those that a search finds, and those that mention a person. Notes on items in the trash are left out. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { type FoundNote, type Note, NOTES_PAGE_SIZE } from '@arcade/contract/notes/calls'
import { type NoteKind, noteKinds, notesNeed } from '@arcade/contract/notes/fields'
import { isBlank } from '@arcade/contract/text'
import type { SessionUser } from '@arcade/contract/auth/calls'
import { isoSql, microsecondsSql, momentParameter } from '#src/db/moments.ts'
import type { Tables } from '#src/db/tables.ts'
import { namesOfUsers } from '#src/identity/accounts.ts'
import { isMicroseconds, isText, keysetPage, readCursor, writeCursor } from '#src/lists/cursors.ts'
import { searchTerm } from '#src/lists/search.ts'

interface Page<Row> {
  notes: Row[]
  after: string | null
}

interface StoredNote extends Omit<FoundNote, 'author'> {
  authorId: string
  /** The time of the note in microseconds. */
  key: string
}

/** The title of the item that a row of `notes` is about; null for a player, and for an item that is not there. */
const ITEM_TITLE = `case kind
  when 'socialTask' then (select title from tasks where collection = 'social' and tasks.id = record_id)
  when 'dailyTask' then (select title from tasks where collection = 'daily' and tasks.id = record_id)
  when 'announcement' then (select title from announcements where announcements.id = record_id) end`

const SHOWN = sql.raw(`
  id, kind, record_id as "recordId", text, author_id as "authorId", version, ${isoSql('created_at')} as "createdAt",
  ${isoSql('edited_at')} as "editedAt", ${microsecondsSql('created_at')} as key, coalesce(${ITEM_TITLE}, '') as title,
  (select coalesce(json_agg(json_build_object('id', user_id, 'name', name) order by user_id), '[]')
     from note_mentions where note_id = notes.id) as mentions`)

/** The kinds of records whose notes a person may read. */
export function readableKinds({ permissions }: Pick<SessionUser, 'permissions'>): NoteKind[] {
  return noteKinds.filter((kind) => permissions.includes(notesNeed[kind]))
}

export async function readNotesOf(
  db: Kysely<Tables>,
  { kind, id, after }: { kind: NoteKind; id: string; after?: string | undefined },
): Promise<Page<Note>> {
  const cursorScope = `notes:${kind}:${id}`
  const page = await readPage(db, { cursorScope, after, where: sql`kind = ${kind} and record_id = ${id}` })
  const notes = page.notes.map(({ kind: _kind, recordId: _recordId, title: _title, ...note }) => note)
  return { notes, after: page.after }
}

/** Returns the notes that a search finds; all notes if it is empty. */
export async function searchNotes(
  db: Kysely<Tables>,
  { search = '', after, kinds }: { search?: string | undefined; after?: string | undefined; kinds: readonly NoteKind[] },
): Promise<Page<FoundNote>> {
  const found = searchTerm(search)?.indexed ?? sql<boolean>`true`
  return readPage(db, { cursorScope: `notes found:${search}`, after, where: sql`${isShownOf(kinds)} and ${found}` })
}

/** Most mentions that a dashboard shows; the others follow when these were seen. */
const MENTIONS_SHOWN = 50

/** Returns the notes that mention the person, by others and not seen yet. */
export async function readMentions(db: Kysely<Tables>, userId: string, kinds: readonly NoteKind[]): Promise<FoundNote[]> {
  const { rows } = await sql<StoredNote>`
    select ${SHOWN} from notes
     where ${isShownOf(kinds)} and id in (select note_id from note_mentions where user_id = ${userId} and seen_at is null)
     order by created_at desc, id desc limit ${MENTIONS_SHOWN}`.execute(db)
  return withNames(db, rows)
}

/** The condition for notes on records of these kinds that are there. */
function isShownOf(kinds: readonly NoteKind[]): RawBuilder<boolean> {
  return sql<boolean>`removed_at is null and kind = any(${kinds}) and (kind = 'player' or ${sql.raw(ITEM_TITLE)} is not null)`
}

async function readPage(
  db: Kysely<Tables>,
  { cursorScope, after, where }: { cursorScope: string; after: string | undefined; where: RawBuilder<unknown> },
): Promise<Page<FoundNote>> {
  const key = after === undefined ? undefined : readCursor<[string, string]>(after, cursorScope, [isMicroseconds, isText])
  const isAfter = key ? sql`and (created_at, id) < (${momentParameter(key[0])}, ${key[1]})` : sql``
  const { rows } = await sql<StoredNote>`
    select ${SHOWN} from notes where removed_at is null and ${where} ${isAfter}
     order by created_at desc, id desc limit ${NOTES_PAGE_SIZE + 1}`.execute(db)
  const page = keysetPage(rows, {
    size: NOTES_PAGE_SIZE,
    direction: after === undefined ? undefined : 'after',
    toCursor: (row) => writeCursor([cursorScope, row.key, row.id]),
  })
  return { notes: await withNames(db, page.rows), after: page.after }
}

/** Adds the names of the authors, and those of players: without their handles, which not everyone may see. */
async function withNames(db: Kysely<Tables>, rows: readonly StoredNote[]): Promise<FoundNote[]> {
  const authors = await namesOfUsers(db, [...new Set(rows.map(({ authorId }) => authorId))])
  const players = await namesOfPlayers(
    db,
    rows.filter(({ kind }) => kind === 'player').map(({ recordId }) => recordId),
  )
  return rows.map(({ authorId, key: _key, title, ...note }) => ({
    ...note,
    title: note.kind === 'player' ? (players.get(note.recordId) ?? note.recordId) : title,
    author: { id: authorId, name: authors.get(authorId) ?? null },
  }))
}

async function namesOfPlayers(db: Kysely<Tables>, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const players = await db
    .selectFrom('telegram_users')
    .select(['user_id', 'first_name', 'last_name'])
    .where('user_id', 'in', [...new Set(ids)].map(Number))
    .execute()
  return new Map(
    players.map(({ user_id: id, first_name: first, last_name: last }) => {
      const name = [first, last].filter((part) => !isBlank(part)).join(' ')
      return [String(id), name || String(id)]
    }),
  )
}
