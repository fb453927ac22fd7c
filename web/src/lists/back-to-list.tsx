/**
 * The ways back to a list, to History or to the dashboard: each opens the page as it was last shown in this visit. On the page itself, its
 * own link shows it from the start.
 */
import { useLocation, useNavigate, useRouter } from '@tanstack/react-router'
import { type MouseEvent, type ReactNode, useEffect, useSyncExternalStore } from 'react'
import { isForBrowser } from '#src/ui/app-link.tsx'
import { LinkButton } from '#src/ui/link-button.tsx'
import { keepSearch, keptSearch, lastSearch, subscribeToVisit } from '#src/ui/visit.ts'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The list's position in the browser's history, for the way back from the player's page. */
    listIndex?: number
  }
}

const NOTHING = {}

/** The dashboard has two addresses (§2). */
function pageAt(pathname: string): string {
  return pathname === '/admin' ? '/' : pathname
}

/** Keeps what each page shows. Call it once, around all pages. */
export function useKeptPages(): void {
  const router = useRouter()
  useEffect(() => {
    const keep = ({ pathname, search }: { pathname: string; search: object }) => keepSearch(pageAt(pathname), { ...search })
    keep(router.state.location)
    // After the page was rendered: it finds out whether it was shown before.
    return router.subscribe('onResolved', ({ toLocation }) => keep(toLocation))
  }, [router])
}

/** Returns the search parameters of a link to the page. */
export function useKeptSearch(path: string): object {
  const isHere = useLocation({ select: ({ pathname }) => pageAt(pathname) === path })
  const kept = useSyncExternalStore(subscribeToVisit, () => keptSearch(path))
  return (isHere ? undefined : kept) ?? NOTHING
}

/** Returns a function that opens a page, for keys and the palette. */
export function useOpenPage(): (path: string) => void {
  const router = useRouter()
  return (path) => {
    const isHere = pageAt(router.latestLocation.pathname) === path
    void router.navigate({ to: path, search: (isHere ? undefined : keptSearch(path)) ?? NOTHING })
  }
}

/** Returns a function that goes back to the list after a form was saved, so that Back does not return to the form. */
export function useReturnToList(path: string): () => Promise<void> {
  const navigate = useNavigate()
  return () => navigate({ to: path, search: lastSearch(path) ?? NOTHING, replace: true })
}

interface BackToListButtonProps {
  /** The path of the list. */
  to: string
  /** Search parameters that are known from this page's address; otherwise those with which the list was last shown. */
  search?: object
  children?: ReactNode
}

/** Goes back to the list that the operator came from, with its scroll position if the page was opened from one of its rows. */
export function BackToListButton({ to, search, children = 'Back' }: BackToListButtonProps) {
  const { history } = useRouter()
  const kept = useSyncExternalStore(subscribeToVisit, () => lastSearch(to)) ?? NOTHING
  const steps = useLocation({
    select: ({ state: { __TSR_index, listIndex } }) => (listIndex === undefined ? 0 : __TSR_index - listIndex),
  })

  const handleClick = (event: MouseEvent) => {
    if (steps <= 0 || isForBrowser(event)) return
    event.preventDefault()
    history.go(-steps)
  }

  return (
    <LinkButton to={to} search={search && Object.keys(search).length > 0 ? search : kept} variant="default" onClick={handleClick}>
      {children}
    </LinkButton>
  )
}
