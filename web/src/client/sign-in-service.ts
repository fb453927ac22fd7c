/** Leaving for the sign-in service, and what this tab keeps until the browser comes back to `/auth/oidc`. */
import { inTab } from './in-tab.ts'

/** What the service adds to the address of that page. */
export interface ServiceAnswer {
  code?: string | undefined
  state?: string | undefined
  /** The issuer, from services that name themselves. */
  iss?: string | undefined
  /** Why there is no code, such as `access_denied`. */
  error?: string | undefined
}

/** The sessionStorage key for the page that a visitor asked for before leaving. */
const ASKED_PAGE = 'arcade-asked-page'

/**
 * Leaves for the sign-in service. Resolves if the person comes back by the browser's Back button.
 * @param askedPage the page to show after signing in; undefined for the dashboard
 */
export async function leaveFor({ address }: { address: string }, askedPage?: string): Promise<void> {
  // Where the browser forbids it, the dashboard is shown then.
  inTab((storage) => (askedPage === undefined ? storage.removeItem(ASKED_PAGE) : storage.setItem(ASKED_PAGE, askedPage)))
  location.assign(address)
  await new Promise<void>((resolve) => {
    addEventListener('pageshow', () => resolve(), { once: true })
  })
}

/** Returns the page that the visitor asked for before leaving, and forgets it. */
export function takeAskedPage(): string | undefined {
  const page = inTab((storage) => storage.getItem(ASKED_PAGE)) ?? undefined
  inTab((storage) => storage.removeItem(ASKED_PAGE))
  return page
}

let refusal: string | undefined

/** Notes why the sign-in service did not sign a visitor in, for Login to show until somebody signs in. */
export function noteRefusal(message: string | undefined): void {
  refusal = message
}

export function refusalOfService(): string | undefined {
  return refusal
}
