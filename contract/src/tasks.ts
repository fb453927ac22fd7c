/** Social and daily tasks (§2, §3, §5). Both collections have the same calls; `taskCollections` holds what differs. */
import { z } from 'zod'
import { BULK_BODY_LIMIT_BYTES, bulkOutput, bulkRun, bulkTarget } from './bulk.ts'
import { call } from './call.ts'
import {
  defineList,
  type Fields,
  type FilterOf,
  filterSchema,
  orderFields,
  type RowOf,
  rowSchema,
  type SortName,
} from './entity.ts'
import { idField, linkField, numberField, pageField, pageOf, textField, versionField } from './fields.ts'

export const TASK_TITLE_MAX_LENGTH = 200

/** The task types of §5 as people read them. */
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

interface TaskCollectionFacts {
  /** The heading of the collection's list. */
  title: string
  /** What one task of the collection is called. */
  itemTitle: string
  /** The path of the list. The forms are at `{path}-form` and `{path}-form-update` (§2), the calls at `/api{path}`. */
  path: '/social-tasks' | '/daily-tasks'
  types: readonly [TaskType, ...TaskType[]]
}

export const taskCollections: Record<TaskCollection, TaskCollectionFacts> = {
  social: {
    title: 'Social Tasks',
    itemTitle: 'Social Task',
    path: '/social-tasks',
    types: ['twitter', 'instagram', 'linkedin', 'discord', 'youtube', 'moreLink', 'email', 'bsc'],
  },
  daily: {
    title: 'Daily Tasks',
    itemTitle: 'Daily Task',
    path: '/daily-tasks',
    types: ['telegram', 'twitter', 'instagram', 'youtube', 'moreLink'],
  },
}

const typesWithoutLink: readonly string[] = ['email', 'bsc']

/** §5: the link field is hidden for email and bsc, and such a task has no link. */
export function hasLink(type: string): boolean {
  return !typesWithoutLink.includes(type)
}

function fieldsOf(collection: TaskCollection) {
  return {
    priority: numberField('Priority'),
    type: z.enum<readonly TaskType[]>(taskCollections[collection].types, 'Type is required'),
    title: textField('Title', TASK_TITLE_MAX_LENGTH),
    /** A task whose link is empty or absent is saved without a link (§5). */
    link: linkField,
    reward: numberField('Reward'),
  }
}

/** The add and edit forms of a collection send this. */
export function taskInputFor(collection: TaskCollection) {
  return z.strictObject(fieldsOf(collection))
}
export type TaskInput = z.infer<ReturnType<typeof taskInputFor>>

/** A task's fields (§3), in the order of the list's columns. An imported task may have a type that the form does not offer. */
export const taskFields = {
  id: { label: 'ID', kind: 'text' },
  priority: { label: 'Priority', kind: 'number', sheetWidth: 12 },
  type: { label: 'Type', kind: 'text', sheetWidth: 16 },
  title: { label: 'Title', kind: 'text', sheetWidth: 40 },
  link: { label: 'Link', kind: 'text', isOptional: true, sheetWidth: 48 },
  reward: { label: 'Reward', kind: 'number', sheetWidth: 12 },
  numberOfParticipants: { label: 'Participants', kind: 'integer', isDerived: true, sheetWidth: 14 },
  createdAt: { label: 'Created At', kind: 'moment', sheetWidth: 20 },
  version: { label: 'Version', kind: 'integer' },
} as const satisfies Fields

export const task = rowSchema(taskFields)
export type Task = RowOf<typeof taskFields>

