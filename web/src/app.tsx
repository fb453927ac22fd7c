/**
 * Shows the loading screen until the session is known, then Login or the signed-in pages (§2). Login renders without the router, because
 * the router and its routes would add half of Login's own size.
 */
import { SIGNED_OUT_PAGE } from '@arcade/contract/pages'
import { type ComponentType, useEffect, useEffectEvent, useState } from 'react'
import { client } from '#src/client/client.ts'
import { knownSession, reloadForPermissions, type Session, useSessionQuery, watchSession } from './session.tsx'
import { LoadingScreen, UnreachableScreen } from '#src/shell/loading-screen.tsx'
import { PageProblem } from '#src/shell/page-problem.tsx'
import { setNavigation } from '#src/ui/app-link.tsx'

/** Kept once loaded: after a sign-out the router shows Login as well. */
let routes: typeof import('./routes.tsx') | undefined

/** The session that the current screen was loaded for, as an `identityKey`. */
let shownTo: string | undefined
let firstScreen: ComponentType | undefined

/** Loads the first screen before the first render, if the session is already known. */
export async function loadFirstScreen(): Promise<void> {
  const session = knownSession()
  if (!session) return
  firstScreen = await loadScreen(session)
  shownTo = identityKey(session)
}

async function loadScreen({ user }: Session): Promise<ComponentType> {
  if (user || routes || SIGNED_OUT_PAGE.test(location.pathname)) return loadPages()
  return (await import('#src/features/auth/login-page.tsx')).LoginPage
}

async function loadPages(): Promise<ComponentType> {
  routes ??= await import('./routes.tsx')
  await routes.loadPage()
  return routes.Pages
}

/**
 * Shows the loading screen until the session is known, then the screen for that session. Loads the screen again when somebody else signs
 * in, or when the person may do more or less than before.
 */
export function App() {
  const { data, isError, isFetching, refetch } = useSessionQuery()
  const [Screen, setScreen] = useState(() => firstScreen)
  const [problem, setProblem] = useState<unknown>()

  const show = useEffectEvent((screen: Promise<ComponentType>) =>
    screen.then(
      (Next) => setScreen(() => Next),
      // A file could not be loaded: either the server was updated, or there is no connection.
      (cause: unknown) => client.auth.session().then(() => (Screen ? location.reload() : setProblem(cause)), setProblem),
    ),
  )

  useEffect(watchSession, [])
  useEffect(() => {
    if (!data || identityKey(data) === shownTo) return
    const isSamePerson = data.user !== null && shownTo?.split(' ')[0] === data.user.id
    shownTo = identityKey(data)
    void show(loadScreen(data)).then(() => isSamePerson && reloadForPermissions())
  }, [data])
  useEffect(() => {
    setNavigation({
      goTo: async (path) => {
        if (routes) return routes.navigateTo(path)
        history.pushState(null, '', path)
        await show(loadPages())
      },
      hasPage: async (path) => (await import('./routes.tsx')).hasPage(path),
    })
    const handleStep = () => void (routes ?? show(loadPages()))
    addEventListener('popstate', handleStep)
    return () => removeEventListener('popstate', handleStep)
  }, [])

  if (problem) return <PageProblem error={problem} />
  if (Screen) return <Screen />
  return isError && !isFetching ? <UnreachableScreen onRetry={() => void refetch()} /> : <LoadingScreen />
}

/** Names who is signed in, and what they may do. */
function identityKey({ user }: Session): string {
  return user ? `${user.id} ${user.userType} ${user.permissions.join()}` : 'nobody'
}
