/** Acts on the dates of selected tasks or announcements: shift them, or end the items now. Both can be undone. */
import type { Target } from '@arcade/contract/bulk'
import type { FilterOf, List } from '@arcade/contract/entity'
import { MAX_SHIFT_DAYS } from '@arcade/contract/items/fields'
import type { ListName } from '@arcade/contract/lists'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { FormDialog, StatefulDialogForm } from '#src/ui/dialog-form.tsx'
import { NumberInput } from '#src/ui/number-input.tsx'
import { counted } from '#src/ui/numbers.ts'
import { operatorZone } from '#src/ui/zoned-time.ts'
import { bulkEnd } from './acts.tsx'
import { type BulkAct, BulkButton, useBulk } from './bulk-act.tsx'
import classes from './schedule-section.module.css'
import type { Selection } from './selection.tsx'
import { type ActOptions, useUndo } from './undo.ts'

type Run = Parameters<BulkAct['run']>[0]
type Call<Input> = (input: Input & Run, options: ActOptions) => ReturnType<BulkAct['run']>

interface ScheduleActsProps<L extends List & { name: ListName }> {
  list: L
  selection: Selection<FilterOf<L>>
  shift: Call<{ target: Target<FilterOf<L>>; days: number; minutes: number; zone: string }>
  end: Call<{ target: Target<FilterOf<L>> }>
  /** What ending items does. */
  consequence: string
}

export function ScheduleActs<L extends List & { name: ListName }>(props: ScheduleActsProps<L>) {
  const { list, selection, shift, end, consequence } = props
  const undo = useUndo(list)
  const runBulk = useBulk()
  const { one, many } = list.noun
  const rows = (count: number) => counted(count, one, many)
  const common = bulkEnd(list, selection)
  const handleShift = (by: Shift) =>
    void runBulk({
      ...common,
      title: 'Shift dates',
      question: (count) => `Are you sure you want to move the dates of ${rows(count)} ${shiftText(by)}?`,
      confirmLabel: (count) => `Shift ${rows(count)}`,
      run: (run) =>
        undo.change((call) => {
          const [days, minutes] = [by.days, by.hours * MINUTES_AN_HOUR]
          return shift({ target: selection.target, days, minutes, zone: operatorZone(), ...run }, call)
        }),
      successText: (count) => `The dates of ${rows(count)} moved ${shiftText(by)}.`,
    })
  return (
    <>
      <ShiftButton onShift={handleShift} />
      <BulkButton
        act={{
          ...common,
          title: `End ${many} now`,
          question: (count) => `Are you sure you want to end ${rows(count)} now? ${consequence}`,
          confirmLabel: (count) => `End ${rows(count)}`,
          run: (run) => undo.change((call) => end({ target: selection.target, ...run }, call)),
          successText: (count) => `${rows(count)} ended.`,
        }}
      >
        End Now
      </BulkButton>
    </>
  )
}

const MINUTES_AN_HOUR = 60

interface Shift {
  days: number
  hours: number
}

/** Returns a shift in words: `2 days and 3 hours later`. */
function shiftText({ days, hours }: Shift): string {
  const isEarlier = days < 0 || (days === 0 && hours < 0)
  const parts = [days !== 0 && counted(Math.abs(days), 'day'), hours !== 0 && counted(Math.abs(hours), 'hour')]
  return `${parts.filter((part) => part !== false).join(' and ')} ${isEarlier ? 'earlier' : 'later'}`
}

type Typed = string | number | undefined

/** A button that asks by how much, and then starts the act. */
function ShiftButton({ onShift }: { onShift: (by: Shift) => void }) {
  const [isOpen, setIsOpen] = useState(false)
  const handleClose = () => setIsOpen(false)
  return (
    <>
      <Button variant="default" size="compact-sm" aria-haspopup="dialog" onClick={() => setIsOpen(true)}>
        Shift Dates
      </Button>
      <FormDialog isOpen={isOpen} onClose={handleClose} title="Shift Dates">
        <ShiftForm onClose={handleClose} onShift={onShift} />
      </FormDialog>
    </>
  )
}

function ShiftForm({ onClose, onShift }: { onClose: () => void; onShift: (by: Shift) => void }) {
  const [days, setDays] = useState<Typed>()
  const [hours, setHours] = useState<Typed>()
  const [isSent, setIsSent] = useState(false)
  const problem = isSent ? problemOf(days, hours) : undefined

  const handleSubmit = () => {
    setIsSent(true)
    if (problemOf(days, hours) !== undefined) return
    onClose()
    onShift({ days: Number(days ?? 0), hours: Number(hours ?? 0) })
  }
  return (
    <StatefulDialogForm
      isTyped={Number(days ?? 0) !== 0 || Number(hours ?? 0) !== 0}
      className={classes['shift']}
      submitLabel="Continue"
      onSubmit={handleSubmit}
      onCancel={onClose}
    >
      <p>Starts and ends that are still to come move by as much. Below 0 they move earlier. Days keep the time of day.</p>
      <NumberInput label="Days" value={days} error={problem} onChange={setDays} data-autofocus />
      <NumberInput label="Hours" value={hours} onChange={setHours} />
    </StatefulDialogForm>
  )
}

function problemOf(days: Typed, hours: Typed): string | undefined {
  const [byDays, byHours] = [Number(days ?? 0), Number(hours ?? 0)]
  if (!Number.isInteger(byDays) || !Number.isInteger(byHours)) return 'Days and hours must be whole numbers'
  if (byDays === 0 && byHours === 0) return 'Say by how many days or hours'
  if (byDays * byHours < 0) return 'Days and hours must go the same way'
  return Math.abs(byDays) + Math.abs(byHours) / 24 > MAX_SHIFT_DAYS ? `At most ${MAX_SHIFT_DAYS} days` : undefined
}
