/** The audit: actions, kinds of actors and records, the fields of an entry, and the list of entries. */
import { defineList, type Fields, type FilterOf, type RowOf } from '#src/entity.ts'

/** The kinds of acts, with their labels. */
export const auditActionLabels = {
  'session.begin': 'Signed in',
  'session.refuse': 'Sign-in refused',
  'session.limit': 'Sign-ins limited',
  'session.refuse-code': 'Second factor refused',
  'session.step-up': 'Proved the second factor again',
  'session.end': 'Signed out',
  'session.revoke': 'Ended sessions',
  'user.register': 'Registered',
  'user.create': 'Added a user',
  'user.update': 'Changed a user',
  'user.role': 'Changed a role',
  'role.update': 'Changed what a role may do',
  'user.password': 'Set a password',
  'user.password-link': 'Made a password link',
  'user.password-link-end': 'Ended a password link',
  'user.password-mail': 'Mailed a password link',
  'user.email-ask': 'Asked to change an e-mail',
  'user.email': 'Changed an e-mail',
  'user.email-end': 'Cancelled a change of e-mail',
  'invitation.create': 'Invited a person',
  'invitation.resend': 'Renewed an invitation',
  'invitation.end': 'Ended an invitation',
  'user.second-factor': 'Changed a second factor',
  'user.second-factor-end': 'Removed a second factor',
  'user.telegram-code': 'Made a code for Telegram',
  'user.telegram': 'Linked a Telegram account',
  'user.telegram-end': 'Unlinked a Telegram account',
  'user.remove': 'Removed a user',
  'user.restore': 'Restored a user',
  'task.create': 'Added a task',
  'task.update': 'Changed a task',
  'task.priority': 'Changed a priority',
  'task.schedule': 'Moved the dates of a task',
  'task.end': 'Ended a task',
  'task.pause': 'Paused a task',
  'task.resume': 'Let a task go on',
  'task.remove': 'Deleted a task',
  'task.restore': 'Restored a task',
  'announcement.create': 'Added an announcement',
  'announcement.update': 'Changed an announcement',
  'announcement.activate': 'Activated an announcement',
  'announcement.deactivate': 'Deactivated an announcement',
  'announcement.schedule': 'Moved the dates of an announcement',
  'announcement.end': 'Ended an announcement',
  'announcement.remove': 'Deleted an announcement',
  'announcement.restore': 'Restored an announcement',
  'item.start': 'Started an item at its time',
  'item.end': 'Ended an item at its time',
  'item.full': 'Gave away all that an item had',
  'trash.purge': 'Purged from the trash',
  'file.upload': 'Uploaded a file',
  'players.status': 'Told players of news',
  'player.adjust': 'Adjusted a balance',
  'player.reverse': 'Reversed an entry of a balance',
  'player.block': 'Blocked a player',
  'player.unblock': 'Unblocked a player',
  'player.erase': 'Erased a player',
  'note.create': 'Wrote a note',
  'note.update': 'Changed a note',
  'note.remove': 'Deleted a note',
  'note.restore': 'Restored a note',
  'view.create': 'Saved a view',
  'view.update': 'Changed a view',
  'view.remove': 'Deleted a view',
  'view.default': 'Chose a first view',
  export: 'Exported',
  'token.create': 'Made a bot token',
  'token.rotate': 'Rotated a bot token',
  'token.retire': 'Ended the old secret of a bot token',
  'token.revoke': 'Revoked a bot token',
  'webhook.create': 'Added a webhook',
  'webhook.switch': 'Switched a webhook on or off',
  'webhook.remove': 'Deleted a webhook',
  'webhook.replay': 'Sent a webhook’s delivery again',
  'broadcast.create': 'Made a broadcast',
  'broadcast.start': 'Began a broadcast',
  'broadcast.pause': 'Paused a broadcast',
  'broadcast.resume': 'Resumed a broadcast',
  'broadcast.cancel': 'Cancelled a broadcast',
  'broadcast.resend': 'Sent a broadcast’s unknown messages again',
  'broadcast.test': 'Tested a broadcast',
  'broadcast.finish': 'Finished a broadcast',
  'setup-link.create': 'Made a setup link',
  'data.import': 'Imported data',
  'data.seed': 'Made synthetic data',
  'data.repair': 'Repaired derived data',
  'data.distribute': 'Divided the tables of players',
  'backup.start': 'Started a backup',
  'backup.create': 'Made a backup',
  'backup.verify': 'Started to verify a backup',
  'backup.cancel': 'Cancelled work on a backup',
  'backup.restore': 'Restored a backup',
  'backup.resume': 'Let scheduled work run',
  'audit.erase': 'Erased a person from the audit',
  'audit.drop': 'Dropped old entries of the audit',
} as const
export type AuditAction = keyof typeof auditActionLabels

