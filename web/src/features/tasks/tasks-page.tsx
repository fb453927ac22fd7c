/** Social and daily tasks (§2): one list, by priority, 50 a page; its order can be changed by hand. */
import { type Task, type TaskCollection, taskCollections, taskTypeLabels } from '@arcade/contract/tasks'
import { Anchor, Button } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, asCallError, client, queryClient } from '#src/client.ts'
import { useConfirm } from '#src/ui/confirm.tsx'
import { type Column, DataTable, Missing, RowActions } from '#src/ui/data-table.tsx'
import { DuplicateButton, LinkButton } from '#src/ui/link-button.tsx'
import { Page } from '#src/ui/page.tsx'
import { toast } from '#src/ui/toast.tsx'
import { useTaskOrder } from './task-order.tsx'
import classes from './tasks-page.module.css'

export function SocialTasksPage() {
  const { page = 1 } = useSearch({ from: '/shell/management/social-tasks' })
  return <TasksPage collection="social" page={page} />
}

export function DailyTasksPage() {
  const { page = 1 } = useSearch({ from: '/shell/management/daily-tasks' })
  return <TasksPage collection="daily" page={page} />
}

const queries = { social: api.socialTasks, daily: api.dailyTasks }
const calls = { social: client.socialTasks, daily: client.dailyTasks }

function TasksPage({ collection, page }: { collection: TaskCollection; page: number }) {
  const { title, path } = taskCollections[collection]
  const navigate = useNavigate()
  const query = queries[collection].list.queryOptions({ input: { page }, placeholderData: keepPreviousData })
  const { data, error, isPlaceholderData, refetch } = useQuery(query)
  const order = useTaskOrder({ collection, tasks: data?.tasks ?? [], queryKey: query.queryKey })
  const columns = columnsOf(collection, isPlaceholderData ? undefined : order.handle)

  return (
    <Page title={title} actions={<LinkButton to={`${path}-form`}>Add Task</LinkButton>}>
      <div className={classes['list']}>
        <DataTable
          label={title}
          columns={columns}
          rows={data?.tasks}
          rowKey={({ id }) => id}
          emptyText={data?.message ?? 'No tasks found!'}
          error={error && !data ? asCallError(error).message : undefined}
          onRetry={() => void refetch()}
          isStale={isPlaceholderData}
          paging={data && { page, pageSize: data.pageSize, pageCount: data.pageCount }}
          onPageChange={(next) => void navigate({ to: path, search: next > 1 ? { page: next } : {} })}
        />
        {order.announcements}
      </div>
    </Page>
  )
}

/** `handle` moves a task in the order; absent where there is none to be changed. */
function columnsOf(collection: TaskCollection, handle?: (task: Task) => ReactNode): Column<Task>[] {
  return [
    { header: 'Priority', render: (task) => <Priority task={task} handle={handle} />, align: 'end' },
    { header: 'Type', value: ({ type }) => taskTypeLabels[type as keyof typeof taskTypeLabels] ?? type },
    { header: 'Title', value: ({ title }) => title, viewMore: true },
    { header: 'Link', render: ({ link }) => <TaskLink link={link} /> },
    { header: 'Reward', value: ({ reward }) => reward, align: 'end' },
    { header: 'Participants', value: ({ numberOfParticipants }) => numberOfParticipants, align: 'end' },
    { header: 'Edit', render: ({ id }) => <EditButtons collection={collection} id={id} /> },
    { header: 'Delete', render: (task) => <DeleteButton collection={collection} task={task} /> },
  ]
}

function TaskLink({ link }: { link: string | null }) {
  if (link === null) return <Missing text="No link" />
  return (
    <Anchor href={link} target="_blank" rel="noreferrer noopener" className={classes['link'] ?? ''}>
      {link}
    </Anchor>
  )
}

function Priority({ task, handle }: { task: Task; handle: ((task: Task) => ReactNode) | undefined }) {
  return (
    <div className={classes['priority']}>
      {handle?.(task)}
      {task.priority.toLocaleString('en-US', { maximumFractionDigits: 20 })}
    </div>
  )
}

function EditButtons({ collection, id }: { collection: TaskCollection; id: string }) {
  const { path } = taskCollections[collection]
  return (
    <RowActions>
      <LinkButton variant="default" size="compact-md" to={`${path}-form-update`} search={{ id }} preload={false}>
        Edit
      </LinkButton>
      <DuplicateButton to={`${path}-form`} search={{ from: id }} preload={false} />
    </RowActions>
  )
}

function DeleteButton({ collection, task }: { collection: TaskCollection; task: Task }) {
  const confirm = useConfirm()

  const handleDelete = async () => {
    const message = `Are you sure you want to delete ${task.title}? Its history stays.`
    if (!(await confirm({ title: 'Delete task', message, isDestructive: true }))) return
    try {
      await calls[collection].remove({ id: task.id })
      toast.success('Task Deleted Succesfuly!') // sic, §8
    } catch {
      toast.failure('Error Deleting Task!')
    }
    await queryClient.invalidateQueries() // the figures of the dashboard count tasks, too
  }

  return (
    <RowActions>
      <Button variant="outline" color="red" size="compact-md" onClick={() => void handleDelete()}>
        Delete
      </Button>
    </RowActions>
  )
}
