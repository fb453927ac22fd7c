/** Asks for another priority or e-mail when a deleted record cannot be restored because its own is taken by now. */
import type { TrashedRecord } from '@arcade/contract/trash/fields'
import { restoreInput } from '@arcade/contract/trash/calls'
import { isolated } from '@arcade/contract/text'
import { TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { asCallError, type CallError } from '#src/client/call-error.ts'
import { api, client } from '#src/client/client.ts'
import { refreshAfterActOn } from '#src/lists/changes.ts'
import { pausedText } from '#src/lists/undo.ts'
import { FormDialog, StatefulDialogForm } from '#src/ui/dialog-form.tsx'
import { NumberInput } from '#src/ui/number-input.tsx'
import { toast } from '#src/ui/toast.tsx'
import classes from './trash-page.module.css'

const isAboutField: Partial<Record<CallError['code'], true>> = { INVALID_INPUT: true, PRIORITY_TAKEN: true, EMAIL_TAKEN: true }

interface InsteadProps {
  record: TrashedRecord
  onClose: () => void
}

export function InsteadDialog({ record, onClose }: InsteadProps) {
  const { id, kind, name, priorityOrEmail } = record
  const isUser = kind === 'user'
  const free = useFreePriority(kind)
  const initial = isUser ? (priorityOrEmail ?? '') : free
  const [typed, setTyped] = useState<string | number>()
  const [problem, setProblem] = useState<string>()
  const [isTouched, setIsTouched] = useState(false)
  const value = isTouched ? typed : initial

  const handleSubmit = async () => {
    const { email, priority } = restoreInput.shape
    const checked = (isUser ? email : priority).unwrap().safeParse(value)
    if (!checked.success) return setProblem(checked.error.issues[0]?.message)
    try {
      const { pausedTasks } = await client.trash.restore({ id, [isUser ? 'email' : 'priority']: checked.data })
      toast.success(`${isolated(name)} is back.`, { detail: pausedText(pausedTasks) })
    } catch (cause) {
      const { code, isException, message } = asCallError(cause)
      if (isAboutField[code]) return setProblem(message)
      toast.failure(message)
      if (isException) return undefined // another try may succeed
    }
    onClose()
    await refreshAfterActOn('trash')
  }

  const change = (next: string | number | undefined) => {
    setIsTouched(true)
    setTyped(next)
    setProblem(undefined)
  }

  return (
    <FormDialog isOpen onClose={onClose} title={`Restore ${isolated(name)}`}>
      <StatefulDialogForm
        isTyped={value !== initial}
        submitLabel="Restore"
        onSubmit={() => void handleSubmit()}
        onCancel={onClose}
      >
        <div className={classes['instead']}>
          <p>{`${isUser ? 'Email' : 'Priority'} ${priorityOrEmail} is taken by now. Please choose another one.`}</p>
          <InsteadField isUser={isUser} value={value} error={problem} onChange={change} />
        </div>
      </StatefulDialogForm>
    </FormDialog>
  )
}

/** Returns the first whole number above all priorities of the deleted task's collection; 1 until they are loaded. */
function useFreePriority(kind: TrashedRecord['kind']): number {
  const collection = kind === 'dailyTask' ? 'dailyTasks' : 'socialTasks'
  const input = { sort: 'priority', reversed: true } as const
  const { data } = useQuery(api[collection].list.queryOptions({ input, enabled: kind !== 'user' }))
  return Math.floor(data?.tasks[0]?.priority ?? 0) + 1
}

interface InsteadFieldProps {
  isUser: boolean
  value: string | number | undefined
  error: string | undefined
  onChange: (value: string | number | undefined) => void
}

function InsteadField({ isUser, value, error, onChange }: InsteadFieldProps) {
  if (!isUser) return <NumberInput label="Priority" value={value} error={error} onChange={onChange} data-autofocus />
  return (
    <TextInput
      label="Email"
      type="email"
      value={value ?? ''}
      error={error}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      data-autofocus
    />
  )
}
