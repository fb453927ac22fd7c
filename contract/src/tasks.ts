/** Social and daily tasks (§2, §3, §5): one set of calls a collection; what tells the two apart is the data below. */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { idField, linkField, numberField, pageField, pageOf, textField, versionField } from '#src/fields.ts'

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

function taskCalls(collection: TaskCollection) {
  const { title, path } = taskCollections[collection]
  const route = { tags: [title] }
  const done = z.object({ success: z.literal(true) })
  return {
    list: call(['admin'], { unexpected: 'FETCH_TASKS_FAILED' })
      .route({ ...route, method: 'GET', path: `/api${path}`, summary: `${title} by priority, 50 a page` })
      .input(z.strictObject({ page: pageField }))
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
  }
}

export const socialTasks = taskCalls('social')
export const dailyTasks = taskCalls('daily')
