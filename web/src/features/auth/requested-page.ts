/** The page whose address a signed-out visitor opened. Login shows there, and keeps the address while the visitor looks at Register. */

/** The addresses that request no page in particular: Login's own, and the logo's. */
const OWN_ADDRESSES = new Set(['/', '/auth/log-in'])

let requested: string | undefined

/** Whether the current address requests a page. */
export function isPageRequested(): boolean {
  return !OWN_ADDRESSES.has(location.pathname)
}

/** Call this on Login, before it is left for Register. */
export function rememberRequestedPage(): void {
  requested = isPageRequested() ? location.pathname + location.search : undefined
}

/** Returns the address at which Login keeps the page that was requested. */
export function loginAddress(): string {
  return requested ?? '/auth/log-in'
}
