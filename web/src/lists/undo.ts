/** The Undo button of toasts: undoes an act by its id, which is the id of the request. */
import type { List } from '@arcade/contract/entity'
import type { ListName } from '@arcade/contract/lists'
import { isolated } from '@arcade/contract/text'
import { asCallError } from '#src/client/call-error.ts'
import { type CallOptions, client } from '#src/client/client.ts'
import { useConfirm } from '#src/ui/confirm.tsx'
import { counted, formatted } from '#src/ui/numbers.ts'
import { toast } from '#src/ui/toast.tsx'
import { refreshAfterActOn } from './changes.ts'

/** A restored announcement is inactive, so that players do not see it again until an operator activates it. */
export const COMES_BACK_INACTIVE = 'An announcement comes back inactive.'

/** Returns the detail of a toast about restored tasks; an empty text if none of them has lost its segment. */
export function pausedText(pausedTasks: number): string {
  if (pausedTasks === 0) return ''
  return pausedTasks === 1
    ? 'A task comes back paused, because its segment is gone.'
    : `${formatted(pausedTasks)} tasks come back paused, because their segment is gone.`
}

interface Undoable {
  list: ListName
  ids: ReadonlySet<string> | undefined
  withdrawal: AbortController
}

/** Acts whose Undo button may still be shown; of older ones the toast is gone. */
let undoables: readonly Undoable[] = []
const MAX_UNDOABLES = 20

/**
 * Undo is a stack: an act withdraws the Undo buttons of older acts that changed the same records, because they could only fail.
 * @param ids the ids of the changed records; undefined stands for all records of the list
 * @returns the signal for the button of this act
 */
export function withdrawOlderUndos(list: ListName, ids?: ReadonlySet<string>): AbortSignal {
  const isSuperseded = (older: Undoable) =>
    older.list === list && (!ids || !older.ids || [...older.ids].some((id) => ids.has(id)))
  for (const { withdrawal } of undoables.filter(isSuperseded)) withdrawal.abort()
  const withdrawal = new AbortController()
  undoables = [...undoables.filter((older) => !isSuperseded(older)), { list, ids, withdrawal }].slice(-MAX_UNDOABLES)
  return withdrawal.signal
}

type NamedList = List & { name: ListName }

/** Options for a call whose act can be undone. */
export interface ActOptions {
  context: CallOptions
}

type ActRun<T> = (options: ActOptions) => Promise<T>

/** Makes a call and returns its answer with the id of its act. */
export async function asAct<T>(run: ActRun<T>): Promise<{ answer: T; actId: string | undefined }> {
  let actId: string | undefined
  const answer = await run({ context: { onRequestId: (id) => (actId = id) } })
  return { answer, actId }
}

/** Returns the Undo buttons for acts on a list. */
export function useUndo({ name, noun }: NamedList) {
  const confirm = useConfirm()

  const attempt = async (undo: () => Promise<void>) => {
    await undo().catch((cause: unknown) => toast.failure(asCallError(cause).message))
    await refreshAfterActOn(name)
  }

  /** Restores the records that an act deleted. */
  const restore = async (actId: string, areAnnouncements: boolean) => {
    const { affected, named, refused, refusals, pausedTasks } = await client.trash.restoreAct({ actId })
    if (affected > 0)
      toast.success(
        affected === 1 ? `${isolated(named[0]?.title ?? '')} is back.` : `${counted(affected, noun.one, noun.many)} are back.`,
        { detail: areAnnouncements ? COMES_BACK_INACTIVE : pausedText(pausedTasks) },
      )
    if (refused === 0) return
    // STALE: the record exists again and cannot be restored. Any other refused record can be restored from the trash with another priority
    // or e-mail address.
    const restorable = refusals.find(({ code }) => code !== 'STALE')
    const first = restorable ?? refusals[0]
    const others = refused > 1 ? ` and ${formatted(refused - 1)} more stay` : ' stays'
    const advice = restorable ? ', to be restored from there' : ''
    toast.failure(`${isolated(first?.title ?? '')}${others} in the trash${advice}.`, { detail: first?.reason ?? '' })
  }

  /** Reverts the changes of an act. Records that were changed since are named, and a confirmation offers to revert the others. */
  const takeBack = async (actId: string, title?: string) => {
    const undo = async (isPartial: boolean) => {
      const { affected } = await client.acts.undo({ actId, isPartial })
      toast.success(`${title ?? counted(affected, noun.one, noun.many)} ${affected === 1 ? 'is' : 'are'} as before.`)
    }
    try {
      await undo(false)
    } catch (cause) {
      const { code, message } = asCallError(cause)
      if (code !== 'CHANGED_SINCE') throw cause
      if (await confirm({ title: 'Undo the others', message: `${message} Undo the others?` })) await undo(true)
    }
  }

  const action = (actId: string | undefined, undo: (actId: string) => Promise<void>) => {
    if (actId === undefined) return undefined
    const run = () => attempt(() => undo(actId))
    return { label: 'Undo', run, onClick: () => void run() }
  }
  /** Says that announcements come back inactive. */
  const ofDeletion = (actId: string | undefined, areAnnouncements = name === 'announcements') =>
    action(actId, (deletion) => restore(deletion, areAnnouncements))
  /** @param one the record, if the act changed just one, with its title as it stands in a sentence */
  const ofChange = (actId: string | undefined, one?: { id: string; title: string }) => {
    const offered = action(actId, (change) => takeBack(change, one?.title))
    return offered && { ...offered, withdrawn: withdrawOlderUndos(name, one && new Set([one.id])) }
  }
  /** Makes a call that changes records, and returns its answer with the Undo button. */
  const change = async <T extends object>(run: ActRun<T>) => {
    const { answer, actId } = await asAct(run)
    return { ...answer, undo: ofChange(actId) }
  }
  /** Makes a call that deletes records, and returns its answer with the Undo button. */
  const deletion = async <T extends object>(run: ActRun<T>) => {
    const { answer, actId } = await asAct(run)
    return { ...answer, undo: ofDeletion(actId) }
  }
  return { ofDeletion, ofChange, change, deletion }
}
