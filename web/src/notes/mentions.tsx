/** The dashboard's panel of notes that mention the signed-in person and that were not seen yet. Renders nothing without any. */
import type { FoundNote } from '@arcade/contract/notes/calls'
import { noteKindLabels, notesNeed } from '@arcade/contract/notes/fields'
import { isolated } from '@arcade/contract/text'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { api, client } from '#src/client/client.ts'
import { useNotedHref } from '#src/lists/form-hrefs.ts'
import { useItemAct } from '#src/lists/item-acts.ts'
import { useAutoReload } from '#src/lists/live.ts'
import { mayDo, useSession } from '#src/session.tsx'
import { AppLink } from '#src/ui/app-link.tsx'
import { Moment } from '#src/ui/moment.tsx'
import { Panel } from '#src/ui/page.tsx'
import { NoteText } from './note-text.tsx'
import classes from './notes.module.css'

export function Mentions() {
  const { user } = useSession()
  const mayRead = Object.values(notesNeed).some((need) => mayDo(user, need))
  const mentions = useQuery(api.notes.mentions.queryOptions({ enabled: mayRead }))
  useAutoReload(mentions)
  const notes = mentions.data?.notes ?? []
  if (notes.length === 0) return null
  return (
    <Panel title="Mentions">
      <ol className={classes['list']} aria-label="Notes that mention you">
        {notes.map((note) => (
          <Mention key={note.id} note={note} />
        ))}
      </ol>
    </Panel>
  )
}

function Mention({ note }: { note: FoundNote }) {
  const { id, kind, recordId, title, text, author, createdAt, mentions } = note
  const act = useItemAct(api.notes.mentions.key())
  const headId = useId()
  const href = useNotedHref()(kind, recordId)
  const handleSeen = () =>
    void act(async () => {
      await client.notes.see({ ids: [id] })
      return 'Marked as seen.'
    })
  return (
    <li className={classes['note']}>
      <p id={headId} className={classes['head']}>
        <strong>{author.name === null ? 'Former user' : isolated(author.name)}</strong> on {noteKindLabels[kind]}{' '}
        {href === undefined ? isolated(title) : <AppLink href={href}>{isolated(title)}</AppLink>} · <Moment iso={createdAt} />
      </p>
      <NoteText text={text} mentions={mentions} />
      <div className={classes['acts']}>
        <Button variant="default" size="compact-sm" aria-describedby={headId} onClick={handleSeen}>
          Seen
        </Button>
      </div>
    </li>
  )
}
