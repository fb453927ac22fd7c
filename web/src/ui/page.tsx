/** A page's frame: main heading, document title, focus after a navigation, its buttons; and what stands in for missing content. */
import { Button } from '@mantine/core'
import { type ReactNode, type RefObject, useEffect, useRef } from 'react'
import classes from './page.module.css'

/** The first page of a visit leaves the focus where the browser put it. */
let isFirstPage = true

/** Names the document after the page and moves the focus to its heading. The heading needs `tabIndex={-1}`. */
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
  /** Buttons of the whole page, beside its heading. */
  actions?: ReactNode
  /** A form or a text: not wider than is comfortable to read. `with-aside`: and something of about half its width beside it. */
  narrow?: boolean | 'with-aside'
  children: ReactNode
}

export function Page({ title, actions, narrow = false, children }: PageProps) {
  const heading = usePageHeading(title)
  return (
    <div className={classes['page']} data-narrow={narrow || undefined}>
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

/** A raised surface on the page. */
export function Panel({ children, labelledBy }: { children: ReactNode; labelledBy?: string }) {
  return (
    <section className={classes['panel']} aria-labelledby={labelledBy}>
      {children}
    </section>
  )
}

interface ProblemProps {
  message: string
  onRetry?: () => void
  /** What else can be done about it. */
  children?: ReactNode
}

/** In place of content that could not be loaded. */
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
