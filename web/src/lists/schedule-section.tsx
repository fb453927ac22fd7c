/**
 * The section *When and for whom* of the forms of tasks and announcements: start, end, limits and, for tasks, the pause. It is closed unless
 * something in it is set or refused, so that it is in nobody's way.
 */
import { availabilityFields } from '@arcade/contract/items/fields'
import { IconChevronRight } from '@tabler/icons-react'
import { useState } from 'react'
import { type Control, type FieldPath, type FieldValues, useController, useFormState, useWatch } from 'react-hook-form'
import { CheckboxField } from '#src/ui/form-checkbox.tsx'
import { MomentField } from '#src/ui/form-moment.tsx'
import { NumberField } from '#src/ui/form-number.tsx'
import { FormColumns } from '#src/ui/form.tsx'
import { exactly } from '#src/ui/numbers.ts'
import { operatorZone, zonedText } from '#src/ui/zoned-time.ts'
import classes from './schedule-section.module.css'
import { SegmentField } from './segment-field.tsx'
import { useForSegmentText } from './segments.ts'

const names = ['startsAt', 'endsAt', 'maxParticipants', 'dailyBudget', 'segmentId', 'paused'] as const
type Name = (typeof names)[number]

interface Scheduled {
  startsAt: string | null
  endsAt: string | null
  maxParticipants: number | null
  dailyBudget: number | null
  segmentId: string | null
}

/** Returns the form's values for an item; a copy of an item has the limits without the dates. */
export function scheduleValues(
  { startsAt, endsAt, maxParticipants, dailyBudget, segmentId }: Scheduled,
  { isCopy = false } = {},
): Scheduled {
  const dates = isCopy ? { startsAt: null, endsAt: null } : { startsAt, endsAt }
  return { ...dates, maxParticipants, dailyBudget, segmentId }
}

export const noSchedule: Scheduled = { startsAt: null, endsAt: null, maxParticipants: null, dailyBudget: null, segmentId: null }

/** Returns the values as calls take them: null for an empty field, so that an update clears it. */
export function sentSchedule<Values extends object>(values: Values): Values {
  const cleared = Object.entries(values).map(([name, value]) => [
    name,
    value === '' && (names as readonly string[]).includes(name) ? null : (value as unknown),
  ])
  return Object.fromEntries(cleared) as Values
}

interface ScheduleSectionProps<Input extends FieldValues, Output> {
  control: Control<Input, unknown, Output>
  /** What happens at the start. */
  kind: 'task' | 'announcement'
  /** The item that the form copies. */
  original?: Pick<Scheduled, 'startsAt' | 'endsAt'> | undefined
}

export function ScheduleSection<Input extends FieldValues, Output>({
  control,
  kind,
  original,
}: ScheduleSectionProps<Input, Output>) {
  const [now] = useState(Date.now)
  const values = useWatch({ control }) as Partial<Record<Name, string | number | boolean | null>>
  const parts = summaryParts(values, useForSegmentText())
  const [isOpen, setIsOpen] = useState(parts.length > 0)
  if (hasDates(original) && !hasDates(values)) parts.push('the dates of the original are not copied')
  const { errors, defaultValues } = useFormState({ control, name: names as unknown as FieldPath<Input>[] })
  const isRefused = names.some((name) => name in errors)
  const field = (name: Name) => ({ control, name: name as FieldPath<Input> })
  const savedStart = startOf(defaultValues as Partial<Record<Name, unknown>> | undefined)
  const startNote = (at: number) => {
    if (at <= now) return at === savedStart ? 'in the past' : 'in the past: it starts at once'
    return kind === 'announcement' ? 'it becomes Active by itself' : undefined
  }
  return (
    <details
      className={classes['section']}
      open={isOpen || isRefused}
      onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
    >
      <Summary parts={parts} />
      <div className={classes['fields']}>
        <FormColumns>
          <MomentField
            {...field('startsAt')}
            label={availabilityFields.startsAt.label}
            note={startNote}
            checks={['endsAt' as FieldPath<Input>]}
          />
          <MomentField
            {...field('endsAt')}
            label={availabilityFields.endsAt.label}
            note={(at) => (at <= now ? 'in the past' : undefined)}
          />
          <NumberField
            {...field('maxParticipants')}
            label={availabilityFields.maxParticipants.label}
            hint="It is full once this many have taken part."
          />
          <NumberField
            {...field('dailyBudget')}
            label={availabilityFields.dailyBudget.label}
            hint="The most points that it pays in a UTC day."
          />
          <SegmentControl {...field('segmentId')} />
        </FormColumns>
        {kind === 'task' && (
          <CheckboxField {...field('paused')} label="Paused" description="Players do not see it, and nobody can claim it." />
        )}
      </div>
    </details>
  )
}

interface SegmentControlProps<Input extends FieldValues, Output> {
  control: Control<Input, unknown, Output>
  name: FieldPath<Input>
}

/** For which players the item is. */
function SegmentControl<Input extends FieldValues, Output>(props: SegmentControlProps<Input, Output>) {
  const { field, fieldState } = useController(props)
  const value: unknown = field.value
  return <SegmentField {...field} label="For" value={typeof value === 'string' ? value : ''} error={fieldState.error?.message} />
}

function Summary({ parts }: { parts: readonly string[] }) {
  return (
    <summary className={classes['summary']}>
      <IconChevronRight size={16} aria-hidden className={classes['chevron']} />
      <span>When and for whom</span>
      <span className={classes['set']}>{parts.join(' · ') || 'No dates or limits'}</span>
    </summary>
  )
}

function startOf({ startsAt }: Partial<Record<Name, unknown>> = {}): number | undefined {
  return typeof startsAt === 'string' ? Date.parse(startsAt) : undefined
}

function hasDates({ startsAt, endsAt }: Partial<Record<Name, unknown>> = {}): boolean {
  return [startsAt, endsAt].some(Boolean)
}

/** Says in a few words what is set. */
function summaryParts(values: Partial<Record<Name, unknown>>, forSegment: (segmentId: string) => string): string[] {
  const moment = (name: Name) => {
    const value = values[name]
    const at = typeof value === 'string' ? Date.parse(value) : Number.NaN
    return Number.isNaN(at) ? undefined : zonedText(at, operatorZone())
  }
  const number = (name: Name) => (typeof values[name] === 'number' ? exactly(values[name]) : undefined)
  const [starts, ends, most, budget] = [moment('startsAt'), moment('endsAt'), number('maxParticipants'), number('dailyBudget')]
  return [
    values.paused === true && 'paused',
    starts !== undefined && `from ${starts}`,
    ends !== undefined && `until ${ends}`,
    most !== undefined && `the first ${most}`,
    budget !== undefined && `${budget} points a day`,
    typeof values.segmentId === 'string' && values.segmentId !== '' && forSegment(values.segmentId),
  ].filter((part) => part !== false)
}
