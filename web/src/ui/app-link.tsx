/** A link that works with and without the router. Login needs it, because it renders before the router is loaded. */
import type { AnchorHTMLAttributes, MouseEvent } from 'react'

interface Navigation {
  goTo: (path: string) => Promise<void>
  hasPage: (path: string) => Promise<boolean>
}

let navigation: Navigation | undefined

/** Sets how the app navigates. Called once by the app. */
export function setNavigation(next: Navigation): void {
  navigation = next
}

/** Navigates to `path`. */
export async function goTo(path: string): Promise<void> {
  await navigation?.goTo(path)
}

/** Resolves with whether there is a page at the current address, other than the fallback page (§2). */
export async function hasPageHere(): Promise<boolean> {
  return (await navigation?.hasPage(location.pathname)) ?? false
}

/** Whether the browser follows the link by itself: a new tab, a new window, a download. */
export function isForBrowser(event: MouseEvent): boolean {
  return event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey
}

export function AppLink({ href, children, ...props }: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) {
  const handleClick = (event: MouseEvent) => {
    if (isForBrowser(event)) return
    event.preventDefault()
    void goTo(href)
  }
  return (
    <a {...props} href={href} onClick={handleClick}>
      {children}
    </a>
  )
}
