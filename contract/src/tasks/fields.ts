/** Social and daily tasks (§3, §5) and their lists (§2). `taskCollections` has the differences between the two. */
import { defineList, type Fields, type FilterOf, type RowOf, type SortName } from '#src/entity.ts'
import { availabilityFields, taskStateLabels } from '#src/items/fields.ts'

/** The task types of §5, with their labels. */
export const taskTypeLabels = {
  telegram: 'Telegram',
  twitter: 'Twitter',
  instagram: 'Instagram',
  linkedin: 'LinkedIn',
  discord: 'Discord',
  youtube: 'Youtube',
  moreLink: 'Website', // §5
  email: 'Email',
  bsc: 'Bsc Wallet Address', // §5
} as const
export type TaskType = keyof typeof taskTypeLabels

export type TaskCollection = 'social' | 'daily'
export type TaskRecordKind = 'socialTask' | 'dailyTask'

interface TaskCollectionFacts {
  /** The heading of the collection's list. */
  title: string
  /** The noun for one task of the collection. */
  itemTitle: string
  /** The kind of record in the audit and the trash. */
  recordKind: TaskRecordKind
  /** The path of the list. The forms are at `{path}-form` and `{path}-form-update` (§2), the calls at `/api{path}`. */
  path: '/social-tasks' | '/daily-tasks'
  types: readonly [TaskType, ...TaskType[]]
}

export const taskCollections: Record<TaskCollection, TaskCollectionFacts> = {
  social: {
    title: 'Social Tasks',
    itemTitle: 'Social Task',
    recordKind: 'socialTask',
    path: '/social-tasks',
    types: ['twitter', 'instagram', 'linkedin', 'discord', 'youtube', 'moreLink', 'email', 'bsc'],
  },
  daily: {
    title: 'Daily Tasks',
    itemTitle: 'Daily Task',
    recordKind: 'dailyTask',
    path: '/daily-tasks',
    types: ['telegram', 'twitter', 'instagram', 'youtube', 'moreLink'],
  },
}

/** The collection of a task in the audit or the trash. */
export const collectionOf: Record<TaskRecordKind, TaskCollection> = { socialTask: 'social', dailyTask: 'daily' }

const typesWithoutLink: readonly string[] = ['email', 'bsc']

/** §5: the link field is hidden for email and bsc, and such a task has no link. */
export function hasLink(type: string): boolean {
  return !typesWithoutLink.includes(type)
}

/** The checkbox in the forms of tasks and announcements. */
export const verifiedByBotTexts = {
  label: 'Verified by the bot',
  description:
    'Only the bot can then claim it for a player, once it has seen that it is done. Without this, a claim pays at once, even if the player never opened the link.',
} as const

/** The types that the game's bot can check: whether a player is in a channel, or has given an address. */
const checkedByBot: readonly string[] = ['telegram', 'discord', 'email', 'bsc']

/** Returns the checkbox's texts for a type of task, with advice where only the bot can tell whether a player has done the task. */
export function verifiedByBotTextsFor(type: string | undefined): { label: string; description: string } {
  const { label, description } = verifiedByBotTexts
  if (type === undefined || !checkedByBot.includes(type)) return verifiedByBotTexts
  const name = taskTypeLabels[type as TaskType]
  return { label, description: `${description} Recommended for ${name}: only the bot can check such a task.` }
}

/** A task's fields (§3), in the order of the list's columns. An imported task may have a type that the form does not offer. */
export const taskFields = {
  id: { label: 'ID', kind: 'text' },
  priority: { label: 'Priority', kind: 'number', sheetWidth: 12 },
  type: { label: 'Type', kind: 'text', sheetWidth: 16 },
  title: { label: 'Title', kind: 'text', sheetWidth: 40 },
  link: { label: 'Link', kind: 'text', isOptional: true, sheetWidth: 48 },
  reward: { label: 'Reward', kind: 'number', sheetWidth: 12 },
  /** Only the game's bot may claim the item, not the player's own client. */
  verifiedByBot: { label: 'Verified by the bot', kind: 'flag' },
  numberOfParticipants: { label: 'Participants', kind: 'integer', isDerived: true, sheetWidth: 14 },
  createdAt: { label: 'Created At', kind: 'moment', sheetWidth: 24 },
  ...availabilityFields,
  /** An operator has paused the task: nobody can claim it. */
  paused: { label: 'Paused', kind: 'flag', sheetWidth: 10 },
  version: { label: 'Version', kind: 'integer' },
} as const satisfies Fields
export type Task = RowOf<typeof taskFields>

/** `search` finds part of a title or link. */
function defineTaskList<const Name extends string>(name: Name, collection: TaskCollection) {
  const types = taskCollections[collection].types.map((type) => [type, taskTypeLabels[type]])
  return defineList({
    name,
    noun: { one: 'task', many: 'tasks' },
    emptyText: 'No tasks found!', // §8
    fileName: `${collection}-tasks.xlsx`,
    fields: taskFields,
    filters: {
      type: { label: 'Type', kind: 'text', field: 'type', options: Object.fromEntries(types) as Record<string, string> },
      state: { label: 'State', kind: 'choice', options: taskStateLabels },
    },
    sorts: {
      priority: { label: 'Priority', field: 'priority' },
      title: { label: 'Title', field: 'title' },
      reward: { label: 'Reward', field: 'reward' },
      participants: { label: 'Participants', field: 'numberOfParticipants' },
      created: { label: 'Created', field: 'createdAt' },
    },
    defaultSort: 'priority',
    pageSizes: [50], // §9
  })
}
export const taskLists = { social: defineTaskList('socialTasks', 'social'), daily: defineTaskList('dailyTasks', 'daily') }
export type TasksFilter = FilterOf<(typeof taskLists)[TaskCollection]>
export type TasksSort = SortName<(typeof taskLists)[TaskCollection]>
