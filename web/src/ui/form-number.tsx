/** A number in a form. Apart from form.tsx, because only few pages load what it needs. */
import { NumberInput } from '@mantine/core'
import type { FieldValues } from 'react-hook-form'
import { type FieldProps, useField } from './form.tsx'

/** Its value is a number, or undefined while it is empty. */
export function NumberField<Input extends FieldValues, Output>(props: FieldProps<Input, Output>) {
  const { field, wrapper } = useField(props)
  const handleChange = (value: number | string) => field.onChange(value === '' ? undefined : value)
  return <NumberInput {...wrapper} {...field} onChange={handleChange} hideControls inputMode="decimal" />
}