/** `search` is a part of a title or link. */
function taskListOf<const Name extends string>(name: Name, collection: TaskCollection) {
  const types = taskCollections[collection].types.map((type) => [type, taskTypeLabels[type]])
  return defineList({
    name,
    fields: taskFields,
    filters: {
      type: { label: 'Type', kind: 'text', field: 'type', options: Object.fromEntries(types) as Record<string, string> },
    },
    sorts: {
      priority: { label: 'Priority', field: 'priority' },
      title: { label: 'Title', field: 'title' },
      reward: { label: 'Reward', field: 'reward' },
      participants: { label: 'Participants', field: 'numberOfParticipants' },
    },
    ownSort: 'priority',
    pageSizes: [50], // §9
  })
}
export const taskLists = { social: taskListOf('socialTasks', 'social'), daily: taskListOf('dailyTasks', 'daily') }
export const tasksFilter = filterSchema(taskLists.social)
export type TasksFilter = FilterOf<(typeof taskLists)[TaskCollection]>
export type TasksSort = SortName<(typeof taskLists)[TaskCollection]>

/** One call puts at most so many tasks into another order. */
export const REORDER_MAX_TASKS = 1000

function taskCalls(collection: TaskCollection) {
  const { title, path } = taskCollections[collection]
  const route = { tags: [title] }
  const done = z.object({ success: z.literal(true) })
  return {
    list: call(['admin'], { unexpected: 'FETCH_TASKS_FAILED' })
      .route({ ...route, method: 'GET', path: `/api${path}`, summary: `${title} by priority, 50 a page` })
      .input(tasksFilter.extend({ page: pageField, ...orderFields(taskLists[collection]) }))
      /** An empty list comes with the `message` `No tasks found!` (§8). */
      .output(z.object({ tasks: z.array(task), message: z.string().optional(), ...pageOf })),
    get: call(['admin'])
      .route({ ...route, method: 'GET', path: `/api${path}/{id}`, summary: 'One task' })
      .input(z.strictObject({ id: idField }))
      .output(task),
    create: call(['admin'], { unexpected: 'CREATE_TASK_FAILED' })
      .route({ ...route, method: 'POST', path: `/api${path}`, summary: 'Add a task' })
      .input(taskInputFor(collection))
      .output(done.extend({ id: idField })),
    update: call(['admin'])
      .route({ ...route, method: 'PUT', path: `/api${path}/{id}`, summary: 'Change a task' })
      .input(z.strictObject({ ...fieldsOf(collection), id: idField, version: versionField.optional() }))
      .output(done),
    remove: call(['admin'])
      .route({ ...route, method: 'DELETE', path: `/api${path}/{id}`, summary: 'Delete a task; its history stays' })
      .input(z.strictObject({ id: idField }))
      .output(done),
    removeMany: call(['admin'], { bodyLimitBytes: BULK_BODY_LIMIT_BYTES })
      .route({ ...route, method: 'POST', path: `/api${path}/remove`, summary: 'Delete many tasks; their history stays' })
      .input(z.strictObject({ target: bulkTarget(tasksFilter), ...bulkRun }))
      .output(bulkOutput),
    /** The targets get `first`, `first + step` and so on in their present order. A task outside the targets that has one of these fails the call with PRIORITY_TAKEN. */
    prioritise: call(['admin'], { bodyLimitBytes: BULK_BODY_LIMIT_BYTES })
      .route({ ...route, method: 'POST', path: `/api${path}/priorities`, summary: 'Number many tasks anew, all or none' })
      .input(
        z.strictObject({
          target: bulkTarget(tasksFilter),
          first: numberField('First Priority'),
          step: numberField('Step').positive('Step must be above 0'),
          ...bulkRun,
        }),
      )
      .output(bulkOutput),
    /** `priority` is the one that the caller saw. The tasks share out the priorities that they have among themselves, in the order given. */
    reorder: call(['admin'], { bodyLimitBytes: BULK_BODY_LIMIT_BYTES })
      .route({
        ...route,
        method: 'POST',
        path: `/api${path}/order`,
        summary: 'Share out the priorities of some tasks among them, in the order given; STALE if one of them changed meanwhile',
      })
      .input(
        z.strictObject({
          tasks: z
            .array(z.strictObject({ id: idField, priority: numberField('Priority') }))
            .min(2)
            .max(REORDER_MAX_TASKS),
        }),
      )
      .output(done),
  }
}

export const socialTasks = taskCalls('social')
export const dailyTasks = taskCalls('daily')
