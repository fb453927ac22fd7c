/** Loads the component of a route when it is first shown. */
import { lazyRouteComponent } from '@tanstack/react-router'
import { client } from '#src/client/client.ts'

/**
 * If a script or style sheet fails to load, the router reloads the document once, because the server may have been updated. Without a
 * connection, a reload would show the browser's error page, so the call below throws first and the app shows `PageProblem` instead.
 */
export const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(
    () =>
      load().catch(async (cause: unknown) => {
        await client.auth.session()
        throw cause instanceof Error && isMissingStyle(cause)
          ? new Error(`${MISSING_MODULE}: ${cause.message}`, { cause })
          : cause
      }),
    name,
  )

/**
 * Reloads the document for a file that failed to load outside of the pages, under the same conditions, and once for each file as the router
 * does. Resolves with whether it reloads.
 */
export async function reloadForMissing(cause: unknown): Promise<boolean> {
  if (!(cause instanceof Error) || !(isMissingStyle(cause) || cause.message.startsWith(MISSING_MODULE))) return false
  const mark = `arcade-reload ${cause.message}`
  try {
    await client.auth.session()
    if (sessionStorage.getItem(mark) !== null) return false
    sessionStorage.setItem(mark, '1')
  } catch {
    return false // the server cannot be reached, or the browser forbids storage
  }
  location.reload()
  return true
}

/** How the message of a missing script begins, by which the router recognises it. */
const MISSING_MODULE = 'Failed to fetch dynamically imported module'

/** Whether Vite's loader could not load a style sheet. */
function isMissingStyle({ message }: Error): boolean {
  return message.startsWith('Unable to preload CSS')
}
