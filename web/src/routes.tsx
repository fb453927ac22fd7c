/** The routes of all pages (§2): path, access (§6) and lazily loaded component. */
import { createRootRoute, createRoute, createRouter, notFound, Outlet, redirect, RouterProvider } from '@tanstack/react-router'
import { announcementList } from '@arcade/contract/announcements/fields'
import { auditList } from '@arcade/contract/audit/fields'
import { playerList } from '@arcade/contract/players/fields'
import { taskLists } from '@arcade/contract/tasks/fields'
import { trashList } from '@arcade/contract/trash/fields'
import { userList } from '@arcade/contract/users/fields'
import {
  addAddress,
  addressReader,
  calendarAddress,
  broadcastAddress,
  dashboardAddress,
  decodableAddress,
  editAddress,
  historyAddress,
  linkAddress,
  newBroadcastAddress,
  pageAddress,
  serviceAnswer,
  setupAddress,
} from './addresses.ts'
import { lazyPage } from './lazy-page.ts'
import { parseSearch, stringifySearch } from '#src/lists/search-params.ts'
import { currentUser, mayOpen } from './session.tsx'
import { PageProblem } from '#src/shell/page-problem.tsx'

const LoginPage = lazyPage(() => import('#src/features/auth/login-page.tsx'), 'LoginPage')

const root = createRootRoute({
  // What could not be read leaves the address, and stays known until the address changes.
  beforeLoad: ({ matches }) => {
    const { unread, ...search }: { unread?: string | undefined } = matches.at(-1)?.search ?? {}
    if (unread !== undefined) throw redirect({ to: '.', search, state: (now) => ({ ...now, unread }), replace: true })
  },
  component: Outlet,
  // A signed-out visitor sees Login at every path outside the signed-out area (§2).
  notFoundComponent: () => <LoginPage />,
})

const auth = createRoute({
  getParentRoute: () => root,
  id: 'auth',
  beforeLoad: ({ location }) => {
    // Signed-in users may open a setup or password link too: its page says what the link does, or why it does nothing.
    const hasLink = 'setup' in location.search || 'link' in location.search
    if (currentUser() && !hasLink) throw redirect({ to: '/admin', replace: true })
  },
})

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  beforeLoad: async ({ location }) => {
    // What the person may do without a second factor is on one page (SECOND_FACTOR=admins).
    if (currentUser()?.lacksSecondFactor && location.pathname !== '/account') throw redirect({ to: '/account', replace: true })
    if (currentUser()) return
    await LoginPage.preload?.()
    throw notFound()
  },
  component: lazyPage(() => import('#src/shell/shell.tsx'), 'Shell'),
})

/** Routes for those whose role has the permission of the page (`pageNeeds`); anybody else is redirected to `/` (§6). */
const management = createRoute({
  getParentRoute: () => shell,
  id: 'management',
  beforeLoad: ({ location }) => {
    if (!mayOpen(currentUser(), location.pathname)) throw redirect({ to: '/', replace: true })
  },
})

const dashboard = lazyPage(() => import('#src/features/dashboard/dashboard-page.tsx'), 'DashboardPage')

const fallback = createRoute({
  getParentRoute: () => shell,
  path: '$',
  component: lazyPage(() => import('#src/shell/fallback-page.tsx'), 'FallbackPage'),
})

