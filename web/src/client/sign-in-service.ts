/** The ways to the sign-in service and back: the browser leaves the console, and comes back to `/auth/oidc`. */

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
  try {
    if (askedPage === undefined) sessionStorage.removeItem(ASKED_PAGE)
    else sessionStorage.setItem(ASKED_PAGE, askedPage)
  } catch {
    // The browser forbids it: the dashboard is shown then.
  }
  location.assign(address)
  await new Promise<void>((resolve) => {
    addEventListener('pageshow', () => resolve(), { once: true })
  })
}

/** Returns the page that the visitor asked for before leaving, and forgets it. */
export function takeAskedPage(): string | undefined {
  try {
    const page = sessionStorage.getItem(ASKED_PAGE) ?? undefined
    sessionStorage.removeItem(ASKED_PAGE)
    return page
  } catch {
    return undefined
  }
}

let refusal: string | undefined

/** Notes why the sign-in service did not sign a visitor in, for Login to show until somebody signs in. */
export function noteRefusal(message: string | undefined): void {
  refusal = message
}

export function refusalOfService(): string | undefined {
  return refusal
}
