/** The add and edit form of social and daily tasks (§2, §4, §5). What is edited stands in the address: a reload keeps it. */
import { hasLink, type Task, type TaskCollection, taskCollections, type TaskInput, taskTypeLabels } from '@arcade/contract/tasks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useWatch } from 'react-hook-form'
import { api, asCallError, client, queryClient } from '#src/client.ts'
import { NumberField } from '#src/ui/form-number.tsx'
import { FormNotice } from '#src/ui/form-notice.tsx'
import { Form, FormActions, SelectField, SubmitButton, TextField, useForm } from '#src/ui/form.tsx'
import { LinkButton } from '#src/ui/link-button.tsx'
import { Page, Panel, Problem } from '#src/ui/page.tsx'
import { toast } from '#src/ui/toast.tsx'

const SUCCESS_DELAY_MS = 2000 // §4
const FAILURE_DELAY_MS = 1000 // §4

const queries = { social: api.socialTasks, daily: api.dailyTasks }
const calls = { social: client.socialTasks, daily: client.dailyTasks }

export function AddSocialTaskPage() {
  return <AddTaskPage collection="social" />
}

export function AddDailyTaskPage() {
  return <AddTaskPage collection="daily" />
}

export function UpdateSocialTaskPage() {
  const { id = '' } = useSearch({ from: '/shell/management/social-tasks-form-update' })
  return <UpdateTaskPage collection="social" id={id} />
}

export function UpdateDailyTaskPage() {
  const { id = '' } = useSearch({ from: '/shell/management/daily-tasks-form-update' })
  return <UpdateTaskPage collection="daily" id={id} />
}

function AddTaskPage({ collection }: { collection: TaskCollection }) {
  return (
    <Page title={`Add ${taskCollections[collection].itemTitle}`} narrow>
      <Panel>
        <TaskForm key={collection} collection={collection} />
      </Panel>
    </Page>
  )
}

function UpdateTaskPage({ collection, id }: { collection: TaskCollection; id: string }) {
  // Not refetched behind the operator's back: the form would be of one version and the page of another.
  const { data, error, refetch } = useQuery(
    queries[collection].get.queryOptions({
      input: { id },
      enabled: id !== '',
      staleTime: Infinity,
      gcTime: 0,
      refetchOnWindowFocus: false,
    }),
  )
  const problem = id === '' ? 'Choose a task in the list.' : error && asCallError(error).message
  return (
    <Page title={`Update ${taskCollections[collection].itemTitle}`} narrow>
      <Panel>
        {data && !problem ? (
          <TaskForm key={`${data.id} ${data.version}`} collection={collection} task={data} onReload={() => void refetch()} />
        ) : problem ? (
          <Problem message={problem} {...(id !== '' && { onRetry: () => void refetch() })}>
            <BackButton collection={collection} />
          </Problem>
        ) : (
          <output>Loading...</output>
        )}
      </Panel>
    </Page>
  )
}

interface TaskFormProps {
  collection: TaskCollection
  /** The task to edit; without it the form adds one. */
  task?: Task
  onReload?: () => void
}

function TaskForm({ collection, task, onReload }: TaskFormProps) {
  const { path, itemTitle, types } = taskCollections[collection]
  const navigate = useNavigate()
  const [staleText, setStaleText] = useState<string>()
  const form = useForm(
    () => import('@arcade/contract/tasks').then(({ taskInputFor }) => taskInputFor(collection)),
    task ? valuesOf(collection, task) : { title: '', link: '' },
  )
  const { setValue } = form
  const type = useWatch({ control: form.control, name: 'type' })
  const isLinkShown = hasLink(type ?? '')

  useEffect(() => {
    if (!isLinkShown) setValue('link', '') // or a hidden wrong link would stop the form
  }, [isLinkShown, setValue])

  const handleSubmit = async (input: TaskInput) => {
    setStaleText(undefined)
    try {
      if (task) await calls[collection].update({ ...input, id: task.id, version: task.version })
      else await calls[collection].create(input)
      form.reset()
      toast.success(task ? 'Task Updated Successfully!' : 'Task Added Successfully!', { delayMs: SUCCESS_DELAY_MS })
      await navigate({ to: path })
      await queryClient.invalidateQueries()
      return undefined
    } catch (cause) {
      const error = asCallError(cause)
      // §8: the server's message, or without an answer the exception's
      toast.failure(error.status === 0 ? 'Internal Server Error!' : error.message, { delayMs: FAILURE_DELAY_MS })
      if (error.code === 'STALE') setStaleText(error.message)
      return error.code === 'PRIORITY_TAKEN' ? { fields: { priority: error.message } } : error
    }
  }

  return (
    <Form form={form} onSubmit={handleSubmit} label={`${task ? 'Update' : 'Add'} ${itemTitle}`}>
      <NumberField control={form.control} name="priority" label="Priority" />
      <SelectField
        control={form.control}
        name="type"
        label="Type"
        placeholder="Select a type"
        options={types.map((value) => ({ value, label: taskTypeLabels[value] }))}
      />
      <TextField control={form.control} name="title" label="Title" />
      {isLinkShown && <TextField control={form.control} name="link" label="Link" type="url" placeholder="https://" />}
      <NumberField control={form.control} name="reward" label="Reward" />
      <FormNotice message={staleText} onReload={onReload} />
      <FormActions>
        <BackButton collection={collection} />
        <SubmitButton>{task ? 'Update' : 'Add Task'}</SubmitButton>
      </FormActions>
    </Form>
  )
}

/** An imported task may have a type that the form does not offer: then one must be chosen. */
function valuesOf(collection: TaskCollection, { priority, type, title, link, reward }: Task) {
  const known = taskCollections[collection].types.find((value) => value === type)
  return { priority, title, link: link ?? '', reward, ...(known && { type: known }) }
}

function BackButton({ collection }: { collection: TaskCollection }) {
  return (
    <LinkButton to={taskCollections[collection].path} variant="default">
      Back
    </LinkButton>
  )
}
