/** An icon before a row's name, for a fact that no column shows. It has no text, because §2 lists the texts of a row. */
import type { Icon } from '@tabler/icons-react'
import classes from './row-mark.module.css'

interface RowMarkProps {
  icon: Icon
  label: string
  /** Shows that something is wrong with the row. */
  isWarning?: boolean
}

export function RowMark({ icon: Icon, label, isWarning = false }: RowMarkProps) {
  return (
    <Icon
      size={18}
      stroke={1.75}
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an <img> would not take the colour of the text
      role="img"
      aria-label={label}
      title={label}
      className={classes['mark']}
      data-warning={isWarning || undefined}
    />
  )
}
