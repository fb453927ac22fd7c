/** Facts about pages that both the server and the web app need: the server writes the beginning of each page (§2). */

/** The paths of the signed-out area besides Login (§2). At any other path, a signed-out visitor sees Login. */
export const SIGNED_OUT_PAGE = /^\/(register|set-password)\/?$/i

/** The dashboard's heading. Users who are not admins see a placeholder below it. */
export function dashboardTitle(userType: string): string {
  return userType === 'admin' ? 'Admin Dashboard' : 'User Dashboard'
}
