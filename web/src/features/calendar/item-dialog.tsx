/** The dialog of an item in the calendar: its dates to the minute, and the way to its form. */
import type { CalendarItem } from '@arcade/contract/calendar/calls'
import { useForm } from '#src/ui/form.tsx'
import { DialogForm, FormDialog } from '#src/ui/dialog-form.tsx'
import { MomentField } from '#src/ui/form-moment.tsx'
import { FormColumns } from '#src/ui/form.tsx'
import { ItemStateChip } from '#src/lists/item-state.tsx'
import { useItemHref } from '#src/lists/form-hrefs.ts'
import { CellLink } from '#src/lists/row-buttons.tsx'
import { zonedText } from '#src/ui/zoned-time.ts'
import classes from './calendar.module.css'
import type { Dates } from './days.ts'
import { checkMove, datesOf, datesText, isStartFixed, kindText } from './move.ts'

interface ItemDialogProps {
  /** Undefined while the dialog is closed. */
  item: CalendarItem | undefined
  zone: string
  /** Whether the role may move the item. Otherwise the dialog only shows its dates. */
  canMove: (item: CalendarItem) => boolean
  onClose: () => void
  onMove: (item: CalendarItem, to: Dates) => void
}

export function ItemDialog({ item, zone, canMove, onClose, onMove }: ItemDialogProps) {
  return (
    <FormDialog isOpen={item !== undefined} title={item?.title ?? ''} onClose={onClose}>
      {item && canMove(item) ? (
        <ItemForm key={`${item.kind} ${item.id} ${item.version}`} item={item} {...{ zone, onClose, onMove }} />
      ) : (
        item && (
          <>
            <About item={item} />
            <p className={classes['fixed']}>{datesText(datesOf(item), zone)}</p>
          </>
        )
      )}
    </FormDialog>
  )
}

/** What the item is, and the way to where the person may open it. */
function About({ item: { kind, id, state } }: { item: CalendarItem }) {
  const href = useItemHref()(kind, id)
  return (
    <p className={classes['about']}>
      {kindText(kind)} <ItemStateChip state={state} />
      {href !== undefined && <CellLink href={href}>{href.startsWith('/history') ? 'Who took part' : 'Open its form'}</CellLink>}
    </p>
  )
}

function ItemForm({ item, zone, onClose, onMove }: Omit<ItemDialogProps, 'canMove'> & { item: CalendarItem }) {
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
      <About item={item} />
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
