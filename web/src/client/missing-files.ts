/** Files of the web app that failed to load: after an update of the server they are gone, and a reload brings the new ones. */
import { client } from './client.ts'

/** How the message of a missing script begins, by which the router recognises it. */
export const MISSING_MODULE = 'Failed to fetch dynamically imported module'

/** Whether Vite's loader could not load a style sheet. */
export function isMissingStyle({ message }: Error): boolean {
  return message.startsWith('Unable to preload CSS')
}

/**
 * Reloads the document for a file that failed to load outside of the pages, if the server can be reached, and once for each file as the router
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
