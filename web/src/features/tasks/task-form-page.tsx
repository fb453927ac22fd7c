/**
 * The add and edit form of social and daily tasks (§2, §4, §5), with a preview. The address names the task that is edited or duplicated,
 * so that a reload keeps it.
 */
import {
  hasLink,
  type Task,
  type TaskCollection,
  taskCollections,
  taskLists,
  type TaskType,
  taskTypeLabels,
  verifiedByBotTextsFor,
} from '@arcade/contract/tasks/fields'
import type { TaskFormValues, TaskInput } from '@arcade/contract/tasks/calls'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { type Control, useWatch } from 'react-hook-form'
import { asCallError, type CallError, problemOf } from '#src/client/call-error.ts'
import { api, client, makeCreateOnce, fetchOnce } from '#src/client/client.ts'
import { BackToListButton, useReturnToList } from '#src/lists/back-to-list.tsx'
import { refreshAfterActOn } from '#src/lists/changes.ts'
import { noSchedule, ScheduleSection, scheduleValues, sentSchedule } from '#src/lists/schedule-section.tsx'
import { CheckboxField } from '#src/ui/form-checkbox.tsx'
import { Notes } from '#src/notes/notes.tsx'
import { DraftOffer, useDraftForm } from '#src/ui/form-draft.tsx'
import { NumberField } from '#src/ui/form-number.tsx'
import { FormRefusal } from '#src/ui/form-notice.tsx'
import { COPY_HINT, FormPanel, FormWithAside, Preview } from '#src/ui/form-page.tsx'
import { LinkButton } from '#src/ui/link-button.tsx'
import { Form, FormActions, FormColumns, SelectField, SubmitButton, TextField } from '#src/ui/form.tsx'
import { Page, Panel, Problem } from '#src/ui/page.tsx'
import { toast } from '#src/ui/toast.tsx'
import { MERGE_BEGINS, MergeVersions, SAVE_MERGED, useMerge } from '#src/versions/merge.tsx'
import { FromBefore } from '#src/versions/from-before.tsx'
import { RecordHistory } from '#src/versions/record-history.tsx'
import { NextPriorityButton, useNextPriority } from './next-priority.tsx'

const SUCCESS_DELAY_MS = 2000 // §4
const FAILURE_DELAY_MS = 1000 // §4

export function AddSocialTaskPage() {
  const { from } = useSearch({ from: '/shell/management/social-tasks-form' })
  return <AddTaskPage collection="social" from={from} />
}

export function AddDailyTaskPage() {
  const { from } = useSearch({ from: '/shell/management/daily-tasks-form' })
  return <AddTaskPage collection="daily" from={from} />
}

export function UpdateSocialTaskPage() {
  const { id = '' } = useSearch({ from: '/shell/management/social-tasks-form-update' })
  return <UpdateTaskPage collection="social" id={id} />
}

export function UpdateDailyTaskPage() {
  const { id = '' } = useSearch({ from: '/shell/management/daily-tasks-form-update' })
  return <UpdateTaskPage collection="daily" id={id} />
}

const kinds = { social: 'socialTask', daily: 'dailyTask' } as const

function AddTaskPage({ collection, from }: { collection: TaskCollection; from: string | undefined }) {
  return (
    <Page title={`Add ${taskCollections[collection].itemTitle}`} narrow="with-aside">
      {from === undefined ? (
        <FormWithAside>
          <TaskForm key={collection} collection={collection} />
        </FormWithAside>
      ) : (
        <CopyForm key={`${collection} ${from}`} collection={collection} from={from} />
      )}
    </Page>
  )
}

/** The add form filled in as a copy of a task, without its priority, which only one task can have. */
function CopyForm({ collection, from }: { collection: TaskCollection; from: string }) {
  const source = useQuery(api[taskLists[collection].name].get.queryOptions({ input: { id: from }, ...fetchOnce }))
  if (source.data)
    return (
      <FormWithAside>
        <TaskForm collection={collection} source={source.data} />
      </FormWithAside>
    )
  return <InsteadOfForm collection={collection} problem={source.error} onRetry={() => void source.refetch()} />
}

