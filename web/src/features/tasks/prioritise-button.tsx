/**
 * Renumbers the selected tasks: asks for the first priority and the step, then runs like any bulk act. If other tasks have one of the new
 * priorities, it asks again and names them.
 */
import type { TaskCollection } from '@arcade/contract/tasks/fields'
import { taskInputFor } from '@arcade/contract/tasks/calls'
import { Button } from '@mantine/core'
import { type FormEvent, useLayoutEffect, useRef, useState } from 'react'
import { asCallError } from '#src/client/call-error.ts'
import { Dialog, DialogActions } from '#src/ui/dialog.tsx'
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
  const { firstField, stepField, check, refuse, forget } = useNumberFields(next.value)

  const handleOpen = () => {
    forget()
    setIsOpen(true)
  }
  const handleFailure = (error: unknown): never => {
    const inTheWay = asCallError(error).fields?.['first']
    refuse(inTheWay)
    if (inTheWay !== undefined) {
      setIsOpen(true)
      void next.refetch()
    }
    throw error
  }
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    const numbers = check()
    if (!numbers) return
    setIsOpen(false)
    void runBulk({ ...actTexts(numbers), run: (options) => run(numbers, options).catch(handleFailure), ...end })
  }

  return (
    <>
      <Button variant="default" size="compact-sm" aria-haspopup="dialog" onClick={handleOpen}>
        Change Priorities
      </Button>
      <Dialog isOpen={isOpen} onClose={() => setIsOpen(false)} title="Change Priorities">
        <form className={classes['numbers']} onSubmit={handleSubmit} noValidate>
          <NumberInput label="First Priority" {...firstField} data-autofocus />
          {next.value !== undefined && next.value !== firstField.value && (
            <NextPriorityButton value={next.value} onChoose={firstField.onChange} />
          )}
          <NumberInput label="Step" {...stepField} />
          <DialogActions>
            <Button variant="default" onClick={() => setIsOpen(false)}>
              Cancel
            </Button>
            <Button type="submit">Continue</Button>
          </DialogActions>
        </form>
      </Dialog>
    </>
  )
}

type Typed = string | number | undefined

/** The state of the two fields. Until something is typed as the first priority, its field shows the next free one. */
function useNumberFields(nextFree: number | undefined) {
  const [typed, setTyped] = useState<{ first: Typed }>()
  const [step, setStep] = useState<Typed>(1)
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
    /** Returns the numbers; undefined if the fields show why they are not valid. */
    check: (): Numbers | undefined => {
      if (findProblem(first) === undefined && stepProblem === undefined) return { first: Number(first), step: Number(step) }
      setTyped({ first })
      return undefined
    },
    refuse: setRefused,
    /** Forgets what was typed as the first priority. */
    forget: () => {
      setTyped(undefined)
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
