/** The text of a note, apart from the form, which the dashboard does without. */
import type { Note } from '@arcade/contract/notes/calls'
import { partsOf } from './mention-text.ts'
import classes from './notes.module.css'

/** The text as it was typed, with its mentions in bold. */
export function NoteText({ text, mentions }: Pick<Note, 'text' | 'mentions'>) {
  return (
    <p className={classes['text']} dir="auto">
      {partsOf(text, mentions).map((part, index) => (part.mention ? <strong key={index}>{part.text}</strong> : part.text))}
    </p>
  )
}
