/** A button that opens a pane of choices, with the number of those in use. */
import { type ReactNode, useState } from 'react'
import { Pane } from '#src/ui/pane.tsx'
import classes from './list-toolbar.module.css'

interface ChoicesProps {
  label: string
  icon: ReactNode
  /** The number of choices in use. */
  count?: number
  className?: string | undefined
  children: ReactNode
}

export function Choices({ label, icon, count = 0, className, children }: ChoicesProps) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Pane
      isOpen={isOpen}
      onChange={setIsOpen}
      title={label}
      className={className}
      button={{
        leftSection: icon,
        children: (
          <>
            <span className={classes['label']}>{label}</span>
            {count > 0 && <span className={classes['count']}>{count}</span>}
          </>
        ),
      }}
    >
      {children}
    </Pane>
  )
}
