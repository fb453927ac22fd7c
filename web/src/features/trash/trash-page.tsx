/** The trash: deleted records, which can be restored (alone, or with all that the same act deleted) or purged for good. */
import type { Target } from '@arcade/contract/bulk'
import { type TrashedRecord, type TrashFilter, trashList } from '@arcade/contract/trash/fields'
import { isolated } from '@arcade/contract/text'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { api, client } from '#src/client/client.ts'
import { bulkEnd } from '#src/lists/acts.tsx'
import { listColumns } from '#src/lists/columns.tsx'
import { listFilter, listOrder } from '#src/lists/list-address.ts'
import { ListTable } from '#src/lists/list-table.tsx'
import { actOnRow } from '#src/lists/row-act.ts'
import { COMES_BACK_INACTIVE, pausedText, useUndo } from '#src/lists/undo.ts'
import { asListed, useList } from '#src/lists/use-list.ts'
import { RowActions } from '#src/lists/table-cells.tsx'
import { Page } from '#src/ui/page.tsx'
import { BulkButton } from '#src/lists/bulk-act.tsx'
import type { Selection } from '#src/lists/selection.tsx'
import { counted } from '#src/ui/numbers.ts'
import { toast } from '#src/ui/toast.tsx'
import { keepFocusInRows, markBusy } from '#src/ui/table-rows.ts'
import { InsteadDialog } from './instead-dialog.tsx'
import classes from './trash-page.module.css'

const columns = listColumns(trashList, {
  name: { card: 'title', viewMore: true, width: 8, grow: 3, isTwoLines: true },
  kind: { card: 'start', width: 6.25, grow: 0.2 },
  priorityOrEmail: { missing: '–', width: 6.5, grow: 2, card: 'fold' },
  deletedAt: { width: 5.5, grow: 1, card: 'fold' },
  deletedBy: { missing: '–', width: 6, grow: 1.5, isTwoLines: true, card: 'start' },
  expiresAt: { width: 5.5, grow: 1, card: 'fold' },
  Restore: { render: (record) => <RestoreButtons record={record} />, card: 'end', width: 10.25 },
  hasOthersOfAct: { isHiddenAtFirst: true, width: 6, card: 'fold' },
  actId: { isHiddenAtFirst: true, width: 8, card: 'fold' },
  recordId: { isHiddenAtFirst: true, width: 8, card: 'fold' },
  id: false,
})

const LAST_QUESTION = 'Nothing brings this back, nor its files. Are you sure?'
const backInactive = (count: number) => (count === 1 ? COMES_BACK_INACTIVE : 'Announcements come back inactive.')

export function TrashPage() {
  const address = useSearch({ from: '/shell/management/trash' })
  const input = { ...listFilter(trashList, address), ...listOrder(trashList, address), page: address.page ?? 1 }
  const query = useQuery(api.trash.list.queryOptions({ input, ...asListed }))
  const state = useList(trashList, { address, query, rowsOf: ({ records }) => records })
  return (
    <Page
      isList
      title="Trash"
      actions={
        <PurgeButton
          target={{ filter: {} }}
          selection={state.selection}
          title="Empty Trash"
          label="Empty Trash"
          isInPageHead
          isOff={state.isWhole && state.total === 0}
        />
      }
    >
      <div className={classes['list']}>
        <ListTable
          label="Trash"
          state={state}
          columns={columns}
          rowKey={({ id }) => id}
          acts={<BulkActs selection={state.selection} />}
        />
      </div>
    </Page>
  )
}

function BulkActs({ selection }: { selection: Selection<TrashFilter> }) {
  const { target } = selection
  return (
    <>
      <BulkButton
        act={{
          ...bulkEnd(trashList, selection),
          title: 'Restore',
          confirmLabel: (count) => `Restore ${counted(count, 'record')}`,
          question: (count) => `Restore ${counted(count, 'deleted record')}? ${backInactive(count)}`,
          run: async (run) => {
            const done = await client.trash.restoreMany({ target, ...run })
            return { ...done, detail: pausedText(done.pausedTasks) }
          },
          successText: (count) => `${counted(count, 'record')} restored. ${backInactive(count)}`,
        }}
      >
        Restore Selected
      </BulkButton>
      <PurgeButton target={target} selection={selection} title="Purge" label="Purge Selected" />
    </>
  )
}

interface PurgeProps {
  target: Target<TrashFilter>
  selection: Selection<TrashFilter>
  /** The title of the confirmation. */
  title: string
  label: string
  /** Disables the button, because there is nothing to purge. */
  isOff?: boolean
  isInPageHead?: boolean
}

function PurgeButton({ target, selection, title, label, ...button }: PurgeProps) {
  return (
    <BulkButton
      {...button}
      act={{
        ...bulkEnd(trashList, selection),
        title,
        question: (count) => `Are you sure you want to remove ${counted(count, 'deleted record')} for good?`,
        confirmLabel: (count) => `Purge ${counted(count, 'record')}`,
        lastQuestion: LAST_QUESTION,
        isDestructive: true,
        run: (run) => client.trash.purge({ target, ...run }),
        successText: (count) => `${counted(count, 'record')} purged.`,
      }}
    >
      {label}
    </BulkButton>
  )
}

function RestoreButtons({ record }: { record: TrashedRecord }) {
  const { id, kind, name } = record
  const [isDialogOpen, setIsDialogOpen] = useState(false)
  const restoreButton = useRef<HTMLButtonElement>(null)

  const handleRestore = async (button: Element) => {
    const keepFocus = keepFocusInRows(button)
    await actOnRow(trashList.name, button, {
      act: async () => {
        const { pausedTasks } = await client.trash.restore({ id })
        const detail = kind === 'announcement' ? COMES_BACK_INACTIVE : pausedText(pausedTasks)
        toast.success(`${isolated(name)} is back.`, { detail })
      },
      onFailure: ({ code, message }) => {
        if (code === 'PRIORITY_TAKEN' || code === 'EMAIL_TAKEN') setIsDialogOpen(true)
        else toast.failure(message)
      },
    })
    keepFocus()
  }

  // The dialog is unmounted while it is open, so it does not return the focus itself.
  const handleClose = () => {
    const keepFocus = keepFocusInRows(restoreButton.current)
    setIsDialogOpen(false)
    requestAnimationFrame(() => {
      restoreButton.current?.focus({ preventScroll: true })
      keepFocus()
    })
  }

  return (
    <RowActions>
      <Button
        ref={restoreButton}
        variant="default"
        size="compact-sm"
        onClick={({ currentTarget }) => void handleRestore(currentTarget)}
      >
        Restore
      </Button>
      {record.hasOthersOfAct && <RestoreAllButton record={record} />}
      {isDialogOpen && <InsteadDialog record={record} onClose={handleClose} />}
    </RowActions>
  )
}

function RestoreAllButton({ record: { kind, actId } }: { record: TrashedRecord }) {
  const undo = useUndo(trashList)

  const handleClick = async (button: Element) => {
    const keepFocus = keepFocusInRows(button)
    const endBusy = markBusy(button)
    await undo.ofDeletion(actId, kind === 'announcement')?.run()
    endBusy({ afterPaint: true })
    keepFocus()
  }

  return (
    <Button
      variant="subtle"
      size="compact-sm"
      title="Restore all that was deleted together with this"
      onClick={({ currentTarget }) => void handleClick(currentTarget)}
    >
      Restore All
    </Button>
  )
}
