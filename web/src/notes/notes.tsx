/**
 * The team's notes on a player, task or announcement: to read, write, change and delete. What mentions the signed-in person counts as seen
 * once it is shown here.
 */
import type { Note, NoteInput } from '@arcade/contract/notes/calls'
import { type NoteKind, notesNeed } from '@arcade/contract/notes/fields'
import { isolated } from '@arcade/contract/text'
import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { problemOf } from '#src/client/call-error.ts'
import { api, client, makeCreateOnce, queryClient } from '#src/client/client.ts'
import { showFailure } from '#src/lists/item-acts.ts'
import { mayDo, tellServer, useMay, useSession } from '#src/session.tsx'
import { Moment } from '#src/ui/moment.tsx'
import { Panel, Problem } from '#src/ui/page.tsx'
import type { Refusal } from '#src/ui/form.tsx'
import { toast } from '#src/ui/toast.tsx'
import { NoteForm } from './note-form.tsx'
import { NoteText } from './note-text.tsx'
import classes from './notes.module.css'

interface RecordProps {
  kind: NoteKind
  id: string
}

/** Renders nothing for a person who may not read the record. */
export function Notes({ kind, id }: RecordProps) {
  const { user } = useSession()
  if (!mayDo(user, notesNeed[kind])) return null
  return <NotesPanel key={`${kind} ${id}`} kind={kind} id={id} />
}

function useNotesOf({ kind, id }: RecordProps, enabled = true) {
  const query = useInfiniteQuery(
    api.notes.ofRecord.infiniteOptions({
      input: (after: string | undefined) => ({ kind, id, ...(after !== undefined && { after }) }),
      initialPageParam: undefined as string | undefined,
      getNextPageParam: ({ after }) => after ?? undefined,
      enabled,
    }),
  )
  return { ...query, notes: query.data?.pages.flatMap((page) => page.notes) }
}

/**
 * Returns the notes on a record, only to be read, for a page that shows them above its own content; no panel if there are none.
 * @param isThere whether the record is there: one in the trash has no notes
 */
export function useNotesToRead(record: RecordProps, isThere: boolean): { isLoading: boolean; panel: ReactNode } {
  const mayRead = useMay(notesNeed[record.kind])
  const query = useNotesOf(record, isThere && mayRead)
  const { user } = useSession()
  const headingId = useId()
  useSeen(query.notes, user?.id)
  if (!query.error && !query.notes?.length) return { isLoading: query.isLoading, panel: null }
  const panel = (
    <Panel labelledBy={headingId}>
      <h3 id={headingId} className={classes['heading']}>
        Notes
      </h3>
      <LoadedNotes query={query} kind={record.kind} canWrite={false} />
    </Panel>
  )
  return { isLoading: query.isLoading, panel }
}

function NotesPanel({ kind, id }: RecordProps) {
  const { user } = useSession()
  const headingId = useId()
  const query = useNotesOf({ kind, id })
  const canWrite = mayDo(user, 'notes.write')
  useSeen(query.notes, user?.id)

  return (
    <Panel labelledBy={headingId}>
      <h2 id={headingId} tabIndex={-1} className={classes['heading']}>
        Notes
      </h2>
      {canWrite && !isErasedPlayer(kind, id) && <NewNote kind={kind} id={id} />}
      <LoadedNotes query={query} kind={kind} canWrite={canWrite} />
    </Panel>
  )
}

interface LoadedNotesProps {
  query: ReturnType<typeof useNotesOf>
  kind: NoteKind
  canWrite: boolean
}

