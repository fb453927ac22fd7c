/** Restores a record as an entry of its history left it, or as it was before the oldest entry. A dry run shows the changes first. */
import type { AuditChanges } from '@arcade/contract/audit/fields'
import type { ListName } from '@arcade/contract/lists'
import { asCallError } from '#src/client/call-error.ts'
import { api, client, queryClient } from '#src/client/client.ts'
import { refreshAfterActOn } from '#src/lists/changes.ts'
import { useConfirm } from '#src/ui/confirm.tsx'
import { momentText } from '#src/ui/moment.tsx'
import { toast } from '#src/ui/toast.tsx'
import { forgetUnsavedWork, hasUnsavedWork } from '#src/ui/unsaved.ts'
import { changedInWords } from './change-words.ts'
import { ChangesList } from './changes-list.tsx'
import classes from './restore.module.css'

export interface Restorable {
  kind: 'socialTask' | 'dailyTask' | 'announcement' | 'user'
  id: string
  /** The version that the page shows. */
  version: number
  /** Reloads the record, which has a new version. */
  onRestored: () => void
}

const calls = {
  socialTask: client.socialTasks.restoreVersion,
  dailyTask: client.dailyTasks.restoreVersion,
  announcement: client.announcements.restoreVersion,
  user: client.users.restoreVersion,
}
const listOf: Record<Restorable['kind'], ListName> = {
  socialTask: 'socialTasks',
  dailyTask: 'dailyTasks',
  announcement: 'announcements',
  user: 'users',
}
const files = { image: 'image', icon: 'icon' }

interface Wanted {
  /** The entry's number; 0 for the version before the oldest entry. */
  seq: number
  /** The time of the entry. */
  at: string
}

export function useRestore({ kind, id, version, onRestored }: Restorable): (wanted: Wanted) => Promise<void> {
  const confirm = useConfirm()

  const restore = async ({ seq, at }: Wanted): Promise<void> => {
    const tried = await calls[kind]({ id, seq, version, dryRun: true })
    const changes = changedInWords(kind, JSON.parse(tried.changes) as AuditChanges)
    if (changes.length === 0) {
      toast.success('It is as it was then already.')
      return
    }
    const message = (
      <div className={classes['question']}>
        <p>{`It comes back as it was ${seq === 0 ? 'before' : 'after'} the change of ${momentText(at)}, as a new change:`}</p>
        <ChangesList changes={changes} />
        {tried.missing.map((file) => (
          <p key={file}>{`Its ${files[file]} of then is stored no more: it will have none.`}</p>
        ))}
        {hasUnsavedWork() && <p>What you have typed into the form and not saved is kept as a draft.</p>}
      </div>
    )
    if (!(await confirm({ title: 'Restore this version', message }))) return
    await calls[kind]({ id, seq, version })
    toast.success('Version restored.')
    forgetUnsavedWork()
    onRestored()
    await Promise.all([refreshAfterActOn(listOf[kind]), queryClient.invalidateQueries({ queryKey: api.audit.key() })])
  }

  return (wanted) =>
    restore(wanted).catch((cause: unknown) => {
      const { code, message } = asCallError(cause)
      toast.failure(
        code === 'STALE' ? 'Somebody else has changed this meanwhile. Load the page again to see how it is now.' : message,
      )
    })
}