function UpdateTaskPage({ collection, id }: { collection: TaskCollection; id: string }) {
  const { data, error, refetch } = useQuery(
    api[taskLists[collection].name].get.queryOptions({ input: { id }, enabled: id !== '', ...fetchOnce }),
  )
  const handleReload = () => void refetch()
  return (
    <Page
      title={`Update ${taskCollections[collection].itemTitle}`}
      narrow="with-aside"
      actions={
        data && (
          <LinkButton to={`${taskCollections[collection].path}-form`} search={{ from: id }} variant="default" title={COPY_HINT}>
            Duplicate
          </LinkButton>
        )
      }
    >
      {id === '' ? (
        <InsteadOfForm collection={collection} problem="Choose a task in the list." />
      ) : data && !error ? (
        <FormWithAside
          aside={
            <>
              <RecordHistory kind={kinds[collection]} id={data.id} version={data.version} onRestored={handleReload} />
              <Notes kind={kinds[collection]} id={data.id} />
              <FromBefore kind={kinds[collection]} id={data.id} />
            </>
          }
        >
          <TaskForm key={`${data.id} ${data.version}`} collection={collection} task={data} onReload={handleReload} />
        </FormWithAside>
      ) : (
        <InsteadOfForm collection={collection} problem={error} onRetry={handleReload} />
      )}
    </Page>
  )
}

interface InsteadOfFormProps {
  collection: TaskCollection
  /** Null while the task is being loaded. */
  problem: Error | string | null
  onRetry?: () => void
}

function InsteadOfForm({ collection, problem, onRetry = () => {} }: InsteadOfFormProps) {
  return (
    <Panel>
      {problem === null ? (
        <output>Loading...</output>
      ) : (
        <Problem {...(typeof problem === 'string' ? { message: problem } : problemOf(problem, onRetry))}>
          <BackToListButton to={taskCollections[collection].path} />
        </Problem>
      )}
    </Panel>
  )
}

interface TaskFormProps {
  collection: TaskCollection
  /** The task to edit; without one the form adds a task. */
  task?: Task
  /** Loads the task again. */
  onReload?: () => void
  /** The task that the new one is a copy of. */
  source?: Task
}

function TaskForm({ collection, task, onReload, source }: TaskFormProps) {
  const form = useTaskForm(collection, task, source)
  const merge = useMerge({
    kind: kinds[collection],
    record: task,
    load: () => client[taskLists[collection].name].get({ id: task?.id ?? '' }),
    toValues: (saved) => ({ priority: saved.priority, ...toValues(collection, saved) }),
    decides: { type: ['link'] },
  })
  const [isPriorityTaken, setIsPriorityTaken] = useState(false)
  const nextPriority = useNextPriority(collection, task === undefined || isPriorityTaken)
  const handleSubmit = useSave({
    collection,
    task,
    form,
    merge,
    onPriorityTaken: () => {
      setIsPriorityTaken(true)
      void nextPriority.refetch()
    },
  })
  const handleNextPriority = (next: number) => {
    form.setValue('priority', next, { shouldDirty: true, shouldTouch: true, shouldValidate: true })
    form.setFocus('priority')
  }

  return (
    <>
      <TaskPreview control={form.control} />
      <FormPanel>
        <DraftOffer offer={form.offer} />
        <Form form={form} onSubmit={handleSubmit} label={`${task ? 'Update' : 'Add'} ${taskCollections[collection].itemTitle}`}>
          <MergeVersions
            merge={merge}
            formValues={() => usedValues(form.getValues())}
            onChoose={(name, value) => form.setValue(name as keyof TaskInput, value as never, { shouldDirty: true })}
          />
          <TaskFields
            collection={collection}
            control={form.control}
            nextPriority={nextPriority.value}
            onNextPriority={handleNextPriority}
          />
          <ScheduleSection control={form.control} kind="task" original={source} />
          <FormActions
            back={<BackToListButton to={taskCollections[collection].path} />}
            notice={<FormRefusal form={form} onReload={onReload} />}
          >
            <SubmitButton>{merge.newer ? SAVE_MERGED : task ? 'Update' : 'Add Task'}</SubmitButton>
          </FormActions>
        </Form>
      </FormPanel>
    </>
  )
}

function useTaskForm(collection: TaskCollection, task: Task | undefined, source: Task | undefined) {
  return useDraftForm(
    () => import('@arcade/contract/tasks/calls').then(({ taskInputFor }) => taskInputFor(collection)),
    task
      ? { ...toValues(collection, task), priority: task.priority }
      : source
        ? { ...toValues(collection, source), ...scheduleValues(source, { isCopy: true }), paused: false }
        : { title: '', link: '', verifiedByBot: false, ...noSchedule, paused: false },
    {
      name: `${taskCollections[collection].path} ${task?.id ?? (source ? `copy of ${source.id}` : 'new')}`,
      basis: task?.version,
      used: usedValues,
    },
  )
}

