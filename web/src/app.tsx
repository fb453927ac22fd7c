/**
 * What is shown (§2): the loading screen until the session is known, then Login or the pages. Login is there without the router and its
 * table of pages, which are half as large as everything that it needs itself.
 */
import { SIGNED_OUT_PAGE } from '@arcade/contract/pages'
import { type ComponentType, useEffect, useEffectEvent, useState } from 'react'
import { client } from './client.ts'
import { knownSession, type Session, useSessionQuery, watchSession } from './session.tsx'
import { LoadingScreen, UnreachableScreen } from '#src/shell/loading-screen.tsx'
import { PageProblem } from '#src/shell/page-problem.tsx'
import { setGo } from '#src/ui/app-link.tsx'

/** Stays once it is loaded: after a sign-out the router shows Login, too. */
let routes: typeof import('./routes.tsx') | undefined

/** The person who was told to the router, or to whom Login is shown. */
let shownTo: string | undefined
let firstScreen: ComponentType | undefined

/** Loads the screen before the first render, if the session is known already. */
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

/** Shows the loading screen until the session is known, then what is for it. Loads that again when somebody else signs in. */
export function App() {
  const { data, isError, isFetching, refetch } = useSessionQuery()
  const [Screen, setScreen] = useState(() => firstScreen)
  const [problem, setProblem] = useState<unknown>()

  const show = useEffectEvent((screen: Promise<ComponentType>) =>
    screen.then(
      (Next) => setScreen(() => Next),
      // A file is missing: the server may have another version by now, or there is no connection.
      (cause: unknown) => client.auth.session().then(() => (Screen ? location.reload() : setProblem(cause)), setProblem),
    ),
  )

  useEffect(watchSession, [])
  useEffect(() => {
    if (!data || identityKey(data) === shownTo) return
    shownTo = identityKey(data)
    void show(loadScreen(data))
  }, [data])
  useEffect(() => {
    setGo(async (path) => {
      if (routes) return routes.navigateTo(path)
      history.pushState(null, '', path)
      await show(loadPages())
    })
    const handleStep = () => void (routes ?? show(loadPages()))
    addEventListener('popstate', handleStep)
    return () => removeEventListener('popstate', handleStep)
  }, [])

  if (problem) return <PageProblem error={problem} />
  if (Screen) return <Screen />
  return isError && !isFetching ? <UnreachableScreen onRetry={() => void refetch()} /> : <LoadingScreen />
}

function identityKey({ user }: Session): string {
  return user ? `${user.id} ${user.userType}` : 'nobody'
}
