/** The queries that an act on a list's rows affects, so that only those are reloaded. */
import type { ListName } from '@arcade/contract/lists'
import { api, queryClient } from '#src/client/client.ts'

/** Deleted rows go to the trash. */
const trash = api.trash.key()

/** The dashboard counts the rows of every list. The calendar, History and a player's participations show tasks and announcements. */
const items = [api.dashboard.key(), api.calendar.key(), api.history.key(), api.players.participations.key(), trash]

const changedBy = {
  // The session holds the signed-in user's own name and role. Password links end with the role.
  users: [api.users.key(), api.dashboard.key(), api.auth.session.key(), api.account.passwordLinks.key(), trash],
  telegramUsers: [api.players.key(), api.dashboard.key()],
  socialTasks: [api.socialTasks.key(), ...items],
  dailyTasks: [api.dailyTasks.key(), ...items],
  announcements: [api.announcements.key(), ...items],
  audit: [api.audit.key()],
  // Restored rows are back in their lists.
  trash: [api.users.key(), api.socialTasks.key(), api.dailyTasks.key(), api.announcements.key(), ...items],
} satisfies Record<ListName, readonly (readonly unknown[])[]>

/** Call this after an act on rows of `list`. Reloads the affected queries that are shown; the others reload when they are shown. */
export async function refreshAfterActOn(list: ListName): Promise<void> {
  await Promise.all(changedBy[list].map((queryKey) => queryClient.invalidateQueries({ queryKey })))
}
