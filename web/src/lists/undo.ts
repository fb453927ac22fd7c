/** The Undo button of toasts: undoes an act by its id, which is the id of the request. */
import type { List } from '@arcade/contract/entity'
import type { ListName } from '@arcade/contract/lists'
import { isolated } from '@arcade/contract/text'
import { asCallError, type CallOptions, client } from '#src/client.ts'
import { useConfirm } from '#src/ui/confirm.tsx'
import { counted, formatted } from '#src/ui/numbers.ts'
import { toast } from '#src/ui/toast.tsx'
import { refreshAfterActOn } from './changes.ts'

/** A restored announcement is inactive, so that players do not see it again until an operator activates it. */
export const COMES_BACK_INACTIVE = 'An announcement comes back inactive.'

type NamedList = List & { name: ListName }

/** Options for a call whose act can be undone. */
export interface ActOptions {
  context: CallOptions
}

/** Makes a call and returns its answer with the id of its act. */
export async function asAct<T>(run: (options: ActOptions) => Promise<T>): Promise<{ answer: T; actId: string | undefined }> {
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
    const { affected, named, refused, refusals } = await client.trash.restoreAct({ actId })
    if (affected > 0)
      toast.success(
        affected === 1 ? `${isolated(named[0]?.title ?? '')} is back.` : `${counted(affected, noun.one, noun.many)} are back.`,
        areAnnouncements ? { detail: COMES_BACK_INACTIVE } : {},
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
      toast.success(`${title ?? counted(affected, noun.one, noun.many)} as before.`)
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
  return {
    /** Says that announcements come back inactive. */
    ofDeletion: (actId: string | undefined, areAnnouncements = name === 'announcements') =>
      action(actId, (deletion) => restore(deletion, areAnnouncements)),
    /** @param title the name of the record as it stands in a sentence, if the act changed just one */
    ofChange: (actId: string | undefined, title?: string) => action(actId, (change) => takeBack(change, title)),
  }
}
