/**
 * Renumbers the selected tasks: asks for the first priority and the step, then runs like any bulk act. If other tasks have one of the new
 * priorities, it asks again and names them.
 */
import type { TaskCollection } from '@arcade/contract/tasks/fields'
import { taskInputFor } from '@arcade/contract/tasks/calls'
import { Button } from '@mantine/core'
import { useLayoutEffect, useRef, useState } from 'react'
import { asCallError } from '#src/client/call-error.ts'
import { FormDialog, StatefulDialogForm } from '#src/ui/dialog-form.tsx'
import { NumberInput } from '#src/ui/number-input.tsx'
import { counted, formatted } from '#src/ui/numbers.ts'
import { type BulkAct, useBulk } from '#src/lists/bulk-act.tsx'
import { NextPriorityButton, useNextPriority } from './next-priority.tsx'
import classes from './tasks-page.module.css'

interface Numbers {
  first: number
  step: number
}

interface PrioritiseButtonProps extends Pick<BulkAct, 'messageOf' | 'onEnd'> {
  collection: TaskCollection
  run: (numbers: Numbers, run: Parameters<BulkAct['run']>[0]) => ReturnType<BulkAct['run']>
}

const priorityField = taskInputFor('social').shape.priority

export function PrioritiseButton({ collection, run, ...end }: PrioritiseButtonProps) {
  const runBulk = useBulk()
  const [isOpen, setIsOpen] = useState(false)
  const next = useNextPriority(collection, isOpen)
  const fields = useNumberFields(next.value)

  const handleOpen = () => {
    fields.forget()
    setIsOpen(true)
  }
  const handleFailure = (error: unknown): never => {
    const inTheWay = asCallError(error).fields?.['first']
    fields.refuse(inTheWay)
    if (inTheWay !== undefined) {
      setIsOpen(true)
      void next.refetch()
    }
    throw error
  }
  const handleSubmit = (numbers: Numbers) => {
    setIsOpen(false)
    void runBulk({ ...actTexts(numbers), run: (options) => run(numbers, options).catch(handleFailure), ...end })
  }

  return (
    <>
      <Button variant="default" size="compact-sm" aria-haspopup="dialog" onClick={handleOpen}>
        Change Priorities
      </Button>
      <FormDialog isOpen={isOpen} onClose={() => setIsOpen(false)} title="Change Priorities">
        <PrioritiseForm fields={fields} nextFree={next.value} onSubmit={handleSubmit} onClose={() => setIsOpen(false)} />
      </FormDialog>
    </>
  )
}

interface PrioritiseFormProps {
  fields: ReturnType<typeof useNumberFields>
  nextFree: number | undefined
  onSubmit: (numbers: Numbers) => void
  onClose: () => void
}

function PrioritiseForm({ fields: { firstField, stepField, isTyped, check }, nextFree, onSubmit, onClose }: PrioritiseFormProps) {
  const handleSubmit = () => {
    const numbers = check()
    if (numbers) onSubmit(numbers)
  }
  return (
    <StatefulDialogForm
      isTyped={isTyped}
      className={classes['numbers']}
      submitLabel="Continue"
      onSubmit={handleSubmit}
      onCancel={onClose}
    >
      <NumberInput label="First Priority" {...firstField} data-autofocus />
      {nextFree !== undefined && nextFree !== firstField.value && (
        <NextPriorityButton value={nextFree} onChoose={firstField.onChange} />
      )}
      <NumberInput label="Step" {...stepField} />
    </StatefulDialogForm>
  )
}

type Typed = string | number | undefined

const FIRST_STEP = 1

/** The state of the two fields. Until something is typed as the first priority, its field shows the next free one. */
function useNumberFields(nextFree: number | undefined) {
  const [typed, setTyped] = useState<{ first: Typed }>()
  const [step, setStep] = useState<Typed>(FIRST_STEP)
  /** Why the server refused the first priority. */
  const [refused, setRefused] = useState<string>()
  const first = typed ? typed.first : nextFree
  const stepProblem = findProblem(step) ?? (Number(step) <= 0 ? 'Step must be above 0' : undefined)
  const firstInput = useRef<HTMLInputElement>(null)
  // The next free priority can arrive when the field has the focus already: selected, it is replaced by what is typed next.
  useLayoutEffect(() => {
    if (!typed && nextFree !== undefined && document.activeElement === firstInput.current) firstInput.current?.select()
  }, [typed, nextFree])

  return {
    firstField: {
      ref: firstInput,
      value: first,
      error: refused ?? (typed && findProblem(first)),
      onChange: (value: Typed) => {
        setTyped({ first: value })
        setRefused(undefined)
      },
    },
    stepField: { value: step, error: stepProblem, onChange: setStep },
    isTyped: (typed !== undefined && typed.first !== nextFree) || step !== FIRST_STEP,
    /** Returns the numbers; undefined if the fields show why they are not valid. */
    check: (): Numbers | undefined => {
      if (findProblem(first) === undefined && stepProblem === undefined) return { first: Number(first), step: Number(step) }
      setTyped({ first })
      return undefined
    },
    refuse: setRefused,
    /** Forgets what was typed. */
    forget: () => {
      setTyped(undefined)
      setStep(FIRST_STEP)
      setRefused(undefined)
    },
  }
}

function actTexts({ first, step }: Numbers): Pick<BulkAct, 'title' | 'question' | 'confirmLabel' | 'successText'> {
  return {
    title: 'Change priorities',
    confirmLabel: (count) => `Number ${counted(count, 'task')} anew`,
    question: (count) =>
      count === 1
        ? `Are you sure you want to give 1 task the priority ${first}?`
        : `Are you sure you want to number ${formatted(count)} tasks anew, in the order they have, from ${first} in steps of ${step}?`,
    successText: (count) => `${counted(count, 'task')} numbered anew.`,
  }
}

function findProblem(value: Typed): string | undefined {
  return priorityField.safeParse(value).error?.issues[0]?.message
}
