/** Which data an act on a list's rows changes, so that nothing else is loaded again. */
import type { ListName } from '@arcade/contract/lists'
import { api, queryClient } from '#src/client.ts'

/** What is deleted goes to the trash. */
const trash = api.trash.key()

/** The dashboard counts the rows of every list; History and players' time lines show the titles of tasks and announcements. */
const items = [api.dashboard.key(), api.history.key(), api.players.participations.key(), trash]

const changedBy = {
  // The session holds one's own name and role.
  users: [api.users.key(), api.dashboard.key(), api.auth.session.key(), trash],
  telegramUsers: [api.players.key(), api.dashboard.key()],
  socialTasks: [api.socialTasks.key(), ...items],
  dailyTasks: [api.dailyTasks.key(), ...items],
  announcements: [api.announcements.key(), ...items],
  audit: [api.audit.key()],
  // What is restored is in its list again.
  trash: [api.users.key(), api.socialTasks.key(), api.dailyTasks.key(), api.announcements.key(), ...items],
} satisfies Record<ListName, readonly (readonly unknown[])[]>

/** To be called after an act on rows of `list`: what the act may have changed is loaded again, once it is shown. */
export async function refreshAfterActOn(list: ListName): Promise<void> {
  await Promise.all(changedBy[list].map((queryKey) => queryClient.invalidateQueries({ queryKey })))
}
