/** The lists of social and daily tasks (§2), sorted by priority, 50 per page. Their order can be changed by hand. */
import {
  type Task,
  type TaskCollection,
  taskCollections,
  taskLists,
  type TasksFilter,
  taskTypeLabels,
} from '@arcade/contract/tasks/fields'
import { isolated } from '@arcade/contract/text'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { createContext, use } from 'react'
import { api, client } from '#src/client/client.ts'
import { markOfBot } from '#src/lists/bot-mark.tsx'
import { DeleteRowButton, DeleteSelectedButton, bulkEnd } from '#src/lists/acts.tsx'
import { listColumns } from '#src/lists/columns.tsx'
import { copyHref, editHref } from '#src/lists/form-hrefs.ts'
import { type ListAddress, listFilter, listOrder } from '#src/lists/list-address.ts'
import { ItemLink } from '#src/lists/item-link.tsx'
import { ItemStateChip, StateBeside, Titled } from '#src/lists/item-state.tsx'
import { ScheduleActs } from '#src/lists/schedule-acts.tsx'
import { ListTable } from '#src/lists/list-table.tsx'
import { ParticipantsLink } from '#src/lists/participants-link.tsx'
import { useUndo } from '#src/lists/undo.ts'
import { asListed, useList } from '#src/lists/use-list.ts'
import { Missing, RowActions } from '#src/lists/table-cells.tsx'
import { useMay } from '#src/session.tsx'
import { LinkButton } from '#src/ui/link-button.tsx'
import { BulkButton } from '#src/lists/bulk-act.tsx'
import type { Selection } from '#src/lists/selection.tsx'
import { counted, exactly } from '#src/ui/numbers.ts'
import { Page } from '#src/ui/page.tsx'
import { DuplicateButton, EditButton } from '#src/lists/row-buttons.tsx'
import { WebLink } from '#src/ui/web-link.tsx'
import { PrioritiseButton } from './prioritise-button.tsx'
import { MoveHandle } from './reorder.tsx'
import { TaskOrder } from './task-order.tsx'
import classes from './tasks-page.module.css'

/** The permission for all that changes a task. */
const WRITE = 'tasks.write'
/** What the deletion of one task does. */
const CONSEQUENCE = 'Its history stays.'

type TaskList = (typeof taskLists)[TaskCollection]

export function SocialTasksPage() {
  return <TasksPage collection="social" address={useSearch({ from: '/shell/management/social-tasks' })} />
}

export function DailyTasksPage() {
  return <TasksPage collection="daily" address={useSearch({ from: '/shell/management/daily-tasks' })} />
}

const columns = { social: taskColumns('social'), daily: taskColumns('daily') }

function taskColumns(collection: TaskCollection) {
  return listColumns(taskLists[collection], {
    priority: { render: (task) => <Priority task={task} />, align: 'end', width: 4.5, grow: 0.2, card: 'start' },
    type: {
      value: ({ type }) => taskTypeLabels[type as keyof typeof taskTypeLabels] ?? type,
      mark: markOfBot,
      width: 5,
      grow: 0.8,
      isTwoLines: true,
      card: 'fold',
    },
    title: {
      render: (task) => (
        <Titled segmentId={task.segmentId} state={<StateBeside item={task} />}>
          <TitleLink collection={collection} task={task} />
        </Titled>
      ),
      width: 8,
      grow: 3,
      isTwoLines: true,
      card: 'title',
    },
    link: { render: ({ link }) => <TaskLink link={link} />, width: 6, grow: 3, card: 'fold' },
    reward: { width: 4.5, grow: 0.2, card: 'start' },
    numberOfParticipants: {
      render: ({ id, numberOfParticipants }) => <ParticipantsLink kind={collection} id={id} count={numberOfParticipants} />,
      align: 'end',
      width: 5.75,
      grow: 0.2,
      card: 'fold',
    },
    verifiedByBot: {
      value: ({ verifiedByBot }) => (verifiedByBot ? 'Yes' : 'No'),
      isHiddenAtFirst: true,
      width: 4.5,
      card: 'fold',
    },
    state: { render: ({ state }) => <ItemStateChip state={state} />, isHiddenAtFirst: true, width: 5.5, card: 'fold' },
    startsAt: { isHiddenAtFirst: true, width: 5.5, grow: 1, card: 'fold' },
    endsAt: { isHiddenAtFirst: true, width: 5.5, grow: 1, card: 'fold' },
    maxParticipants: { isHiddenAtFirst: true, width: 5.5, card: 'fold' },
    dailyBudget: { isHiddenAtFirst: true, width: 4.5, card: 'fold' },
    createdAt: { isHiddenAtFirst: true, width: 5.5, grow: 1, card: 'fold' },
    Edit: { render: ({ id }) => <EditButtons collection={collection} id={id} />, needs: WRITE, width: 4, card: 'end' },
    Delete: {
      render: (task) => <DeleteButton collection={collection} task={task} />,
      needs: WRITE,
      width: 2.75,
      card: 'end',
    },
    id: false,
    segmentId: false,
    paused: false, // a state
    version: false,
  })
}

