/** Columns whose TypeScript type says more than their PostgreSQL type: text columns that hold only a few values. */
export const overrideImports: readonly string[] = [
  `import type { announcementTypeLabels, LinkType } from '@arcade/contract/announcements/fields'`,
  `import type { BotScope } from '@arcade/contract/bot-tokens/fields'`,
  `import type { HistoryKind } from '@arcade/contract/history/fields'`,
  `import type { ListName } from '@arcade/contract/lists'`,
  `import type { NoteKind } from '@arcade/contract/notes/fields'`,
  `import type { TaskCollection } from '@arcade/contract/tasks/fields'`,
  `import type { Role } from '@arcade/contract/team/fields'`,
  `import type { TrashKind } from '@arcade/contract/trash/fields'`,
  `import type { UserType } from '@arcade/contract/users/fields'`,
  `import type { WebhookEvent } from '@arcade/contract/webhooks/fields'`,
]

/** The TypeScript type of `table.column`. The generator adds null for columns that may be null. */
export const columnTypeOverrides: Readonly<Record<string, string>> = {
  'announcements.link_type': 'LinkType',
  'announcements.type': 'keyof typeof announcementTypeLabels',
  'bot_tokens.scope': 'BotScope',
  'default_views.list': 'ListName',
  'history_items.kind': 'HistoryKind',
  'invitations.role': 'Role',
  'item_quotas.kind': 'HistoryKind',
  'item_quotas.quota': `'places' | 'points'`,
  'ledger_entries.kind': 'HistoryKind',
  'notes.kind': 'NoteKind',
  'participations.kind': 'HistoryKind',
  'passkey_challenges.purpose': `'register' | 'sign-in' | 'second-factor' | 'step-up'`,
  'passkeys.device_type': `'singleDevice' | 'multiDevice'`,
  'role_settings.role': 'Role',
  'saved_views.list': 'ListName',
  'tasks.collection': 'TaskCollection',
  'trash.kind': 'TrashKind',
  'uncounted_entries.kind': 'HistoryKind',
  'users.role': 'Role',
  'users.user_type': 'UserType',
  'webhooks.events': 'WebhookEvent[]',
}
