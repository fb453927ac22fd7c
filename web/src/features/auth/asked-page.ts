/** The page whose address a signed-out visitor opened. Login shows there, and keeps the address while the visitor looks at Register. */

/** The addresses that ask for no page in particular: Login's own, and the logo's. */
const OWN_ADDRESSES = new Set(['/', '/auth/log-in'])

let asked: string | undefined

/** Whether the current address asks for a page. */
export function asksForPage(): boolean {
  return !OWN_ADDRESSES.has(location.pathname)
}

/** Call this on Login, before it is left for Register. */
export function noteAskedPage(): void {
  asked = asksForPage() ? location.pathname + location.search : undefined
}

/** Returns the address at which Login keeps the page that was asked for. */
export function loginAddress(): string {
  return asked ?? '/auth/log-in'
}
