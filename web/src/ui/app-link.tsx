/** The way to another page from a screen that is shown both with and without the router: Login, which is there before the router is. */
import type { AnchorHTMLAttributes, MouseEvent } from 'react'

type Go = (path: string) => Promise<void>

let go: Go | undefined

/** To be called by the app: how it shows another page. */
export function setGo(next: Go): void {
  go = next
}

/** Shows the page of this address. */
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
