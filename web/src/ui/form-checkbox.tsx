/** A checkbox in a form, with a hint below it. The schema has its default value. */
import { useId } from 'react'
import { type FieldValues, useController } from 'react-hook-form'
import { Choice } from './choice.tsx'
import classes from './form-checkbox.module.css'
import type { FieldProps } from './form.tsx'

export function CheckboxField<Input extends FieldValues, Output>(props: FieldProps<Input, Output>) {
  const { control, name, label, description } = props
  const { field } = useController({ control, name })
  const { value, ...rest } = field as Omit<typeof field, 'value'> & { value: unknown }
  const hint = useId()
  return (
    <div className={classes['checkbox']} data-wide>
      <Choice {...rest} checked={value === true} aria-describedby={hint}>
        {label}
      </Choice>
      <p id={hint}>{description}</p>
    </div>
  )
}
