/** The signed-out area (§2): a split view with an image, a logo link to `/` and a form. Login and signup mirror each other (§4). */
import type { ReactNode } from 'react'
import { AppLink } from '#src/ui/app-link.tsx'
import { Logo } from '#src/ui/logo.tsx'
import { usePageHeading } from '#src/ui/page.tsx'
import classes from './auth-layout.module.css'

interface AuthLayoutProps {
  mode: 'login' | 'signup'
  title: string
  text?: string
  /** Shown between the heading and the form. */
  notice?: ReactNode
  children: ReactNode
  /** The link to the other form. */
  footer: ReactNode
}

export function AuthLayout({ mode, title, text, notice, children, footer }: AuthLayoutProps) {
  const heading = usePageHeading(title)
  return (
    <div className={classes['split']} data-mode={mode}>
      <header className={classes['picture']}>
        <AppLink href="/" aria-label="Arcade Console" className={classes['home']}>
          <Logo />
        </AppLink>
      </header>
      <main className={classes['main']}>
        <div className={classes['column']}>
          <h1 ref={heading} tabIndex={-1} className={classes['title']}>
            {title}
          </h1>
          {text && <p className={classes['text']}>{text}</p>}
          {notice}
          {children}
          <p className={classes['footer']}>{footer}</p>
        </div>
      </main>
    </div>
  )
}

/** An error below the form. Its live region is rendered before there is a text, so that screen readers announce the text. */
export function FormNotice({ children }: { children: ReactNode }) {
  return (
    <div className={classes['notice']} aria-live="polite">
      {children}
    </div>
  )
}
