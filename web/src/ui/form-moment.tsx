/**
 * A field of a form for a moment, entered in the operator's time zone. It names the zone and says the same in UTC, and says so if a clock
 * change leaves the time out or brings it twice.
 */
import { TextInput } from '@mantine/core'
import { useId, useState } from 'react'
import type { FieldValues } from 'react-hook-form'
import classes from './form-moment.module.css'
import { type FieldProps, useField } from './form.tsx'
import {
  clockChangeText,
  fromLocal,
  localOfInput,
  offsetText,
  operatorZone,
  toInputValue,
  zonedText,
  zoneText,
} from './zoned-time.ts'

const LAST_MINUTE = '9999-12-31T23:59' // keeps the year at four digits while it is typed
const FIRST_YEAR = 1970 // a year that is being typed is smaller, and the zones of old times have odd offsets

interface MomentFieldProps<Input extends FieldValues, Output> extends FieldProps<Input, Output> {
  /** The time zone; by default the operator's. */
  zone?: string
  /** Says more about a time that can be saved, such as that it is in the past. */
  note?: (at: number) => string | undefined
}

/** The field's value is an ISO text, `''` for an empty input, or the typed time if there is no such moment; schemas refuse that. */
export function MomentField<Input extends FieldValues, Output>(props: MomentFieldProps<Input, Output>) {
  const { zone = operatorZone(), note, ...own } = props
  const { field, wrapper } = useField({ ...own, hint: '', savedInWords: (saved) => zonedText(Date.parse(String(saved)), zone) })
  /** What the input shows, as long as it stands for the field's value: the value has seconds and an offset, which the input has not. */
  const [typed, setTyped] = useState('')
  const isOfValue = typed !== '' && valuesOf(typed, zone).includes(field.value)
  const shown = isOfValue ? typed : inputValue(field.value, zone)
  const local = localOfInput(shown)
  const isMissing = local !== undefined && field.value === shown && shown >= String(FIRST_YEAR)
  const [first, second] = valuesOf(shown, zone)

  const handleChange = (next: string) => {
    setTyped(next)
    field.onChange(valuesOf(next, zone)[0] ?? next)
  }
  return (
    <div className={classes['field']}>
      <TextInput
        {...wrapper}
        {...field}
        type="datetime-local"
        max={LAST_MINUTE}
        value={shown}
        onChange={(event) => handleChange(event.currentTarget.value)}
        error={isMissing ? 'There is no such time' : wrapper.error}
        aria-invalid={isMissing || wrapper['aria-invalid']}
        description={wrapper.description || (isMissing ? clockChangeText(local, zone) : hintOf(field.value, zone, note))}
      />
      {second !== undefined && local !== undefined && (
        <TwiceChoice
          text={clockChangeText(local, zone) ?? ''}
          moments={[first ?? '', second]}
          zone={zone}
          value={field.value}
          onChange={field.onChange}
        />
      )}
    </div>
  )
}

function hintOf(value: string, zone: string, note: ((at: number) => string | undefined) | undefined): string {
  const at = Date.parse(value)
  if (value === '' || Number.isNaN(at)) return zone.replaceAll('_', ' ')
  const inUtc = zone === 'UTC' ? 'UTC' : `${zoneText(at, zone)} · ${zonedText(at, 'UTC')} UTC`
  return [inUtc, note?.(at)].filter((part) => part !== undefined).join(' · ')
}

interface TwiceChoiceProps {
  /** Why there is a choice. */
  text: string
  moments: readonly [string, string]
  zone: string
  value: string
  onChange: (value: string) => void
}

/** The choice between two moments with the same time of day. */
function TwiceChoice({ text, moments, zone, value, onChange }: TwiceChoiceProps) {
  const name = useId()
  return (
    <fieldset className={classes['twice']}>
      <legend>{text}</legend>
      {moments.map((moment, index) => (
        <label key={moment}>
          <input type="radio" name={name} checked={value === moment} onChange={() => onChange(moment)} />
          {index === 0 ? 'The first' : 'The second'} ({offsetText(Date.parse(moment), zone)})
        </label>
      ))}
    </fieldset>
  )
}

/** Returns the values of an input: one, or two if the time comes twice. A time that does not exist stays as it was typed. */
function valuesOf(typed: string, zone: string): string[] {
  const local = localOfInput(typed)
  if (local === undefined || new Date(local).getUTCFullYear() < FIRST_YEAR) return typed === '' ? [] : [typed]
  const reading = fromLocal(local, zone)
  if (reading.comes === 'never') return [typed]
  const moments = reading.comes === 'twice' ? [reading.at, reading.second] : [reading.at]
  return moments.map((at) => new Date(at).toISOString())
}

/** Returns what the input shows for a value. */
function inputValue(value: string, zone: string): string {
  const at = value.endsWith('Z') ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? value : toInputValue(at, zone)
}
