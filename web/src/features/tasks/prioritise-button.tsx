/**
 * Renumbers the selected tasks: asks for the first priority and the step, then runs like any bulk act. If other tasks have one of the new
 * priorities, it asks again and names them.
 */
import type { TaskCollection } from '@arcade/contract/tasks/fields'
import { taskInputFor } from '@arcade/contract/tasks/calls'
import { Button, Modal } from '@mantine/core'
import { type FormEvent, useLayoutEffect, useRef, useState } from 'react'
import { asCallError } from '#src/client.ts'
import { NumberInput } from '#src/ui/number-input.tsx'
import { type BulkAct, useBulk } from '#src/lists/selection.tsx'
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
  /** What was typed as the first priority. Until something is typed, the field shows the next free priority. */
  const [typed, setTyped] = useState<{ first: string | number | undefined }>()
  const [refused, setRefused] = useState<string>()
  const first = typed ? typed.first : next.value
  const [step, setStep] = useState<string | number | undefined>(1)
  const firstInput = useRef<HTMLInputElement>(null)
  // The next free priority can arrive when the field has the focus already: selected, it is replaced by what is typed next.
  useLayoutEffect(() => {
    if (!typed && next.value !== undefined && document.activeElement === firstInput.current) firstInput.current?.select()
  }, [typed, next.value])
  const firstProblem = refused ?? (typed && findProblem(first))
  const stepProblem = findProblem(step) ?? (Number(step) <= 0 ? 'Step must be above 0' : undefined)

  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (findProblem(first) !== undefined || stepProblem !== undefined) return setTyped({ first })
    setIsOpen(false)
    const numbers = { first: Number(first), step: Number(step) }
    void runBulk({
      title: 'Change priorities',
      question: (count) =>
        `Are you sure you want to number ${count} tasks anew, in the order they have, from ${numbers.first} in steps of ${numbers.step}?`,
      run: (options) =>
        run(numbers, options).catch((error: unknown) => {
          const inTheWay = asCallError(error).fields?.['first']
          setRefused(inTheWay)
          if (inTheWay !== undefined) {
            setIsOpen(true)
            void next.refetch()
          }
          throw error
        }),
      successText: (count) => `${count} tasks numbered anew.`,
      ...end,
    })
  }

  const handleFirst = (value: string | number | undefined) => {
    setTyped({ first: value })
    setRefused(undefined)
  }
  const handleOpen = () => {
    setTyped(undefined)
    setRefused(undefined)
    setIsOpen(true)
  }

  return (
    <>
      <Button variant="default" size="compact-sm" aria-haspopup="dialog" onClick={handleOpen}>
        Change Priorities
      </Button>
      <Modal opened={isOpen} onClose={() => setIsOpen(false)} title="Change Priorities">
        <form className={classes['numbers']} onSubmit={handleSubmit} noValidate>
          <NumberInput
            ref={firstInput}
            label="First Priority"
            value={first}
            onChange={handleFirst}
            error={firstProblem}
            data-autofocus
          />
          {next.value !== undefined && next.value !== first && <NextPriorityButton value={next.value} onChoose={handleFirst} />}
          <NumberInput label="Step" value={step} onChange={setStep} error={stepProblem} />
          <Button type="submit">Continue</Button>
        </form>
      </Modal>
    </>
  )
}

function findProblem(value: string | number | undefined): string | undefined {
  return priorityField.safeParse(value).error?.issues[0]?.message
}
