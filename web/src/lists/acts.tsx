/** Deletes rows of a list: confirmation, toast with Undo, then a reload of the data that changed. */
import type { Target } from '@arcade/contract/bulk'
import type { List } from '@arcade/contract/entity'
import type { ListName } from '@arcade/contract/lists'
import { asCallError } from '#src/client/call-error.ts'
import { CONFIRM, useConfirm } from '#src/ui/confirm.tsx'
import { RowActions } from './table-cells.tsx'
import { DeleteButton } from './row-buttons.tsx'
import { type BulkAct, BulkButton } from './bulk-act.tsx'
import type { Selection } from './selection.tsx'
import { keepFocusInRows } from '#src/ui/table-rows.ts'
import { counted } from '#src/ui/numbers.ts'
import { toast } from '#src/ui/toast.tsx'
import { refreshAfterActOn } from './changes.ts'
import { actOnRow } from './row-act.ts'
import { type ActOptions, asAct, useUndo } from './undo.ts'

type NamedList = List & { name: ListName }

interface DeleteRowProps {
  list: NamedList
  /** The confirmation's text. */
  question: string
  /** Resolves with the success message. */
  run: (options: ActOptions) => Promise<string>
  /** Shown instead of the server's message (§8). */
  failureText?: string
}

export function DeleteRowButton({ list, question, run, failureText }: DeleteRowProps) {
  const confirm = useConfirm()
  const undo = useUndo(list)

  const handleDelete = async (button: Element) => {
    const keepFocus = keepFocusInRows(button)
    if (!(await confirm({ title: `Delete ${list.noun.one}`, message: question, confirmLabel: CONFIRM, isDestructive: true })))
      return
    await actOnRow(list.name, button, {
      act: async () => {
        const { answer: text, actId } = await asAct(run)
        const action = undo.ofDeletion(actId)
        toast.success(text, action && { action })
      },
      onFailure: ({ message }) => toast.failure(failureText ?? message, { detail: message }),
    })
    keepFocus()
  }

  return (
    <RowActions>
      <DeleteButton onClick={({ currentTarget }) => void handleDelete(currentTarget)} />
    </RowActions>
  )
}

interface DeleteSelectedProps<Filter extends object> {
  list: NamedList
  selection: Selection<Filter>
  /** Returns the last sentence of the confirmation: what happens to data that depends on the rows. */
  consequence: (count: number) => string
  run: (target: Target<Filter>, run: Parameters<BulkAct['run']>[0], options: ActOptions) => ReturnType<BulkAct['run']>
}

export function DeleteSelectedButton<Filter extends object>(props: DeleteSelectedProps<Filter>) {
  const { list, selection, consequence, run } = props
  const undo = useUndo(list)
  const { one, many } = list.noun
  const rows = (count: number) => counted(count, one, many)
  return (
    <BulkButton
      act={{
        ...bulkEnd(list, selection),
        title: `Delete ${many}`,
        question: (count) => `Are you sure you want to delete ${rows(count)}? ${consequence(count)}`,
        confirmLabel: (count) => `Delete ${rows(count)}`,
        isDestructive: true,
        run: (options) => undo.deletion((call) => run(selection.target, options, call)),
        successText: (count) => `${rows(count)} deleted.`,
      }}
    >
      Delete Selected
    </BulkButton>
  )
}

/** The end of every act on a selection: clears the selection after success, and reloads the data that may have changed. */
export function bulkEnd(list: NamedList, { clear }: { clear: () => void }): Pick<BulkAct, 'messageOf' | 'onEnd'> {
  return {
    messageOf: (problem) => asCallError(problem).message,
    onEnd: (isDone) => {
      if (isDone) clear()
      return refreshAfterActOn(list.name)
    },
  }
}
