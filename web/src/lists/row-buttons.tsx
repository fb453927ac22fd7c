/**
 * The controls of a table row: its name as a link, and the buttons of §2 (Update, Edit, Delete). The buttons are icons, because every row
 * has them; the specified text is their accessible name.
 */
import { Button } from '@mantine/core'
import { IconCopyPlus, IconPencil, IconTrash } from '@tabler/icons-react'
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, MouseEvent, ReactNode, Ref } from 'react'
import { AnchorButton, type AnchorButtonProps } from '#src/ui/link-button.tsx'
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

const look = { variant: 'default', className: classes['act'] ?? '' } as const
const icon = { size: 18, stroke: 1.75, 'aria-hidden': true } as const

type RowLinkProps = Omit<AnchorButtonProps, 'children'>

/** Opens the form of a row. */
export const EditButton = createLink(({ label, ...props }: RowLinkProps & { label: 'Update' | 'Edit' }) => (
  <AnchorButton {...props} {...look} title={label}>
    <Named label={label}>
      <IconPencil {...icon} />
    </Named>
  </AnchorButton>
))

/** Opens an add form prefilled with a copy of the row. An icon without text, because §2 lists the texts of a row. */
export const DuplicateButton = createLink((props: RowLinkProps) => (
  <AnchorButton {...props} {...look} aria-label="Duplicate" title="Duplicate">
    <IconCopyPlus {...icon} />
  </AnchorButton>
))

export function DeleteButton({ onClick }: { onClick: (event: MouseEvent<HTMLElement>) => void }) {
  return (
    <Button {...look} className={`${classes['act']} ${classes['delete']}`} title="Delete" onClick={onClick}>
      <Named label="Delete">
        <IconTrash {...icon} />
      </Named>
    </Button>
  )
}

function Named({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      {children}
      <span className="app-sr-only">{label}</span>
    </>
  )
}
