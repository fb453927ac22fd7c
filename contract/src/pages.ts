/** What of the pages both the server and the web app know: the server writes the beginning of each (§2). */

/** The rest of the signed-out area (§2); every other path is Login to somebody who is signed out. */
export const SIGNED_OUT_PAGE = /^\/(register|set-password)\/?$/i

/** The dashboard's heading. Everybody who is no admin sees a placeholder under it. */
export function dashboardTitle(userType: string): string {
  return userType === 'admin' ? 'Admin Dashboard' : 'User Dashboard'
}
