/** The permission that each list and each kind of record needs, for calls that are about several of them. */
import type { RecordKind } from '#src/audit/fields.ts'
import type { HistoryKind } from '#src/history/fields.ts'
import type { ListName } from '#src/lists.ts'
import type { Permission } from './permissions.ts'

/** The permission to see each list. */
export const listPermissions = {
  users: 'users.read',
  telegramUsers: 'players.read',
  socialTasks: 'tasks.read',
  dailyTasks: 'tasks.read',
  announcements: 'announcements.read',
  audit: 'audit.read',
  trash: 'trash.manage',
} as const satisfies Record<ListName, Permission>

/** The permissions to see and to change each kind of record that the trash, undone acts and histories of records are about. */
export const recordPermissions = {
  user: { read: 'users.read', write: 'users.write' },
  socialTask: { read: 'tasks.read', write: 'tasks.write' },
  dailyTask: { read: 'tasks.read', write: 'tasks.write' },
  announcement: { read: 'announcements.read', write: 'announcements.write' },
  player: { read: 'players.read', write: 'players.block' },
} as const satisfies { [Kind in RecordKind]?: { read: Permission; write: Permission } }

/** The same of each kind of item. */
export const itemPermissions = {
  social: recordPermissions.socialTask,
  daily: recordPermissions.dailyTask,
  announcement: recordPermissions.announcement,
} as const satisfies Record<HistoryKind, { read: Permission; write: Permission }>
