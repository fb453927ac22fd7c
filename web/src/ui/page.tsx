/** The layout of a page (heading, document title, focus after a navigation, buttons), and the message for content that failed to load. */
import { isolated } from '@arcade/contract/text'
import { Button } from '@mantine/core'
import { type ReactNode, type RefObject, useEffect, useId, useRef } from 'react'
import { isDialogOpen } from './dialog-layer.ts'
import classes from './page.module.css'

/** On the first page of a visit the focus stays where the browser put it. */
let isFirstPage = true

/** Sets the document title, and focuses the heading, which needs `tabIndex={-1}`. */
export function usePageHeading(title: string): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${isolated(title)} · Arcade Console`
    // Not while a dialog is open, such as the palette over a page that is still loading.
    if (!isFirstPage && !isDialogOpen()) heading.current?.focus({ preventScroll: true })
    isFirstPage = false
  }, [title])
  return heading
}

interface PageProps {
  title: string
  /** Buttons beside the heading. */
  actions?: ReactNode
  /** Limits the width, for comfortable reading: of one column, of a form with two, or of a form with something beside it. */
  narrow?: boolean | 'two-columns' | 'with-aside'
  /** The page is a list, which uses the whole width of the window and, on a phone, leaves most of the first screen to its rows. */
  isList?: boolean
  children: ReactNode
}

export function Page({ title, actions, narrow = false, isList = false, children }: PageProps) {
  const heading = usePageHeading(title)
  return (
    <div className={classes['page']} data-narrow={narrow || undefined} data-list={isList || undefined}>
      <header className={classes['header']}>
        <h1 ref={heading} tabIndex={-1} className={classes['title']}>
          {title}
        </h1>
        {actions && <div className={classes['actions']}>{actions}</div>}
      </header>
      {children}
    </div>
  )
}

interface PanelProps {
  title?: string
  /** The id of an element that names the panel instead of `title`. */
  labelledBy?: string
  children: ReactNode
}

export function Panel({ title, labelledBy, children }: PanelProps) {
  const id = useId()
  return (
    <section className={classes['panel']} aria-labelledby={title === undefined ? labelledBy : id}>
      {title !== undefined && (
        <h2 id={id} className={classes['subtitle']}>
          {title}
        </h2>
      )}
      {children}
    </section>
  )
}

/** An introduction at the top of a panel. */
export function PanelText({ children }: { children: ReactNode }) {
  return <p className={classes['text']}>{children}</p>
}

interface ProblemProps {
  message: string
  onRetry?: () => void
  /** Buttons besides Retry. */
  children?: ReactNode
}

/** Shown instead of content that could not be loaded. */
export function Problem({ message, onRetry, children }: ProblemProps) {
  return (
    <div className={classes['problem']} role="alert">
      <p>{message}</p>
      {onRetry && (
        <Button variant="default" onClick={onRetry}>
          Retry
        </Button>
      )}
      {children}
    </div>
  )
}
