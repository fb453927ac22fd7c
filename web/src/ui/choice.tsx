/** A checkbox with its label, for panes of choices. */
import type { ComponentProps } from 'react'
import classes from './choice.module.css'

export function Choice({ children, ...box }: Omit<ComponentProps<'input'>, 'type' | 'className'>) {
  return (
    <label className={classes['choice']}>
      <input type="checkbox" {...box} />
      {children}
    </label>
  )
}