function LoadedNotes({ query, kind, canWrite }: LoadedNotesProps) {
  const { notes, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = query
  if (!notes) return error ? <Problem {...problemOf(error, () => void refetch())} /> : <output>Loading...</output>
  return (
    <>
      <List notes={notes} kind={kind} canWrite={canWrite} />
      {hasNextPage && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
    </>
  )
}

function isErasedPlayer(kind: NoteKind, id: string): boolean {
  return kind === 'player' && id.startsWith('-')
}

/** Tells the server that the person has seen the notes that mention them. */
function useSeen(notes: readonly Note[] | undefined, userId: string | undefined): void {
  const seen = notes?.filter(({ mentions }) => mentions.some(({ id }) => id === userId)).map(({ id }) => id) ?? []
  const key = seen.join(' ')
  useEffect(() => {
    if (key === '') return
    // If this fails, the dashboard shows the mention until the next look.
    tellServer(async (options) => {
      await client.notes.see({ ids: key.split(' ') }, options)
      await queryClient.invalidateQueries({ queryKey: api.notes.mentions.key() })
    })
  }, [key])
}

const refresh = () => queryClient.invalidateQueries({ queryKey: api.notes.key() })

function NewNote({ kind, id }: RecordProps) {
  const [createOnce] = useState(makeCreateOnce)
  const handleSave = async (input: NoteInput): Promise<Refusal | void> => {
    try {
      await createOnce((options) => client.notes.create({ kind, id, ...input }, options))
    } catch (cause) {
      return showFailure(cause)
    }
    await refresh()
    return undefined
  }
  return <NoteForm kind={kind} label="New note" submitLabel="Add note" onSave={handleSave} />
}

function List({ notes, kind, canWrite }: { notes: readonly Note[]; kind: NoteKind; canWrite: boolean }) {
  const { user } = useSession()
  if (notes.length === 0)
    return <p className={classes['none']}>{canWrite ? 'No notes yet. The team sees what you write here.' : 'No notes yet.'}</p>
  return (
    <ol className={classes['list']} aria-label="Notes, newest first">
      {notes.map((note) => {
        const isOwn = note.author.id === user?.id
        return (
          <NoteItem
            key={note.id}
            note={note}
            kind={kind}
            canChange={canWrite && isOwn}
            canDelete={canWrite && (isOwn || user?.role === 'owner')}
          />
        )
      })}
    </ol>
  )
}

interface NoteItemProps {
  note: Note
  kind: NoteKind
  canChange: boolean
  canDelete: boolean
}

function NoteItem({ note, kind, canChange, canDelete }: NoteItemProps) {
  const [isChanging, setIsChanging] = useState(false)
  const id = useId()
  const { text, author, createdAt, editedAt, mentions } = note
  const handleSave = async (input: NoteInput): Promise<Refusal | void> => {
    try {
      await client.notes.update({ noteId: note.id, version: note.version, ...input })
    } catch (cause) {
      return showFailure(cause)
    }
    await refresh()
    setIsChanging(false)
    return undefined
  }

  return (
    <li className={classes['note']}>
      <p id={id} className={classes['head']}>
        <strong>{author.name === null ? 'Former user' : isolated(author.name)}</strong> · <Moment iso={createdAt} />
        {editedAt !== null && (
          <>
            {' · '}
            <span title={`Changed ${new Date(editedAt).toLocaleString('en-US')}`}>changed</span>
          </>
        )}
      </p>
      {isChanging ? (
        <NoteForm
          key={note.version}
          kind={kind}
          label="Note"
          submitLabel="Save note"
          before={{ text, mentions }}
          onSave={handleSave}
          onReload={() => void refresh()}
          onCancel={() => setIsChanging(false)}
        />
      ) : (
        <>
          <NoteText text={text} mentions={mentions} />
          {canDelete && (
            <div className={classes['acts']}>
              {canChange && (
                <Button variant="default" size="compact-sm" aria-describedby={id} onClick={() => setIsChanging(true)}>
                  Edit
                </Button>
              )}
              <DeleteButton noteId={note.id} describedBy={id} />
            </div>
          )}
        </>
      )}
    </li>
  )
}

/** Deletes a note at once; the toast offers to undo it. */
function DeleteButton({ noteId, describedBy }: { noteId: string; describedBy: string }) {
  const [isBusy, setIsBusy] = useState(false)
  const handleUndo = () =>
    void client.notes.restore({ noteId }).then(async () => {
      await refresh()
      toast.success('The note is back.')
    }, showFailure)
  const handleClick = async (button: HTMLElement) => {
    if (isBusy) return
    setIsBusy(true)
    const heading = button.closest('section')?.querySelector('h2')
    try {
      await client.notes.remove({ noteId })
      toast.success('Note deleted.', { action: { label: 'Undo', onClick: handleUndo } })
      await refresh()
      heading?.focus()
    } catch (cause) {
      showFailure(cause)
    }
    setIsBusy(false)
  }
  return (
    <Button
      variant="default"
      size="compact-sm"
      aria-describedby={describedBy}
      aria-disabled={isBusy}
      onClick={({ currentTarget }) => void handleClick(currentTarget)}
    >
      Delete
    </Button>
  )
}
