/** All lists of the console by their names in the API. */
import { announcementList } from '#src/announcements/fields.ts'
import { auditList } from '#src/audit/fields.ts'
import type { List } from './entity.ts'
import { playerList } from '#src/players/fields.ts'
import { taskCollections, taskLists } from '#src/tasks/fields.ts'
import { trashList } from '#src/trash/fields.ts'
import { userList } from '#src/users/fields.ts'

export const lists = {
  users: userList,
  telegramUsers: playerList,
  socialTasks: taskLists.social,
  dailyTasks: taskLists.daily,
  announcements: announcementList,
  audit: auditList,
  trash: trashList,
} as const satisfies Record<string, List>
export type ListName = keyof typeof lists

/** The path of each list's page (§2, or this product's own). */
export const listPaths = {
  users: '/manage-users',
  telegramUsers: '/manage-telegram-users',
  socialTasks: taskCollections.social.path,
  dailyTasks: taskCollections.daily.path,
  announcements: '/annoucements', // sic, §2
  audit: '/audit',
  trash: '/trash',
} as const satisfies Record<ListName, string>
