/** Numbers picked tasks anew: asks for the first priority and the step, then goes on like every bulk act. */
import { taskInputFor } from '@arcade/contract/tasks'
import { Button, Modal } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { NumberInput } from '#src/ui/number-input.tsx'
import { type BulkAct, useBulk } from '#src/ui/selection.tsx'
import classes from './tasks-page.module.css'

interface Numbers {
  first: number
  step: number
}

interface PrioritiseButtonProps extends Pick<BulkAct, 'messageOf' | 'onEnd'> {
  run: (numbers: Numbers, run: Parameters<BulkAct['run']>[0]) => ReturnType<BulkAct['run']>
}

const priorityField = taskInputFor('social').shape.priority

export function PrioritiseButton({ run, ...end }: PrioritiseButtonProps) {
  const runBulk = useBulk()
  const [isOpen, setIsOpen] = useState(false)
  const [first, setFirst] = useState<string | number | undefined>(1)
  const [step, setStep] = useState<string | number | undefined>(1)
  const firstProblem = findProblem(first)
  const stepProblem = findProblem(step) ?? (Number(step) <= 0 ? 'Step must be above 0' : undefined)

  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (firstProblem !== undefined || stepProblem !== undefined) return
    setIsOpen(false)
    const numbers = { first: Number(first), step: Number(step) }
    void runBulk({
      title: 'Change priorities',
      question: (count) =>
        `Are you sure you want to number ${count} tasks anew, in the order they have, from ${numbers.first} in steps of ${numbers.step}?`,
      run: (options) => run(numbers, options),
      successText: (count) => `${count} tasks numbered anew.`,
      ...end,
    })
  }

  return (
    <>
      <Button variant="default" size="compact-sm" aria-haspopup="dialog" onClick={() => setIsOpen(true)}>
        Change Priorities
      </Button>
      <Modal opened={isOpen} onClose={() => setIsOpen(false)} title="Change Priorities">
        <form className={classes['numbers']} onSubmit={handleSubmit} noValidate>
          <NumberInput label="First Priority" value={first} onChange={setFirst} error={firstProblem} data-autofocus />
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
