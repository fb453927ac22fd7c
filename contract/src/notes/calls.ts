/** Notes of the team on players and items: read with the record, written and found by a search; mentions of colleagues in them. */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { cursorField, idField, searchField, textField, versionField } from '#src/field-schemas.ts'
import { MAX_MENTIONS, MAX_NOTE_LENGTH, type NoteKind, noteKinds } from './fields.ts'

const noteKindField = z.enum(noteKinds as [NoteKind, ...NoteKind[]])

/** The form for a note. `mentions` are the ids of colleagues, each of whom the text names as `@First Last`. */
export const noteInput = z.strictObject({
  text: textField('Note', MAX_NOTE_LENGTH),
  mentions: z.array(idField).max(MAX_MENTIONS, `A note can mention at most ${MAX_MENTIONS} colleagues`).default([]),
})
export type NoteInput = z.infer<typeof noteInput>

const person = z.object({ id: idField, name: z.string() })
export type Colleague = z.infer<typeof person>

const note = z.object({
  id: idField,
  text: z.string(),
  createdAt: z.iso.datetime(),
  /** When the text was changed last; null if never. */
  editedAt: z.iso.datetime().nullable(),
  /** The name is null if the user no longer exists. */
  author: z.object({ id: idField, name: z.string().nullable() }),
  mentions: z.array(person),
  version: z.int(),
})
export type Note = z.infer<typeof note>

/** A note with the record that it is about. The title of a player without a name is the id, never a handle. */
const foundNote = note.extend({ kind: noteKindField, recordId: idField, title: z.string() })
export type FoundNote = z.infer<typeof foundNote>

export const NOTES_PAGE_SIZE = 20

const done = z.object({ success: z.literal(true) })
const ofRecord = { kind: noteKindField, id: idField }
const anyRead = ['players.read', 'tasks.read', 'announcements.read'] as const
const tags = ['Notes']

export const notes = {
  list: call(['admin'], { needs: anyRead })
    .route({
      method: 'GET',
      path: '/api/notes',
      tags,
      summary: `Notes that contain a text, on records that one may read, the newest first, ${NOTES_PAGE_SIZE} a page`,
    })
    .input(z.strictObject({ search: searchField, after: cursorField.optional() }))
    .output(z.object({ notes: z.array(foundNote), after: z.string().nullable() })),
  ofRecord: call(['admin'], { needs: anyRead })
    .route({
      method: 'GET',
      path: '/api/notes/{kind}/{id}',
      tags,
      summary: `The notes on a player, task or announcement, the newest first, ${NOTES_PAGE_SIZE} a page`,
    })
    .input(z.strictObject({ ...ofRecord, after: cursorField.optional() }))
    .output(z.object({ notes: z.array(note), after: z.string().nullable() })),
  create: call(['admin'], { needs: 'notes.write', heedsIdempotencyKey: true })
    .route({ method: 'POST', path: '/api/notes/{kind}/{id}', tags, summary: 'Write a note' })
    .input(noteInput.extend(ofRecord))
    .output(done.extend({ id: idField })),
  update: call(['admin'], { needs: 'notes.write' })
    .route({ method: 'PUT', path: '/api/notes/{noteId}', tags, summary: 'Change a note of one’s own' })
    .input(noteInput.extend({ noteId: idField, version: versionField.optional() }))
    .output(done),
  remove: call(['admin'], { needs: 'notes.write' })
    .route({
      method: 'DELETE',
      path: '/api/notes/{noteId}',
      tags,
      summary: 'Delete a note of one’s own; an owner may delete any',
    })
    .input(z.strictObject({ noteId: idField }))
    .output(done),
  restore: call(['admin'], { needs: 'notes.write' })
    .route({ method: 'POST', path: '/api/notes/restore', tags, summary: 'Restore a note that was deleted within a day' })
    .input(z.strictObject({ noteId: idField }))
    .output(done),
  colleagues: call(['admin'], { needs: 'notes.write' })
    .route({
      method: 'GET',
      path: '/api/notes/colleagues',
      tags,
      summary: 'The people whom a note on a kind of record can mention',
    })
    .input(z.strictObject({ kind: noteKindField }))
    .output(z.object({ people: z.array(person) })),
  mentions: call(['admin'], { needs: anyRead })
    .route({ method: 'GET', path: '/api/notes/mentions', tags, summary: 'Notes that mention the caller and were not seen yet' })
    .output(z.object({ notes: z.array(foundNote) })),
  see: call(['admin'], { needs: anyRead })
    .route({ method: 'POST', path: '/api/notes/seen', tags, summary: 'Mark notes that mention the caller as seen' })
    .input(z.strictObject({ ids: z.array(idField).min(1).max(100) }))
    .output(done),
}