/** Whether the rows can be reordered now. */
const OrderContext = createContext(false)

function TasksPage({ collection, address }: { collection: TaskCollection; address: ListAddress<TaskList> }) {
  const { title, path } = taskCollections[collection]
  const list: TaskList = taskLists[collection]
  const calls = client[list.name]
  const undo = useUndo(list)
  const { page = 1 } = address
  const order = listOrder(list, address)
  const input = { ...listFilter(list, address), ...order, page }
  const options = api[list.name].list.queryOptions({ input, ...asListed })
  const query = useQuery(options)
  const state = useList(list, { address, query, rowsOf: ({ tasks }) => tasks })
  // Rows can be moved only in the unfiltered list in its own order, where a move shows its effect.
  const mayWrite = useMay(WRITE)
  const isOrdered = mayWrite && state.isWhole && order.sort === list.defaultSort && !order.reversed && !query.isPlaceholderData
  const { selection } = state
  return (
    <Page isList title={title} actions={mayWrite && <LinkButton to={`${path}-form`}>Add Task</LinkButton>}>
      <TaskOrder list={list} tasks={query.data?.tasks ?? []} queryKey={options.queryKey}>
        <OrderContext value={isOrdered}>
          <ListTable
            label={title}
            state={state}
            columns={columns[collection]}
            rowKey={({ id }) => id}
            firstStep={mayWrite && <LinkButton to={`${path}-form`}>Add the first task</LinkButton>}
            actsNeed={WRITE}
            acts={
              <>
                <PrioritiseButton
                  collection={collection}
                  run={(numbers, run) =>
                    undo.change((call) => calls.prioritise({ target: selection.target, ...numbers, ...run }, call))
                  }
                  {...bulkEnd(list, selection)}
                />
                <PauseButtons collection={collection} selection={selection} />
                <ScheduleActs
                  list={list}
                  selection={selection}
                  shift={(shifted, call) => calls.shift(shifted, call)}
                  end={(ended, call) => calls.end(ended, call)}
                  consequence="Nobody can claim them any more."
                />
                <DeleteSelectedButton
                  list={list}
                  selection={selection}
                  consequence={(count) => (count === 1 ? CONSEQUENCE : 'Their history stays.')}
                  run={(target, run, call) => calls.removeMany({ target, ...run }, call)}
                />
              </>
            }
          />
        </OrderContext>
      </TaskOrder>
    </Page>
  )
}

interface PauseButtonsProps {
  collection: TaskCollection
  selection: Selection<TasksFilter>
}

/** Pauses the selected tasks, or lets them go on. */
function PauseButtons({ collection, selection }: PauseButtonsProps) {
  const list: TaskList = taskLists[collection]
  const undo = useUndo(list)
  const { target } = selection
  return [true, false].map((paused) => {
    const [verb, done] = paused ? ['Pause', 'paused'] : ['Resume', 'resumed']
    return (
      <BulkButton
        key={verb}
        act={{
          ...bulkEnd(list, selection),
          title: `${verb} tasks`,
          question: (count) =>
            paused
              ? `Are you sure you want to pause ${counted(count, 'task')}? Players do not see ${count === 1 ? 'it, and nobody can claim it' : 'them, and nobody can claim them'}.`
              : `Are you sure you want to resume ${counted(count, 'task')}?`,
          confirmLabel: (count) => `${verb} ${counted(count, 'task')}`,
          run: (run) => undo.change((options) => client[list.name].pause({ target, paused, ...run }, options)),
          successText: (count) => `${counted(count, 'task')} ${done}.`,
        }}
      >
        {verb}
      </BulkButton>
    )
  })
}

function TitleLink({ collection, task: { id, title } }: { collection: TaskCollection; task: Task }) {
  return (
    <ItemLink kind={collection} id={id}>
      {title}
    </ItemLink>
  )
}

function TaskLink({ link }: { link: string | null }) {
  if (link === null) return <Missing text="No link" />
  return <WebLink link={link} className={classes['link']} />
}

function Priority({ task }: { task: Task }) {
  const isOrdered = use(OrderContext)
  return (
    <div className={classes['priority']}>
      {isOrdered && <MoveHandle id={task.id} title={isolated(task.title)} />}
      {exactly(task.priority)}
    </div>
  )
}

function EditButtons({ collection, id }: { collection: TaskCollection; id: string }) {
  const form = `${taskCollections[collection].path}-form` as const
  return (
    <RowActions>
      <EditButton label="Edit" href={editHref(form, id)} />
      <DuplicateButton href={copyHref(form, id)} />
    </RowActions>
  )
}

function DeleteButton({ collection, task: { id, title } }: { collection: TaskCollection; task: Task }) {
  const list: TaskList = taskLists[collection]
  return (
    <DeleteRowButton
      list={list}
      question={`Are you sure you want to delete ${isolated(title)}? ${CONSEQUENCE}`}
      run={async (options) => {
        await client[list.name].remove({ id }, options)
        return 'Task Deleted Succesfuly!' // sic, §8
      }}
      failureText="Error Deleting Task!"
    />
  )
}
