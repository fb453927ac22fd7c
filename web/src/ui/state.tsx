/** A state as a dot and its word in a quiet pill. */
import type { ComponentProps } from 'react'
import classes from './state.module.css'

interface StateProps {
  is: 'good' | 'bad' | 'busy' | 'quiet'
  children: string
}

export function State({ is, children }: StateProps) {
  return (
    <span className={classes['state']} data-is={is}>
      {children}
    </span>
  )
}

/** A state that a press of it changes. */
export function StateButton({ is, ...button }: StateProps & Omit<ComponentProps<'button'>, 'type' | 'className' | 'children'>) {
  return <button type="button" className={`mantine-focus-auto ${classes['state']}`} data-is={is} {...button} />
}
