/** Facts about pages that both the server and the web app need: the server writes the beginning of each page (§2). */
import type { Needs } from '#src/team/permissions.ts'

/** The paths of the signed-out area besides Login (§2). At any other path, a signed-out visitor sees Login. */
export const SIGNED_OUT_PAGE = /^\/(register|set-password|invitation|forgotten-password|confirm-email|auth\/oidc)\/?$/i

/** The dashboard's heading. Users who are not admins see a placeholder below it. */
export function dashboardTitle(userType: string): string {
  return userType === 'admin' ? 'Admin Dashboard' : 'User Dashboard'
}

/** The permission that each management page needs (§6), by its path. A page that is missing here opens for nobody. */
export const pageNeeds: Readonly<Record<string, Needs>> = {
  '/account': 'account.own',
  '/add-user': 'users.write',
  '/annoucement-form': 'announcements.write', // sic, §2
  '/annoucement-form-update': 'announcements.write',
  '/annoucements': 'announcements.read',
  '/audit': 'audit.read',
  '/backups': 'backups.manage',
  '/bot-tokens': 'tokens.manage',
  '/broadcasts': 'broadcasts.read',
  '/broadcasts/new': 'broadcasts.write',
  '/calendar': ['tasks.read', 'announcements.read'],
  '/daily-tasks': 'tasks.read',
  '/daily-tasks-form': 'tasks.write',
  '/daily-tasks-form-update': 'tasks.write',
  '/history': 'history.read',
  '/manage-telegram-users': 'players.read',
  '/manage-users': 'users.read',
  '/roles': 'users.roles',
  '/social-tasks': 'tasks.read',
  '/social-tasks-form': 'tasks.write',
  '/social-tasks-form-update': 'tasks.write',
  '/trash': 'trash.manage',
  '/update-user': 'users.write',
  '/webhooks': 'webhooks.manage',
}

/** Returns what the management page at an address needs, with or without parameters; undefined if there is no such page. */
export function neededAt(address: string): Needs | undefined {
  const [path = ''] = address.toLowerCase().split(/[?#]/)
  const matches = Object.keys(pageNeeds).filter((page) => path === page || path.startsWith(`${page}/`))
  return pageNeeds[matches.toSorted((one, other) => other.length - one.length)[0] ?? '']
}
