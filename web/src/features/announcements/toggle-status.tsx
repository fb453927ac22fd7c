/** Toggle Status (§4), from the list and from the form: its question, which says what will happen and to how many players, and its toasts. */
import { type Announcement, announcementList } from '@arcade/contract/entities/announcement'
import { useQuery } from '@tanstack/react-query'
import { api, asCallError, client } from '#src/client.ts'
import { refreshAfterActOn } from '#src/lists/changes.ts'
import { useConfirm } from '#src/ui/confirm.tsx'
import { toast } from '#src/ui/toast.tsx'
import classes from './announcements.module.css'

/** Asks, then turns the status round. `status` is the one that the person sees. */
export function useToggleStatus(): (announcement: Pick<Announcement, 'id' | 'title' | 'status'>) => Promise<void> {
  const confirm = useConfirm()
  return async ({ id, title, status }) => {
    if (!(await confirm({ title: 'Toggle Status', message: <Question title={title} status={status} /> }))) return
    try {
      const { message } = await client.announcements.toggleStatus({ id, status })
      toast.success(message)
    } catch (cause) {
      const error = asCallError(cause)
      toast.failure(error.status === 0 ? 'Internal Server Error!' : error.message) // §8
    }
    await refreshAfterActOn(announcementList.name)
  }
}

function Question({ title, status }: { title: string; status: boolean }) {
  return (
    <>
      <p className={classes['question']}>{`Are you sure you want toggle status of ${title}.`}</p>
      <p className={classes['question']}>{status ? 'It becomes In Active. No player is told.' : <Activation />}</p>
    </>
  )
}

/** How many players an activation tells. */
function Activation() {
  const { data } = useQuery(api.players.count.queryOptions({ input: {} }))
  const players =
    data === undefined ? 'All players' : data.total === 1 ? '1 player' : `${data.total.toLocaleString('en-US')} players`
  return `It becomes Active. ${players} will have something new.`
}
