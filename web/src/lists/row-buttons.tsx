/**
 * What acts on a row of a table: its name opens it, and buttons (§2: Update, Edit, Delete), which are icons to the eye, because every row
 * has them, with the specified text as their names.
 */
import { Button } from '@mantine/core'
import { IconCopyPlus, IconPencil, IconTrash } from '@tabler/icons-react'
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, MouseEvent, ReactNode, Ref } from 'react'
import { AnchorButton, type AnchorButtonProps } from '#src/ui/link-button.tsx'
import classes from './row-buttons.module.css'
import { opensRow } from '#src/ui/table-rows.ts'

/** Opens a row by its name. */
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

/** Leads to the form of a row. */
export const EditButton = createLink(({ label, ...props }: RowLinkProps & { label: 'Update' | 'Edit' }) => (
  <AnchorButton {...props} {...look} title={label}>
    <Named label={label}>
      <IconPencil {...icon} />
    </Named>
  </AnchorButton>
))

/** Leads from a row to an add form that begins as a copy of it. It has no text, because §2 lists the texts of a row. */
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
