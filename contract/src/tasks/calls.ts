/** Social and daily tasks (§2, §3, §5). Both collections have the same calls; `taskCollections` has the differences. */
import { z } from 'zod'
import { MAX_BULK_BODY_BYTES, bulkOutput, bulkRun, bulkTarget } from '#src/bulk.ts'
import { call } from '#src/call.ts'
import { type TaskCollection, taskCollections, taskFields, taskLists, type TaskType } from './fields.ts'
import { filterSchema, orderFields, rowSchema } from '#src/list-schemas.ts'
import {
  idField,
  linkField,
  numberField,
  pageField,
  pageFields,
  rewardField,
  textField,
  verifiedByBotField,
  versionField,
} from '#src/field-schemas.ts'
import {
  asRefinement,
  availabilityInput,
  budgetPaysReward,
  endsAfterStart,
  pausedInput,
  shiftInput,
} from '#src/items/availability.ts'
import { restoreInput, restoreOutput } from '#src/versions.ts'

export const MAX_TASK_TITLE_LENGTH = 200

function inputFields(collection: TaskCollection) {
  return {
    priority: numberField('Priority'),
    type: z.enum<readonly TaskType[]>(taskCollections[collection].types, 'Type is required'),
    title: textField('Title', MAX_TASK_TITLE_LENGTH),
    /** A task with an empty or missing link is saved without a link (§5). */
    link: linkField,
    reward: rewardField,
    verifiedByBot: verifiedByBotField,
    ...availabilityInput,
    paused: pausedInput,
  }
}

/** The input of a collection's add and edit forms. */
export function taskInputFor(collection: TaskCollection) {
  return z
    .strictObject(inputFields(collection))
    .refine(...asRefinement(endsAfterStart))
    .refine(...asRefinement(budgetPaysReward))
}
export type TaskInput = z.infer<ReturnType<typeof taskInputFor>>
/** The input before the schema fills in defaults. */
export type TaskFormValues = z.input<ReturnType<typeof taskInputFor>>

export const task = rowSchema(taskFields)
export const tasksFilter = filterSchema(taskLists.social)

/** Most tasks that one call reorders. */
export const MAX_REORDER_TASKS = 1000

