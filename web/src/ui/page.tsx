/** The frame of a page (heading, document title, focus after a navigation, buttons), and what stands in place of content that failed to load. */
import { Button } from '@mantine/core'
import { type ReactNode, type RefObject, useEffect, useId, useRef } from 'react'
import classes from './page.module.css'

/** The focus stays where the browser put it on the first page of a visit. */
let isFirstPage = true

/** Names the document after the page and moves the focus to the heading, which needs `tabIndex={-1}`. */
export function usePageHeading(title: string): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Arcade Console`
    if (!isFirstPage) heading.current?.focus({ preventScroll: true })
    isFirstPage = false
  }, [title])
  return heading
}

interface PageProps {
  title: string
  /** Buttons beside the heading. */
  actions?: ReactNode
  /** Limits the width, so that forms and texts are comfortable to read; `with-aside` leaves room for half as much beside them. */
  narrow?: boolean | 'with-aside'
  children: ReactNode
}

export function Page({ title, actions, narrow = false, children }: PageProps) {
  const heading = usePageHeading(title)
  return (
    <div className={classes['page']} data-narrow={narrow || undefined}>
      <header className={classes['header']} data-page-head>
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
  /** The id of what names it instead. */
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

/** What a panel is about, above what it holds. */
export function PanelText({ children }: { children: ReactNode }) {
  return <p className={classes['text']}>{children}</p>
}

interface ProblemProps {
  message: string
  onRetry?: () => void
  /** What one can do besides trying again. */
  children?: ReactNode
}

/** Stands in place of content that could not be loaded. */
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
