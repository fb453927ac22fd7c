/** Moves items of the calendar: a move shows at once, is saved, and can be undone in its toast. */
import type { CalendarItem } from '@arcade/contract/calendar/calls'
import { isolated } from '@arcade/contract/text'
import type { QueryKey } from '@tanstack/react-query'
import { useRef } from 'react'
import { asCallError } from '#src/client/call-error.ts'
import { queryClient } from '#src/client/client.ts'
import { refreshAfterActOn } from '#src/lists/changes.ts'
import { pauseListReloads } from '#src/lists/live.ts'
import { withdrawOlderUndos } from '#src/lists/undo.ts'
import { useConfirm } from '#src/ui/confirm.tsx'
import { toast } from '#src/ui/toast.tsx'
import type { Dates } from './days.ts'
import { checkMove, datesOf, datesText, listNameOf, savedDates, saveDates } from './move.ts'

/** Returns a function that moves an item, after a question if players would notice at once. */
export function useMoves(queryKey: QueryKey, zone: string): (item: CalendarItem, to: Dates) => Promise<void> {
  const confirm = useConfirm()
  /** Saves run one after the other, because each is based on the version that the previous one produced. */
  const saving = useRef(Promise.resolve())

  const putInCache = (item: CalendarItem) =>
    queryClient.setQueryData<{ items: CalendarItem[] }>(
      queryKey,
      (answer) =>
        answer && { ...answer, items: answer.items.map((one) => (one.id === item.id && one.kind === item.kind ? item : one)) },
    )

  const save = (item: CalendarItem, to: Dates, onSaved: (moved: CalendarItem) => void) => {
    const moved = { ...item, ...savedDates(to), version: item.version + 1 }
    void queryClient.cancelQueries({ queryKey }) // an answer from before the move would put the bar back
    putInCache(moved)
    const saveMoved = async () => {
      try {
        await saveDates(item, to)
        onSaved(moved)
      } catch (cause) {
        putInCache(item)
        const { code, message } = asCallError(cause)
        const detail = code === 'STALE' ? 'Somebody else has changed it meanwhile; the calendar shows what is saved.' : message
        toast.failure(`${isolated(item.title)} was not moved.`, { detail })
      }
      await refreshAfterActOn(listNameOf(item.kind))
    }
    saving.current = saving.current.then(() => pauseListReloads(saveMoved))
  }

  const move = async (item: CalendarItem, to: Dates, { isUndo = false } = {}): Promise<void> => {
    const from = datesOf(item)
    if (from.startsAt === to.startsAt && from.endsAt === to.endsAt) return
    const { refusal, question } = checkMove(item, to)
    if (refusal !== undefined) return toast.note(refusal)
    if (question && !(await confirm(question))) return
    const withdrawn = withdrawOlderUndos(listNameOf(item.kind), new Set([item.id]))
    save(item, to, (moved) => {
      if (isUndo) return toast.success(`${isolated(item.title)} is back.`)
      const handleUndo = () => void move(moved, from, { isUndo: true })
      // A start that has told the players cannot be taken back.
      const action = question ? {} : { action: { label: 'Undo', onClick: handleUndo, withdrawn } }
      return toast.success(`${isolated(item.title)} moved: ${datesText(to, zone)}.`, action)
    })
  }
  return move
}