function taskCalls(collection: TaskCollection) {
  const { title, path } = taskCollections[collection]
  const route = { tags: [title] }
  const done = z.object({ success: z.literal(true) })
  return {
    list: call(['admin'], { needs: 'tasks.read', unexpected: 'FETCH_TASKS_FAILED', mayBeSecondOld: true })
      .route({ ...route, method: 'GET', path: `/api${path}`, summary: `${title} by priority, 50 a page` })
      .input(tasksFilter.extend({ page: pageField, ...orderFields(taskLists[collection]) }))
      /** An empty list has the `message` `No tasks found!` (§8). */
      .output(z.object({ tasks: z.array(task), message: z.string().optional(), ...pageFields })),
    get: call(['admin'], { needs: 'tasks.read' })
      .route({ ...route, method: 'GET', path: `/api${path}/{id}`, summary: 'One task' })
      .input(z.strictObject({ id: idField }))
      .output(task),
    create: call(['admin'], { needs: 'tasks.write', unexpected: 'CREATE_TASK_FAILED', heedsIdempotencyKey: true })
      .route({ ...route, method: 'POST', path: `/api${path}`, summary: 'Add a task' })
      .input(taskInputFor(collection))
      .output(done.extend({ id: idField })),
    update: call(['admin'], { needs: 'tasks.write' })
      .route({ ...route, method: 'PUT', path: `/api${path}/{id}`, summary: 'Change a task' })
      .input(
        z
          .strictObject({ ...inputFields(collection), id: idField, version: versionField.optional() })
          .refine(...asRefinement(endsAfterStart))
          .refine(...asRefinement(budgetPaysReward)),
      )
      .output(done),
    restoreVersion: call(['admin'], { needs: 'tasks.write' })
      .route({
        ...route,
        method: 'POST',
        path: `/api${path}/{id}/restore`,
        summary: 'Restore the version of a task that an audit entry recorded',
      })
      .input(restoreInput)
      .output(restoreOutput),
    remove: call(['admin'], { needs: 'tasks.write' })
      .route({ ...route, method: 'DELETE', path: `/api${path}/{id}`, summary: 'Delete a task; its history stays' })
      .input(z.strictObject({ id: idField }))
      .output(done),
    removeMany: call(['admin'], { needs: 'tasks.write', bodyLimitBytes: MAX_BULK_BODY_BYTES })
      .route({ ...route, method: 'POST', path: `/api${path}/remove`, summary: 'Delete many tasks; their history stays' })
      .input(z.strictObject({ target: bulkTarget(tasksFilter), ...bulkRun }))
      .output(bulkOutput),
    /**
     * The targets get the priorities `first`, `first + step` and so on, in their current order. The call fails with PRIORITY_TAKEN if
     * another task has one of these.
     */
    prioritise: call(['admin'], { needs: 'tasks.write', bodyLimitBytes: MAX_BULK_BODY_BYTES })
      .route({
        ...route,
        method: 'POST',
        path: `/api${path}/priorities`,
        summary: 'Assign new priorities to many tasks, all or none',
      })
      .input(
        z.strictObject({
          target: bulkTarget(tasksFilter),
          first: numberField('First Priority'),
          step: numberField('Step').positive('Step must be above 0'),
          ...bulkRun,
        }),
      )
      .output(bulkOutput),
    /** Moves dates that are still to come. Refuses a task that has none, or whose new date would be in the past. */
    shift: call(['admin'], { needs: 'tasks.write', bodyLimitBytes: MAX_BULK_BODY_BYTES })
      .route({ ...route, method: 'POST', path: `/api${path}/shift`, summary: 'Move the starts and ends of many tasks' })
      .input(shiftInput(bulkTarget(tasksFilter)))
      .output(bulkOutput),
    end: call(['admin'], { needs: 'tasks.write', bodyLimitBytes: MAX_BULK_BODY_BYTES })
      .route({ ...route, method: 'POST', path: `/api${path}/end`, summary: 'End many tasks now' })
      .input(z.strictObject({ target: bulkTarget(tasksFilter), ...bulkRun }))
      .output(bulkOutput),
    pause: call(['admin'], { needs: 'tasks.write', bodyLimitBytes: MAX_BULK_BODY_BYTES })
      .route({ ...route, method: 'POST', path: `/api${path}/pause`, summary: 'Pause many tasks, or let them go on' })
      .input(z.strictObject({ target: bulkTarget(tasksFilter), paused: z.boolean(), ...bulkRun }))
      .output(bulkOutput),
    /** The copy is paused, has the next free priority and no dates. */
    duplicate: call(['admin'], { needs: 'tasks.write', heedsIdempotencyKey: true })
      .route({ ...route, method: 'POST', path: `/api${path}/{id}/duplicate`, summary: 'Add a paused copy of a task' })
      .input(z.strictObject({ id: idField }))
      .output(done.extend({ id: idField })),
    /** `priority` is the value that the caller saw. The tasks exchange their current priorities among themselves, in the given order. */
    reorder: call(['admin'], { needs: 'tasks.write', bodyLimitBytes: MAX_BULK_BODY_BYTES })
      .route({
        ...route,
        method: 'POST',
        path: `/api${path}/order`,
        summary: 'Reorder tasks: they exchange their priorities, in the order given; STALE if one of them changed meanwhile',
      })
      .input(
        z.strictObject({
          tasks: z
            .array(z.strictObject({ id: idField, priority: numberField('Priority') }))
            .min(2)
            .max(MAX_REORDER_TASKS),
        }),
      )
      .output(done),
  }
}

export const socialTasks = taskCalls('social')
export const dailyTasks = taskCalls('daily')
