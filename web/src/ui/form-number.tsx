/** A number field of a form. In its own file, because only a few pages need it. */
import type { ReactNode } from 'react'
import type { FieldValues } from 'react-hook-form'
import classes from './form.module.css'
import { type FieldProps, useField } from './form.tsx'
import { NumberInput } from './number-input.tsx'

interface NumberFieldProps<Input extends FieldValues, Output> extends FieldProps<Input, Output> {
  /** Content beside the input, such as a button that fills it in. */
  beside?: ReactNode
  /** An error that the schema cannot know. It shows at once, also before the field was left. */
  error?: string | undefined
}

/** The field's value is a number, '' for an empty input, or the typed text if it is not exactly a number; schemas refuse text. */
export function NumberField<Input extends FieldValues, Output>(props: NumberFieldProps<Input, Output>) {
  const { field, wrapper } = useField(props)
  const error = wrapper.error ?? props.error
  // '' and not undefined: react-hook-form replaces undefined with the default value.
  return (
    <NumberInput
      {...wrapper}
      {...field}
      error={error}
      aria-invalid={error === undefined ? undefined : true}
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
