/** Social and daily tasks (§2): one list, by priority, 50 a page; its order can be changed by hand; searched, sorted, filtered, picked. */
import { type Task, type TaskCollection, taskCollections, type TasksFilter, taskTypeLabels } from '@arcade/contract/entities/task'
import { Anchor, Button } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, asCallError, client, fetchSpreadsheet, queryClient } from '#src/client.ts'
import { useConfirm } from '#src/ui/confirm.tsx'
import { type Column, DataTable, Missing, RowActions } from '#src/ui/data-table.tsx'
import { DownloadButton } from '#src/ui/download.tsx'
import { DuplicateButton, LinkButton } from '#src/ui/link-button.tsx'
import { defined, listControls } from '#src/ui/list-search.ts'
import { Page } from '#src/ui/page.tsx'
import { BulkButton, useSelection } from '#src/ui/selection.tsx'
import { toast } from '#src/ui/toast.tsx'
import { PrioritiseButton } from './prioritise-button.tsx'
import { useTaskOrder } from './task-order.tsx'
import type { TasksSearch } from './tasks-search.ts'
import classes from './tasks-page.module.css'

export function SocialTasksPage() {
  return <TasksPage collection="social" search={useSearch({ from: '/shell/management/social-tasks' })} />
}

export function DailyTasksPage() {
  return <TasksPage collection="daily" search={useSearch({ from: '/shell/management/daily-tasks' })} />
}

const queries: Record<TaskCollection, typeof api.socialTasks> = { social: api.socialTasks, daily: api.dailyTasks }
const calls = { social: client.socialTasks, daily: client.dailyTasks }

const lists = { social: 'socialTasks', daily: 'dailyTasks' } as const

function TasksPage({ collection, search }: { collection: TaskCollection; search: TasksSearch }) {
  const { title, path, types } = taskCollections[collection]
  const { q, type, sort = 'priority', reversed = false, page = 1 } = search
  const navigate = useNavigate()
  const filter: TasksFilter = defined({ search: q, type })
  const input = { ...filter, sort, reversed, page }
  const query = queries[collection].list.queryOptions({ input, placeholderData: keepPreviousData })
  const { data, error, isPlaceholderData, refetch } = useQuery(query)
  const order = useTaskOrder({ collection, tasks: data?.tasks ?? [], queryKey: query.queryKey })
  const isWhole = q === undefined && type === undefined
  // Only in their own order do the rows show what moving one does.
  const isOrdered = isWhole && sort === 'priority' && !reversed && !isPlaceholderData
  const columns = columnsOf(collection, isOrdered ? order.handle : undefined)
  const selection = useSelection<TasksFilter>(lists[collection], filter)
  const { target } = selection
  const show = (next: TasksSearch, replace = false) =>
    void navigate({ to: path, search: defined({ ...search, page: undefined, ...next }), replace })
  const controls = listControls({ search, ownSort: 'priority', values: { type }, show })
  const handleBulkEnd = () => {
    selection.clear()
    void queryClient.invalidateQueries()
  }

  return (
    <Page title={title} actions={<LinkButton to={`${path}-form`}>Add Task</LinkButton>}>
      <div className={classes['list']}>
        <DataTable
          label={title}
          columns={columns}
          rows={data?.tasks}
          rowKey={({ id }) => id}
          toolbar={{
            ...controls.toolbar,
            searchLabel: 'Search tasks',
            filters: [
              {
                name: 'type',
                label: 'Type',
                kind: 'choice',
                options: types.map((value) => ({ value, label: taskTypeLabels[value] })),
              },
            ],
          }}
          sorting={controls.sorting}
          picking={{
            selection,
            total: data?.total,
            actions: (
              <>
                <DownloadButton
                  id={`${collection} tasks selection`}
                  label="Download Selection"
                  size="compact-md"
                  start={(options) =>
                    fetchSpreadsheet(
                      'selection',
                      { list: lists[collection], target },
                      { ...options, fallbackName: `${collection}-tasks.xlsx` },
                    )
                  }
                  successText="Data Downloaded Successfuly!" // sic, §8
                  failureText="Error Downloading Data!"
                />
                <PrioritiseButton
                  run={(numbers, run) => calls[collection].prioritise({ target, ...numbers, ...run })}
                  onEnd={handleBulkEnd}
                />
                <BulkButton
                  act={{
                    title: 'Delete tasks',
                    question: (count) => `Are you sure you want to delete ${count} tasks? Their history stays.`,
                    isDestructive: true,
                    run: (run) => calls[collection].removeMany({ target, ...run }),
                    successText: (count) => `${count} tasks deleted.`,
                    messageOf: (problem) => asCallError(problem).message,
                    onEnd: handleBulkEnd,
                  }}
                >
                  Delete Selected
                </BulkButton>
              </>
            ),
          }}
          emptyText={isWhole ? (data?.message ?? 'No tasks found!') : 'No task matches.'}
          error={error && !data ? asCallError(error).message : undefined}
          onRetry={() => void refetch()}
          isStale={isPlaceholderData}
          paging={data && { page, pageSize: data.pageSize, pageCount: data.pageCount }}
          onPageChange={(next) => show({ page: next > 1 ? next : undefined })}
        />
        {order.announcements}
      </div>
    </Page>
  )
}

/** `handle` moves a task in the order; absent where there is none to be changed. */
function columnsOf(collection: TaskCollection, handle?: (task: Task) => ReactNode): Column<Task>[] {
  return [
    { header: 'Priority', render: (task) => <Priority task={task} handle={handle} />, align: 'end', sort: 'priority' },
    { header: 'Type', value: ({ type }) => taskTypeLabels[type as keyof typeof taskTypeLabels] ?? type },
    { header: 'Title', value: ({ title }) => title, viewMore: true, sort: 'title' },
    { header: 'Link', render: ({ link }) => <TaskLink link={link} /> },
    { header: 'Reward', value: ({ reward }) => reward, align: 'end', sort: 'reward' },
    {
      header: 'Participants',
      value: ({ numberOfParticipants }) => numberOfParticipants,
      align: 'end',
      sort: 'participants',
    },
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
