/**
 * The controls of a table row: its name as a link, and the buttons of §2 (Update, Edit, Delete). The buttons are icons, because every row
 * has them; the specified text is their accessible name.
 */
import { IconCopyPlus, IconPencil, IconTrash } from '@tabler/icons-react'
import { type HistoryState, useRouter } from '@tanstack/react-router'
import type { MouseEvent, ReactNode } from 'react'
import { isForBrowser } from '#src/ui/app-link.tsx'
import { pressWithSpace } from '#src/ui/link-button.tsx'
import classes from './row-buttons.module.css'
import { markedText, namedText } from '#src/ui/marked-text.tsx'
import { opensRow } from '#src/ui/table-rows.ts'

interface LinkTarget {
  /** An address of the console. */
  href: string
  /** Returns the state of the new entry of the browser's history. */
  state?: (now: HistoryState & { __TSR_index: number }) => HistoryState
}

/**
 * The props of a link within a row. The router's own links follow the address of the page and build theirs anew with each change of it,
 * which takes a fifth of a second for the hundred links of a list on a slow machine.
 */
function useLinkProps({ href, state }: LinkTarget) {
  const router = useRouter()
  const handleClick = (event: MouseEvent) => {
    if (isForBrowser(event)) return
    event.preventDefault()
    void router.navigate({ href, ...(state && { state: state(router.state.location.state) }) })
  }
  return { href, onClick: handleClick }
}

interface CellLinkProps extends LinkTarget {
  title?: string
  children: ReactNode
}

/** A link in a cell. */
export function CellLink({ href, state, children, ...props }: CellLinkProps) {
  return (
    <a {...useLinkProps({ href, ...(state && { state }) })} {...props} className={classes['name']}>
      {children}
    </a>
  )
}

/** The row's name as a link that opens the row. */
export function RowLink({ children, ...props }: CellLinkProps) {
  const isText = typeof children === 'string'
  return (
    <CellLink {...opensRow} {...(isText && { title: namedText(children) })} {...props}>
      {isText ? markedText(children) : children}
    </CellLink>
  )
}

/** Plain elements with Mantine's classes for focus and press: its Button takes several times as long, and a list has a hundred of these. */
const look = `mantine-focus-auto mantine-active ${classes['act']}`
const icon = { size: 18, stroke: 1.75, 'aria-hidden': true } as const

interface ActLinkProps {
  href: string
  title: string
  'aria-label'?: string
  children: ReactNode
}

function ActLink({ href, children, ...props }: ActLinkProps) {
  return (
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- the spec's button, yet with an address
    <a {...useLinkProps({ href })} {...props} role="button" tabIndex={0} className={look} onKeyDown={pressWithSpace}>
      {children}
    </a>
  )
}

interface EditButtonProps {
  href: string
  label: 'Update' | 'Edit'
  /** Enter on the row presses it, because the row has no name that is a link. */
  isOpener?: boolean
}

/** Opens the form of a row. */
export function EditButton({ href, label, isOpener = false }: EditButtonProps) {
  return (
    <ActLink href={href} title={label} {...(isOpener && opensRow)}>
      <IconPencil {...icon} />
      <span className="app-sr-only">{label}</span>
    </ActLink>
  )
}

/** Opens an add form prefilled with a copy of the row. An icon without text, because §2 lists the texts of a row. */
export function DuplicateButton({ href }: { href: string }) {
  return (
    <ActLink href={href} aria-label="Duplicate" title="Duplicate">
      <IconCopyPlus {...icon} />
    </ActLink>
  )
}

export function DeleteButton({ onClick }: { onClick: (event: MouseEvent<HTMLElement>) => void }) {
  return (
    <button type="button" className={`${look} ${classes['delete']}`} title="Delete" onClick={onClick}>
      <IconTrash {...icon} />
      <span className="app-sr-only">Delete</span>
    </button>
  )
}
