/** Social and daily tasks (§2, §3, §5): one set of calls a collection; what tells the two apart is the data below. */
import { z } from 'zod'
import { BULK_BODY_LIMIT_BYTES, bulkOutput, bulkRun, bulkTarget } from './bulk.ts'
import { call } from './call.ts'
import {
  idField,
  linkField,
  numberField,
  pageField,
  pageOf,
  reversedField,
  searchField,
  textField,
  versionField,
} from './fields.ts'

export const TASKS_PAGE_SIZE = 50 // §9
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
  /** The heading of its list. */
  title: string
  /** What one of it is called. */
  itemTitle: string
  /** Of the list; the forms are at `{path}-form` and `{path}-form-update` (§2), the calls at `/api{path}`. */
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
    /** Empty or absent: the task is saved without a link. */
    link: linkField,
    reward: numberField('Reward'),
  }
}

/** What the add and edit forms of a collection send. */
export function taskInputFor(collection: TaskCollection) {
  return z.strictObject(fieldsOf(collection))
}
export type TaskInput = z.infer<ReturnType<typeof taskInputFor>>

/** A row of the list. An imported task may have a type that the form does not offer. */
export const task = z.object({
  id: idField,
  priority: z.number(),
  type: z.string(),
  title: z.string(),
  link: z.string().nullable(),
  reward: z.number(),
  createdAt: z.iso.datetime(),
  numberOfParticipants: z.int(),
  version: versionField,
})
export type Task = z.infer<typeof task>

/** What narrows a list of tasks down. `search` is part of a title or link. */
export const tasksFilter = z.strictObject({ search: searchField, type: z.string().max(64).optional() })
export type TasksFilter = z.infer<typeof tasksFilter>
export const tasksSorts = ['priority', 'title', 'reward', 'participants'] as const
export type TasksSort = (typeof tasksSorts)[number]

/** Tasks that one call puts in another order. */
export const REORDER_MAX_TASKS = 1000

function taskCalls(collection: TaskCollection) {
  const { title, path } = taskCollections[collection]
  const route = { tags: [title] }
  const done = z.object({ success: z.literal(true) })
  return {
    list: call(['admin'], { unexpected: 'FETCH_TASKS_FAILED' })
      .route({ ...route, method: 'GET', path: `/api${path}`, summary: `${title} by priority, 50 a page` })
      .input(tasksFilter.extend({ page: pageField, sort: z.enum(tasksSorts).default('priority'), reversed: reversedField }))
      /** `message` stands beside an empty list: `No tasks found!` (§8). */
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
    /** The targets, in their present order, get `first`, `first + step`, …; PRIORITY_TAKEN if a task not among them has one. */
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
    /** `priority` is the one the caller saw. Together the tasks keep their priorities; who has which changes. */
    reorder: call(['admin'], { bodyLimitBytes: BULK_BODY_LIMIT_BYTES })
      .route({
        ...route,
        method: 'POST',
        path: `/api${path}/order`,
        summary: 'Deal the priorities of some tasks out anew, in the order given; STALE if one of them changed meanwhile',
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