/** Returns the values without the link of a type that has none, and null for dates and limits that are not set. */
function usedValues(all: TaskFormValues): TaskFormValues {
  const values = sentSchedule(all)
  return hasLink(values.type ?? '') ? values : { ...values, link: '' }
}

interface SaveOptions {
  collection: TaskCollection
  /** The task to edit; without one a task is added. */
  task: Task | undefined
  form: ReturnType<typeof useTaskForm>
  merge: { version: () => number | undefined; begin: () => Promise<boolean> }
  onPriorityTaken: () => void
}

/** Returns the form's submit handler: it saves the task and goes to the list. */
function useSave({ collection, task, form, merge, onPriorityTaken }: SaveOptions) {
  const returnToList = useReturnToList(taskCollections[collection].path)
  const [createOnce] = useState(makeCreateOnce)
  const calls = client[taskLists[collection].name]

  const handleSaved = async () => {
    form.finish()
    toast.success(task ? 'Task Updated Successfully!' : 'Task Added Successfully!', { delayMs: SUCCESS_DELAY_MS })
    await returnToList()
    await refreshAfterActOn(taskLists[collection].name)
    return undefined
  }
  const handleFailed = async (error: CallError) => {
    // §8: the server's message, or this text if there was no answer
    const text = error.status === 0 ? 'Internal Server Error!' : error.message
    if (error.code === 'STALE' && (await merge.begin())) toast.note(MERGE_BEGINS)
    else toast.failure(text, { delayMs: FAILURE_DELAY_MS, detail: error.message })
    if (error.code !== 'PRIORITY_TAKEN') return error
    onPriorityTaken()
    return { fields: { priority: error.message } }
  }
  return async (input: TaskInput) => {
    try {
      if (task) await calls.update({ ...input, id: task.id, version: merge.version() })
      else await createOnce((options) => calls.create(input, options))
      return await handleSaved()
    } catch (cause) {
      return handleFailed(asCallError(cause))
    }
  }
}

type FormControl = Control<TaskFormValues, unknown, TaskInput>

interface TaskFieldsProps {
  collection: TaskCollection
  control: FormControl
  /** The next free priority; undefined offers none. */
  nextPriority: number | undefined
  onNextPriority: (next: number) => void
}

function TaskFields({ collection, control, nextPriority, onNextPriority }: TaskFieldsProps) {
  const type = useWatch({ control, name: 'type' })
  return (
    <FormColumns>
      <NumberField
        control={control}
        name="priority"
        label="Priority"
        isRequired
        beside={nextPriority !== undefined && <NextPriorityButton value={nextPriority} onChoose={onNextPriority} />}
      />
      <SelectField
        control={control}
        name="type"
        label="Type"
        isRequired
        placeholder="Select a type"
        options={taskCollections[collection].types.map((value) => ({ value, label: taskTypeLabels[value] }))}
      />
      <TextField control={control} name="title" label="Title" isRequired isWide />
      {hasLink(type ?? '') && <TextField control={control} name="link" label="Link" type="url" placeholder="https://" isWide />}
      <NumberField control={control} name="reward" label="Reward" isRequired />
      <CheckboxField control={control} name="verifiedByBot" {...verifiedByBotTextsFor(type)} />
    </FormColumns>
  )
}

/** Returns a task as form values. An imported task may have a type that the form does not offer; then the operator must choose one. */
function toValues(collection: TaskCollection, task: Task) {
  const { type, title, link, reward, verifiedByBot, paused } = task
  const offeredType = taskCollections[collection].types.find((value) => value === type)
  const values = { title, link: link ?? '', reward, verifiedByBot, paused, ...scheduleValues(task) }
  return { ...values, ...(offeredType && { type: offeredType }) }
}

/** Labels of the button with which a player answers a task without a link. */
const answerLabels: Partial<Record<TaskType, string>> = { email: 'Send your email', bsc: 'Send your wallet address' }

function TaskPreview({ control }: { control: FormControl }) {
  const { type, title = '', link = '', reward } = useWatch({ control })
  const answer = type && answerLabels[type]
  return (
    <Preview
      item={{
        title,
        ...(type && hasLink(type) && link && { link, siteName: taskTypeLabels[type] }),
        ...(answer && { answer }),
        reward: typeof reward === 'number' ? reward : undefined,
      }}
    />
  )
}