/** The kinds of actors. `guest` is not signed in; `system` is the server itself. */
export const actorKindLabels = { user: 'Person', bot: 'Bot', guest: 'Guest', command: 'Command line', system: 'System' } as const
export type ActorKind = keyof typeof actorKindLabels

/** The kinds of records that acts change. */
export const recordKindLabels = {
  user: 'User',
  socialTask: 'Social Task',
  dailyTask: 'Daily Task',
  announcement: 'Announcement',
  player: 'Player',
  view: 'View',
  file: 'File',
  list: 'List',
  token: 'Bot Token',
  webhook: 'Webhook',
  broadcast: 'Broadcast',
  role: 'Role',
  invitation: 'Invitation',
  installation: 'Installation',
} as const
export type RecordKind = keyof typeof recordKindLabels

/** The fields that an act changed, each with its value before and after. */
export type AuditChanges = Readonly<Record<string, readonly [before: unknown, after: unknown]>>

/**
 * An entry's fields, in the order of the list's columns. `changes` (AuditChanges) and `detail` (other facts about the act) are JSON texts.
 * Only in entries whose record may tell personal fields of players are the personal ones withheld.
 */
export const auditFields = {
  seq: { label: 'No.', kind: 'integer', sheetWidth: 10 },
  at: { label: 'When', kind: 'moment', sheetWidth: 24 },
  actorName: { label: 'Who', kind: 'text', isOptional: true, sheetWidth: 24 },
  actorKind: { label: 'As', kind: 'choice', options: actorKindLabels, sheetWidth: 14 },
  action: { label: 'What', kind: 'choice', options: auditActionLabels, sheetWidth: 26 },
  recordKind: { label: 'Kind', kind: 'choice', options: recordKindLabels, isOptional: true, sheetWidth: 14 },
  recordName: { label: 'Record', kind: 'text', isOptional: true, isPersonal: true, sheetWidth: 32 },
  changes: { label: 'Changes', kind: 'text', isOptional: true, isDerived: true, isPersonal: true, sheetWidth: 60 },
  detail: { label: 'Details', kind: 'text', isOptional: true, isDerived: true, isPersonal: true, sheetWidth: 40 },
  address: { label: 'Address', kind: 'text', isOptional: true, sheetWidth: 18 },
  origin: { label: 'Site', kind: 'text', isOptional: true, sheetWidth: 24 },
  device: { label: 'Device', kind: 'text', isOptional: true, sheetWidth: 20 },
  actorId: { label: 'Actor ID', kind: 'text', isOptional: true, sheetWidth: 38 },
  recordId: { label: 'Record ID', kind: 'text', isOptional: true, sheetWidth: 38 },
  actId: { label: 'Request', kind: 'text', sheetWidth: 38 },
} as const satisfies Fields
export type AuditEntry = RowOf<typeof auditFields>

/** `search` finds the beginning of an actor's or record's name or of a reason, a word of an action, or the id of an actor, record or request. */
export const auditList = defineList({
  name: 'audit',
  noun: { one: 'entry', many: 'entries' },
  emptyText: 'Nothing has been done yet.',
  fileName: 'audit.xlsx',
  fields: auditFields,
  filters: {
    action: { label: 'What', kind: 'choice', field: 'action', options: auditActionLabels },
    recordKind: { label: 'Kind', kind: 'choice', field: 'recordKind', options: recordKindLabels },
    actorKind: { label: 'As', kind: 'choice', field: 'actorKind', options: actorKindLabels },
    actorId: { label: 'Who', kind: 'text', field: 'actorId', options: {} },
    recordId: { label: 'Record', kind: 'text', field: 'recordId', options: {} },
    doneFrom: { label: 'From', kind: 'from', field: 'at', isToTheMinute: true },
    doneBefore: { label: 'Until', kind: 'before', field: 'at', dayName: 'doneUntil', isToTheMinute: true },
  },
  sorts: { newest: { label: 'Newest', field: 'at', isDescending: true } },
  ownSort: 'newest',
  pageSizes: [50, 100], // §9
  isPagedByCursor: true,
})
export type AuditFilter = FilterOf<typeof auditList>