const routeTree = root.addChildren([
  auth.addChildren([
    createRoute({
      getParentRoute: () => auth,
      path: '/auth/log-in',
      component: LoginPage,
    }),
    createRoute({
      getParentRoute: () => auth,
      path: '/register',
      validateSearch: setupAddress,
      component: lazyPage(() => import('#src/features/auth/register-page.tsx'), 'RegisterPage'),
    }),
    createRoute({
      getParentRoute: () => auth,
      path: '/set-password',
      validateSearch: linkAddress,
      component: lazyPage(() => import('#src/features/auth/set-password-page.tsx'), 'SetPasswordPage'),
    }),
    createRoute({
      getParentRoute: () => auth,
      path: '/invitation',
      validateSearch: linkAddress,
      component: lazyPage(() => import('#src/features/auth/invitation-page.tsx'), 'InvitationPage'),
    }),
    createRoute({
      getParentRoute: () => auth,
      path: '/confirm-email',
      validateSearch: linkAddress,
      component: lazyPage(() => import('#src/features/auth/confirm-email-page.tsx'), 'ConfirmEmailPage'),
    }),
    createRoute({
      getParentRoute: () => auth,
      path: '/forgotten-password',
      component: lazyPage(() => import('#src/features/auth/forgotten-password-page.tsx'), 'ForgottenPasswordPage'),
    }),
  ]),
  // For visitors who sign in and for people who link an account: the state says which (oidc-page.tsx).
  createRoute({
    getParentRoute: () => root,
    path: '/auth/oidc',
    validateSearch: serviceAnswer,
    component: lazyPage(() => import('#src/features/auth/oidc-page.tsx'), 'OidcPage'),
  }),
  shell.addChildren([
    createRoute({ getParentRoute: () => shell, path: '/', validateSearch: dashboardAddress, component: dashboard }),
    createRoute({ getParentRoute: () => shell, path: '/admin', validateSearch: dashboardAddress, component: dashboard }),
    management.addChildren([
      createRoute({
        getParentRoute: () => management,
        path: '/account',
        component: lazyPage(() => import('#src/features/account/account-page.tsx'), 'AccountPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/audit',
        validateSearch: addressReader(auditList),
        component: lazyPage(() => import('#src/features/audit/audit-page.tsx'), 'AuditPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/roles',
        component: lazyPage(() => import('#src/features/roles/roles-page.tsx'), 'RolesPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/backups',
        component: lazyPage(() => import('#src/features/backups/backups-page.tsx'), 'BackupsPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/bot-tokens',
        component: lazyPage(() => import('#src/features/bot-tokens/bot-tokens-page.tsx'), 'BotTokensPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/webhooks',
        component: lazyPage(() => import('#src/features/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/trash',
        validateSearch: addressReader(trashList),
        component: lazyPage(() => import('#src/features/trash/trash-page.tsx'), 'TrashPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/manage-users',
        validateSearch: addressReader(userList),
        component: lazyPage(() => import('#src/features/users/manage-users-page.tsx'), 'ManageUsersPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/update-user/$userId/$fname/$lname/$email',
        component: lazyPage(() => import('#src/features/users/update-user-page.tsx'), 'UpdateUserPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/add-user',
        component: lazyPage(() => import('#src/features/users/add-user-page.tsx'), 'AddUserPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/social-tasks',
        validateSearch: addressReader(taskLists.social),
        component: lazyPage(() => import('#src/features/tasks/tasks-page.tsx'), 'SocialTasksPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/social-tasks-form',
        validateSearch: addAddress,
        component: lazyPage(() => import('#src/features/tasks/task-form-page.tsx'), 'AddSocialTaskPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/social-tasks-form-update',
        validateSearch: editAddress,
        component: lazyPage(() => import('#src/features/tasks/task-form-page.tsx'), 'UpdateSocialTaskPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/daily-tasks',
        validateSearch: addressReader(taskLists.daily),
        component: lazyPage(() => import('#src/features/tasks/tasks-page.tsx'), 'DailyTasksPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/daily-tasks-form',
        validateSearch: addAddress,
        component: lazyPage(() => import('#src/features/tasks/task-form-page.tsx'), 'AddDailyTaskPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/daily-tasks-form-update',
        validateSearch: editAddress,
        component: lazyPage(() => import('#src/features/tasks/task-form-page.tsx'), 'UpdateDailyTaskPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/annoucements', // sic, §2
        validateSearch: addressReader(announcementList),
        component: lazyPage(() => import('#src/features/announcements/announcements-page.tsx'), 'AnnouncementsPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/annoucement-form', // sic, §2
        validateSearch: addAddress,
        component: lazyPage(() => import('#src/features/announcements/announcement-form-page.tsx'), 'AddAnnouncementPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/annoucement-form-update', // sic, §2
        validateSearch: editAddress,
        component: lazyPage(() => import('#src/features/announcements/announcement-form-page.tsx'), 'UpdateAnnouncementPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/manage-telegram-users',
        validateSearch: addressReader(playerList),
        component: lazyPage(() => import('#src/features/players/players-page.tsx'), 'PlayersPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/manage-telegram-users/$userId',
        validateSearch: addressReader(playerList),
        component: lazyPage(() => import('#src/features/players/player-page.tsx'), 'PlayerPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/calendar',
        validateSearch: calendarAddress,
        component: lazyPage(() => import('#src/features/calendar/calendar-page.tsx'), 'CalendarPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/broadcasts',
        validateSearch: pageAddress,
        component: lazyPage(() => import('#src/features/broadcasts/broadcasts-page.tsx'), 'BroadcastsPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/broadcasts/new',
        validateSearch: newBroadcastAddress,
        component: lazyPage(() => import('#src/features/broadcasts/new-broadcast-page.tsx'), 'NewBroadcastPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/broadcasts/$id',
        validateSearch: broadcastAddress,
        component: lazyPage(() => import('#src/features/broadcasts/broadcast-page.tsx'), 'BroadcastPage'),
      }),
      createRoute({
        getParentRoute: () => management,
        path: '/history',
        validateSearch: historyAddress,
        component: lazyPage(() => import('#src/features/history/history-page.tsx'), 'HistoryPage'),
      }),
    ]),
    fallback,
  ]),
])

// Runs before the router reads the address.
history.replaceState(history.state, '', decodableAddress(location.href))

const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultErrorComponent: PageProblem,
})

const { load } = router
let newest = 0

/**
 * Lets the browser paint the pressed button before the next page is drawn, which takes longer. The address changes at once, so that a
 * second navigation or a reload builds on it. Changes of the same page's search parameters are drawn at once.
 */
router.load = async (options) => {
  const { pathname } = router.latestLocation
  router.updateLatestLocation()
  const current = ++newest
  if (options?.action?.type === 'PUSH' && router.latestLocation.pathname !== pathname) {
    await new Promise((resolve) => setTimeout(resolve))
    if (current !== newest) return
  }
  await load(options)
}

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

/**
 * Loads the page of the current address for the current session. Call it before rendering the router, which would otherwise show a Suspense
 * fallback for at least 300 ms.
 */
export const loadPage = (): Promise<void> => router.invalidate()

/** Whether there is a page at this path, other than the fallback page. */
export function hasPage(pathname: string): boolean {
  const [, , route] = router.getMatchedRoutes(pathname)
  return route !== undefined && route !== fallback
}

export const navigateTo = (path: string): Promise<void> => router.navigate({ href: path })

export function Pages() {
  return <RouterProvider router={router} />
}
