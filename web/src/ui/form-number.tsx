/** A number in a form. Apart from form.tsx, because only few pages load what it needs. */
import { NumberInput } from '@mantine/core'
import { useState } from 'react'
import type { FieldValues } from 'react-hook-form'
import { type FieldProps, useField } from './form.tsx'

/** Its value is a number, undefined while it is empty, or the text as it was typed where no number says the same; a schema refuses that. */
export function NumberField<Input extends FieldValues, Output>(props: FieldProps<Input, Output>) {
  const { field, wrapper } = useField(props)
  const [typed, setTyped] = useState<number | string>(field.value)
  // What is typed may be on its way to a number: `2.0` to `2.05`. Once the form has another value, that is shown.
  const shown = (numberOf(typed) ?? '') === field.value ? typed : field.value
  const handleChange = (next: number | string) => {
    setTyped(next)
    field.onChange(numberOf(next))
  }
  const handleBlur = () => {
    setTyped(field.value)
    field.onBlur()
  }
  return (
    <NumberInput
      {...wrapper}
      {...field}
      value={shown}
      onChange={handleChange}
      onBlur={handleBlur}
      hideControls
      inputMode="decimal"
      trimLeadingZeroesOnBlur={false} // it would round what a number cannot hold instead of leaving that to the schema
    />
  )
}

const plainNumber = new Intl.NumberFormat('en-US', { useGrouping: false, maximumFractionDigits: 100 })

/** The number that `typed` says, whatever zeros it has around it; `typed` itself where there is none, such as for 9007199254740993. */
function numberOf(typed: number | string): number | string | undefined {
  if (typed === '' || typeof typed === 'number') return typed === '' ? undefined : typed
  const plain = typed
    .replace(/^(-?)\./, '$10.')
    .replace(/^(-?)0+(?=\d)/, '$1')
    .replace(/(\.\d*?)0*$/, '$1')
    .replace(/\.$/, '')
  return plainNumber.format(Number(typed)) === plain ? Number(typed) : typed
}
