/** The optional parts of a new broadcast: when it begins and ends, the control group and paid sending. */
import type { BroadcastInput, BroadcastPlan } from '@arcade/contract/broadcasts/calls'
import { MAX_HOLD_BACK_PERCENT } from '@arcade/contract/broadcasts/fields'
import { useId } from 'react'
import { type Control, useController, useWatch } from 'react-hook-form'
import { Choice } from '#src/ui/choice.tsx'
import { MomentField } from '#src/ui/form-moment.tsx'
import { NumberField } from '#src/ui/form-number.tsx'
import { counted, formatted } from '#src/ui/numbers.ts'
import classes from './broadcasts.module.css'
import type { PlanValues } from './plan-form.ts'
import { smallText } from './words.ts'

interface OptionProps {
  control: Control<PlanValues, unknown, BroadcastInput>
}

/** Returns whether an optional part is in use, and the function that changes it. */
function useOption(control: OptionProps['control'], name: 'isLater' | 'isHeld' | 'isPaid') {
  const { field } = useController({ control, name })
  return { isOn: field.value === true, onChange: (isOn: boolean) => field.onChange(isOn) }
}

/** What is said of a beginning in the past. */
export function pastStart(at: number): string | undefined {
  return at <= Date.now() ? 'This is in the past, so it begins at once.' : undefined
}

export function When({ control }: OptionProps) {
  const { isOn: isLater, onChange } = useOption(control, 'isLater')
  const name = useId()
  const choices = [
    { isLaterOne: false, label: 'At once' },
    { isLaterOne: true, label: 'At a time' },
  ]
  return (
    <div className={classes['stack']}>
      <fieldset className={classes['radios']}>
        <legend className="app-sr-only">When sending begins</legend>
        {choices.map(({ isLaterOne, label }) => (
          <label key={label}>
            <input type="radio" name={name} checked={isLater === isLaterOne} onChange={() => onChange(isLaterOne)} />
            {label}
          </label>
        ))}
      </fieldset>
      <div className={classes['pair']}>
        {isLater && (
          <MomentField control={control} name="sendAt" label="Begins" isRequired checks={['endsAt']} note={pastStart} />
        )}
        <MomentField control={control} name="endsAt" label="Ends at the latest (optional)" />
      </div>
      <p className={classes['hint']}>
        The recipients are chosen when sending begins. Players who are blocked, erased or want no messages by their turn are
        skipped.
      </p>
    </div>
  )
}

export function ControlGroup({ control, plan }: OptionProps & { plan: BroadcastPlan | undefined }) {
  const { isOn, onChange } = useOption(control, 'isHeld')
  return (
    <div className={classes['stack']}>
      <Choice checked={isOn} onChange={({ target }) => onChange(target.checked)}>
        Hold back some players at random
      </Choice>
      {isOn && (
        <div className={classes['pair']}>
          <NumberField control={control} name="holdBack" label={`Percent held back (1 to ${MAX_HOLD_BACK_PERCENT})`} isRequired />
        </div>
      )}
      <p className={classes['hint']} aria-live="polite">
        {!isOn
          ? 'Without a control group, nobody can say which claims the message has brought.'
          : plan?.smallestDifference === undefined
            ? 'These are too few players to compare.'
            : `About ${counted(plan.held, 'player')} get no message. If one in ten claims anyway, the report can show a difference of ${smallText(plan.smallestDifference)} or more.`}
      </p>
    </div>
  )
}

const PAID_EXPLAINED =
  'Telegram sends more than 30 messages a second only for Stars, which the bot’s balance pays. Off, sending is free and takes longer.'

export function Paid({ control, plan }: OptionProps & { plan: BroadcastPlan | undefined }) {
  const { isOn, onChange } = useOption(control, 'isPaid')
  const starsEach = useWatch({ control, name: 'paid.starsEach' })
  const price = plan && typeof starsEach === 'number' ? plan.recipients * starsEach : undefined
  return (
    <div className={classes['stack']}>
      <Choice checked={isOn} onChange={({ target }) => onChange(target.checked)}>
        Paid sending
      </Choice>
      {isOn && (
        <div className={classes['pair']}>
          <NumberField control={control} name="paid.starsEach" label="Stars a message" isRequired checks={['paid.most']} />
          <NumberField control={control} name="paid.most" label="Stars in all at most" isRequired />
        </div>
      )}
      <p className={classes['hint']} aria-live="polite">
        {isOn && price !== undefined ? `All messages together cost ${formatted(price)} Stars.` : PAID_EXPLAINED}
      </p>
    </div>
  )
}
