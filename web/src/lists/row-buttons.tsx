/**
 * The controls of a table row: its name as a link, and the buttons of §2 (Update, Edit, Delete). The buttons are icons, because every row
 * has them; the specified text is their accessible name.
 */
import { IconCopyPlus, IconPencil, IconTrash } from '@tabler/icons-react'
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, MouseEvent, Ref } from 'react'
import { pressWithSpace } from '#src/ui/link-button.tsx'
import classes from './row-buttons.module.css'
import { opensRow } from '#src/ui/table-rows.ts'

/** The row's name as a link that opens the row. */
export const RowLink = createLink(
  ({ children, ...props }: AnchorHTMLAttributes<HTMLAnchorElement> & { ref?: Ref<HTMLAnchorElement> }) => (
    <a {...props} {...opensRow} className={classes['name']} title={typeof children === 'string' ? children : undefined}>
      {children}
    </a>
  ),
)

/** Plain elements with Mantine's classes for focus and press: its Button takes several times as long, and a list has a hundred of these. */
const look = `mantine-focus-auto mantine-active ${classes['act']}`
const icon = { size: 18, stroke: 1.75, 'aria-hidden': true } as const

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { ref?: Ref<HTMLAnchorElement> }

function ActLink({ children, ...props }: LinkProps) {
  return (
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- the spec's button, yet with an address
    <a {...props} role="button" tabIndex={0} className={look} onKeyDown={pressWithSpace}>
      {children}
    </a>
  )
}

/** Opens the form of a row. */
export const EditButton = createLink(({ label, ...props }: Omit<LinkProps, 'children'> & { label: 'Update' | 'Edit' }) => (
  <ActLink {...props} title={label}>
    <IconPencil {...icon} />
    <span className="app-sr-only">{label}</span>
  </ActLink>
))

/** Opens an add form prefilled with a copy of the row. An icon without text, because §2 lists the texts of a row. */
export const DuplicateButton = createLink((props: Omit<LinkProps, 'children'>) => (
  <ActLink {...props} aria-label="Duplicate" title="Duplicate">
    <IconCopyPlus {...icon} />
  </ActLink>
))

export function DeleteButton({ onClick }: { onClick: (event: MouseEvent<HTMLElement>) => void }) {
  return (
    <button type="button" className={`${look} ${classes['delete']}`} title="Delete" onClick={onClick}>
      <IconTrash {...icon} />
      <span className="app-sr-only">Delete</span>
    </button>
  )
}
