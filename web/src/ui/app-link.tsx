/** A link that works with and without the router. Login needs it, because it renders before the router is loaded. */
import type { AnchorHTMLAttributes, MouseEvent } from 'react'

type Go = (path: string) => Promise<void>

let go: Go | undefined

/** Sets how the app navigates. Called once by the app. */
export function setGo(next: Go): void {
  go = next
}

/** Navigates to `path`. */
export async function goTo(path: string): Promise<void> {
  await go?.(path)
}

export function AppLink({ href, children, ...props }: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) {
  const handleClick = (event: MouseEvent) => {
    const isForBrowser = event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey
    if (isForBrowser) return // a new tab, a download
    event.preventDefault()
    void goTo(href)
  }
  return (
    <a {...props} href={href} onClick={handleClick}>
      {children}
    </a>
  )
}
