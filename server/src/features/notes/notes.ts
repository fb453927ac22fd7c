/**
 * Notes of the team on players and items. A person who may read a record reads its notes, also one who sees no personal fields: what a note
 * says is up to its author. The audit names the note and its record, never the text, so that erasing a player leaves nothing of it there.
 */
import { randomUUID } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import type { SessionUser } from '@arcade/contract/auth/calls'
import { type Colleague, type NoteInput } from '@arcade/contract/notes/calls'
import { mentionOf, type NoteKind, notesNeed } from '@arcade/contract/notes/fields'
import { isErased } from '@arcade/contract/players/fields'
import { MAX_USER_ID } from '@arcade/contract/players/calls'
import { collectionOf } from '@arcade/contract/tasks/fields'
import { isolated } from '@arcade/contract/text'
import { actOf, audit, type AuditRecord } from '#src/audit/audit.ts'
import { type CallContext, Failure, type Handlers, refuseWithoutPermission, signedIn } from '#src/calls.ts'
import { aToZSql, idOrderSql } from '#src/db/collations.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { delayErasures } from '#src/db/transaction-locks.ts'
import { createOnce } from '#src/identity/idempotency.ts'
import { JOIN_SETTINGS, type PersonRow, sessionUserOf } from '#src/identity/roles.ts'
import { readableKinds, readMentions, readNotesOf, searchNotes } from './read-notes.ts'

/** How long a deleted note can be restored. */
const RESTORABLE_HOURS = 24

export function notesHandlers({ database }: { database: Database }): Handlers<typeof contract.notes> {
  const { db } = database

  return {
    list: ({ search, after }, context) => searchNotes(db, { search, after, kinds: readableKinds(signedIn(context)) }),

    async ofRecord({ kind, id, after }, context) {
      refuseWithoutPermission(notesNeed[kind], signedIn(context))
      await database.transaction((tx) => findRecord(tx, kind, id))
      return readNotesOf(db, { kind, id, after })
    },

    create({ kind, id: recordId, text, mentions }, context) {
      const author = signedIn(context)
      refuseWithoutPermission(notesNeed[kind], author)
      const create = async (tx: Transaction<Tables>) => {
        await delayErasures(tx)
        const record = await findRecord(tx, kind, recordId)
        if (kind === 'player' && isErased({ userId: Number(recordId) })) throw new Failure('PLAYER_ERASED')
        const id = randomUUID()
        await tx.insertInto('notes').values({ id, kind, record_id: record.id, text, author_id: author.id }).execute()
        await writeMentions(tx, { id, kind, text, mentions })
        await audit(tx, actOf(context), 'note.create', { record, detail: { note: id } })
        return { success: true, id } as const
      }
      return createOnce(database, context, { create })
    },

    async update({ noteId: id, text, mentions, version }, context) {
      await database.transaction(async (tx) => {
        const note = await lockNote(tx, context, id)
        if (!note.isOwn) throw notYours('change')
        if (version !== undefined && note.version !== version) throw new Failure('STALE')
        const record = await findRecord(tx, note.kind, note.recordId)
        await tx
          .updateTable('notes')
          .set({ text, edited_at: sql<Date>`now()`, version: sql`version + 1` })
          .where('id', '=', id)
          .execute()
        await writeMentions(tx, { id, kind: note.kind, text, mentions })
        await audit(tx, actOf(context), 'note.update', { record, detail: { note: id } })
      })
      return { success: true }
    },

    remove: ({ noteId }, context) => setRemoved(noteId, context, true),
    restore: ({ noteId }, context) => setRemoved(noteId, context, false),

    colleagues: async ({ kind }, context) => {
      refuseWithoutPermission(notesNeed[kind], signedIn(context))
      return { people: await readersOf(db, kind) }
    },

    async mentions(_input, context) {
      const user = signedIn(context)
      return { notes: await readMentions(db, user.id, readableKinds(user)) }
    },

    async see({ ids }, context) {
      await sql`
        update note_mentions set seen_at = now()
         where user_id = ${signedIn(context).id} and note_id = any(${ids}) and seen_at is null`.execute(db)
      return { success: true }
    },
  }

  async function setRemoved(id: string, context: CallContext, isRemoved: boolean) {
    await database.transaction(async (tx) => {
      const { kind, recordId, isOwn } = await lockNote(tx, context, id, !isRemoved)
      if (!isOwn && signedIn(context).role !== 'owner') throw notYours(isRemoved ? 'delete' : 'restore')
      await tx
        .updateTable('notes')
        .set({ removed_at: isRemoved ? sql<Date>`now()` : null })
        .where('id', '=', id)
        .execute()
      const record = await findRecord(tx, kind, recordId)
      await audit(tx, actOf(context), isRemoved ? 'note.remove' : 'note.restore', { record, detail: { note: id } })
    })
    return { success: true } as const
  }
}

/** Deletes notes for good that cannot be restored any more; a background task. */
export async function sweepRemovedNotes({ db }: Pick<Database, 'db'>): Promise<void> {
  await sql`delete from notes where removed_at <= now() - make_interval(hours => ${RESTORABLE_HOURS})`.execute(db)
}

