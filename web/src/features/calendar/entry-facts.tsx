/** What an entry of the calendar is, and its state. */
import { BroadcastStateChip } from '#src/lists/broadcast-state.tsx'
import { ItemStateChip } from '#src/lists/item-state.tsx'
import classes from './calendar.module.css'
import { type Entry, entryKindText, isItem, kindOf } from './entries.ts'

/** @param note what else there is to say */
export function EntryFacts({ entry, note }: { entry: Entry; note?: string | undefined }) {
  return (
    <span className={classes['facts']}>
      {entryKindText(kindOf(entry))}{' '}
      {isItem(entry) ? <ItemStateChip state={entry.state} /> : <BroadcastStateChip state={entry.state} />} {note}
    </span>
  )
}
