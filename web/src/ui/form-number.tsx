/** A number in a form. It has a file of its own, because only few pages need Mantine's number input. */
import type { ReactNode } from 'react'
import type { FieldValues } from 'react-hook-form'
import classes from './form.module.css'
import { type FieldProps, useField } from './form.tsx'
import { NumberInput } from './number-input.tsx'

interface NumberFieldProps<Input extends FieldValues, Output> extends FieldProps<Input, Output> {
  /** Stands beside the box, such as a button that fills it in. */
  beside?: ReactNode
}

/** Its value is a number, '' once it was emptied, or the text as it was typed where no number says the same; a schema refuses those. */
export function NumberField<Input extends FieldValues, Output>(props: NumberFieldProps<Input, Output>) {
  const { field, wrapper } = useField(props)
  // Not undefined: to react-hook-form that is the value which the field began with.
  return (
    <NumberInput
      {...wrapper}
      {...field}
      onChange={(value) => field.onChange(value ?? '')}
      inputContainer={inputWith(props.beside)}
    />
  )
}

function inputWith(beside: ReactNode) {
  return (input: ReactNode) => (
    <div className={classes['beside']}>
      {input}
      {beside}
    </div>
  )
}