interface LockedNote {
  kind: NoteKind
  recordId: string
  version: number
  /** Whether the caller wrote the note. */
  isOwn: boolean
}

/** Locks a note on a record that the caller may read. An erasure of its player comes before or after the transaction. */
async function lockNote(tx: Transaction<Tables>, context: CallContext, id: string, isRemoved = false): Promise<LockedNote> {
  await delayErasures(tx)
  const user = signedIn(context)
  const isThere = isRemoved ? sql`removed_at > now() - make_interval(hours => ${RESTORABLE_HOURS})` : sql`removed_at is null`
  const { rows } = await sql<LockedNote>`
    select kind, record_id as "recordId", version, author_id = ${user.id} as "isOwn"
      from notes where id = ${id} and ${isThere} for update`.execute(tx)
  const [note] = rows
  if (!note) throw new Failure('NO_SUCH_NOTE')
  refuseWithoutPermission(notesNeed[note.kind], user)
  return note
}

function notYours(what: 'change' | 'delete' | 'restore'): Failure {
  const who = what === 'change' ? 'Only who wrote a note' : 'Only who wrote a note, or an owner,'
  return new Failure('NOT_YOUR_NOTE', { message: `${who} may ${what} it.` })
}

/**
 * Returns a record that is there as the audit names it: a player without the name, so that it can be erased. An item cannot be deleted until
 * the transaction ends, so its notes go to the trash with it.
 * @throws Failure NO_SUCH_PLAYER, NO_SUCH_TASK, ANNOUNCEMENT_NOT_FOUND
 */
async function findRecord(tx: Transaction<Tables>, kind: NoteKind, id: string): Promise<AuditRecord> {
  if (kind === 'player') {
    const isId = /^-?[1-9]\d{0,15}$/.test(id) && Math.abs(Number(id)) <= MAX_USER_ID
    const found =
      isId && (await tx.selectFrom('telegram_users').select('user_id').where('user_id', '=', Number(id)).executeTakeFirst())
    if (!found) throw new Failure('NO_SUCH_PLAYER')
    return { kind, id }
  }
  const { rows } =
    kind === 'announcement'
      ? await sql<{ title: string }>`select title from announcements where id = ${id} for key share`.execute(tx)
      : await sql<{ title: string }>`
          select title from tasks where collection = ${collectionOf[kind]} and id = ${id} for key share`.execute(tx)
  if (!rows[0]) throw new Failure(kind === 'announcement' ? 'ANNOUNCEMENT_NOT_FOUND' : 'NO_SUCH_TASK')
  return { kind, id, name: rows[0].title }
}

/** Returns the people whose role may read records of a kind, in the order of their names; of some ids only. */
async function readersOf(
  db: Transaction<Tables> | Database['db'],
  kind: NoteKind,
  ids?: readonly string[],
): Promise<Colleague[]> {
  const { rows } = await sql<PersonRow>`
    select u.id, fname, lname, email, user_type, u.role, r.sees_personal from users u ${sql.raw(JOIN_SETTINGS)}
     where user_type = 'admin' ${ids ? sql`and u.id = any(${ids})` : sql``}
     order by ${sql.raw(aToZSql('fname'))}, ${sql.raw(aToZSql('lname'))}, ${sql.raw(idOrderSql('u.id'))}`.execute(db)
  return rows
    .map((row): SessionUser => sessionUserOf(row))
    .filter(({ permissions }) => permissions.includes(notesNeed[kind]))
    .map(({ id, username }) => ({ id, name: username }))
}

interface Mentioning extends Pick<NoteInput, 'text'> {
  id: string
  kind: NoteKind
  mentions: readonly string[]
}

/**
 * Stores whom a note mentions. Who was mentioned before keeps having seen it.
 * @throws Failure INVALID_INPUT at the field `text` for a person who may not read the record, or whom the text does not name
 */
async function writeMentions(tx: Transaction<Tables>, { id, kind, text, mentions }: Mentioning): Promise<void> {
  await sql`delete from note_mentions where note_id = ${id} and user_id <> all(${mentions})`.execute(tx)
  if (mentions.length === 0) return
  const people = await readersOf(tx, kind, mentions)
  if (people.length < new Set(mentions).size)
    throw refusedText('Somebody whom this note mentions may not read it, or is not in the team any more.')
  for (const { id: userId, name } of people) {
    if (!text.includes(mentionOf(name))) throw refusedText(`The note does not name ${isolated(mentionOf(name))}.`)
    await tx
      .insertInto('note_mentions')
      .values({ note_id: id, user_id: userId, name: name.normalize('NFC') })
      .onConflict((conflict) => conflict.columns(['note_id', 'user_id']).doUpdateSet({ name: name.normalize('NFC') }))
      .execute()
  }
}

function refusedText(message: string): Failure {
  return new Failure('INVALID_INPUT', { message, fields: { text: message } })
}
