/** The dialog of an item in the calendar: its dates to the minute, and the way to its form. */
import type { CalendarItem } from '@arcade/contract/calendar/calls'
import { useForm } from '#src/ui/form.tsx'
import { DialogForm, FormDialog } from '#src/ui/dialog-form.tsx'
import { MomentField } from '#src/ui/form-moment.tsx'
import { FormColumns } from '#src/ui/form.tsx'
import { useLast } from '#src/ui/last.ts'
import { ItemStateChip } from '#src/lists/item-state.tsx'
import { itemHref } from '#src/lists/form-hrefs.ts'
import { CellLink } from '#src/lists/row-buttons.tsx'
import { zonedText } from '#src/ui/zoned-time.ts'
import classes from './calendar.module.css'
import type { Dates } from './days.ts'
import { checkMove, datesOf, isStartFixed, kindText } from './move.ts'

interface ItemDialogProps {
  /** Undefined while the dialog is closed. */
  item: CalendarItem | undefined
  zone: string
  onClose: () => void
  onMove: (item: CalendarItem, to: Dates) => void
}

export function ItemDialog({ item, zone, onClose, onMove }: ItemDialogProps) {
  const last = useLast(item)
  return (
    <FormDialog isOpen={item !== undefined} title={last?.title ?? ''} onClose={onClose}>
      {last && <ItemForm key={`${last.kind} ${last.id} ${last.version}`} item={last} {...{ zone, onClose, onMove }} />}
    </FormDialog>
  )
}

function ItemForm({ item, zone, onClose, onMove }: ItemDialogProps & { item: CalendarItem }) {
  const form = useForm(
    () => import('@arcade/contract/calendar/calls').then(({ calendarDates }) => calendarDates),
    { startsAt: item.startsAt ?? '', endsAt: item.endsAt ?? '' },
    { used: ({ startsAt, endsAt }) => ({ startsAt: startsAt || null, endsAt: endsAt || null }) },
  )
  const handleSubmit = async (values: { startsAt?: string | null | undefined; endsAt?: string | null | undefined }) => {
    const to = datesOf({ startsAt: values.startsAt ?? null, endsAt: values.endsAt ?? null })
    const { refusal } = checkMove(item, to)
    if (refusal !== undefined) return { message: refusal }
    onClose()
    onMove(item, to)
    return undefined
  }
  return (
    <DialogForm form={form} label={`Dates of ${item.title}`} onSubmit={handleSubmit} onCancel={onClose} submitLabel="Save Dates">
      <p className={classes['about']}>
        {kindText(item.kind)} <ItemStateChip state={item.state} />
        <CellLink href={itemHref(item.kind, item.id)}>Open its form</CellLink>
      </p>
      <FormColumns>
        {isStartFixed(item) ? (
          <p className={classes['fixed']}>
            {item.startsAt === null ? 'It is Active.' : `It is Active since ${zonedText(Date.parse(item.startsAt), zone)}.`} Its
            start stays.
          </p>
        ) : (
          <MomentField control={form.control} name="startsAt" label="Starts At" zone={zone} />
        )}
        <MomentField control={form.control} name="endsAt" label="Ends At" zone={zone} />
      </FormColumns>
    </DialogForm>
  )
}
