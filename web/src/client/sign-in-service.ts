/** Leaving for the sign-in service, and what this tab keeps until the browser comes back to `/auth/oidc`. */
import { withSessionStorage } from './session-storage.ts'

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
const REQUESTED_PAGE = 'arcade-asked-page'

/**
 * Leaves for the sign-in service. Resolves if the person comes back by the browser's Back button.
 * @param requestedPage the page to show after signing in; undefined for the dashboard
 */
export async function leaveFor({ address }: { address: string }, requestedPage?: string): Promise<void> {
  // Where the browser forbids it, the dashboard is shown then.
  withSessionStorage((storage) =>
    requestedPage === undefined ? storage.removeItem(REQUESTED_PAGE) : storage.setItem(REQUESTED_PAGE, requestedPage),
  )
  location.assign(address)
  await new Promise<void>((resolve) => {
    addEventListener('pageshow', () => resolve(), { once: true })
  })
}

/** Returns the page that the visitor asked for before leaving, and forgets it. */
export function takeRequestedPage(): string | undefined {
  const page = withSessionStorage((storage) => storage.getItem(REQUESTED_PAGE)) ?? undefined
  withSessionStorage((storage) => storage.removeItem(REQUESTED_PAGE))
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
