/** A list of a few items without a table: each with a name, facts about it and buttons. */
import type { ReactNode } from 'react'
import classes from './item-list.module.css'

export function ItemList({ children }: { children: ReactNode }) {
  return <ul className={classes['list']}>{children}</ul>
}

interface ItemProps {
  name: string
  /** A short label beside the name, such as a state. */
  badge?: string | false
  /** Usually `Facts`. */
  children: ReactNode
  buttons?: ReactNode
  /** Content that opens below the buttons. */
  details?: ReactNode
}

export function Item({ name, badge, children, buttons, details }: ItemProps) {
  return (
    <li className={classes['item']}>
      <div className={classes['text']}>
        <p className={classes['name']}>
          {name} {badge && <span className={classes['badge']}>{badge}</span>}
        </p>
        {children}
      </div>
      {buttons && <div className={classes['buttons']}>{buttons}</div>}
      {details && <div className={classes['details']}>{details}</div>}
    </li>
  )
}

/** One line of facts about an item. */
export function Facts({ children }: { children: ReactNode }) {
  return <p className={classes['facts']}>{children}</p>
}
