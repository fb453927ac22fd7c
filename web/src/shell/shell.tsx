/**
 * The layout of all signed-in pages (§2): a sidebar on desktops, a rail of icons on small desktops, and a header with a slide-in drawer on
 * phones.
 */
import { IconMenu2, IconSearch } from '@tabler/icons-react'
import { useIsFetching } from '@tanstack/react-query'
import { Link, Outlet } from '@tanstack/react-router'
import { type ComponentType, type MouseEvent, useEffect, useEffectEvent, useState } from 'react'
import { useSession, useSessionQuery } from '#src/session.tsx'
import { ConfirmProvider } from '#src/ui/confirm.tsx'
import { Logo } from '#src/ui/logo.tsx'
import { DraftOwner } from '#src/ui/drafts.ts'
import { useKeptPages, useKeptSearch } from '#src/lists/back-to-list.tsx'
import { useAutoReload } from '#src/lists/live.ts'
import { forgetSelections } from '#src/lists/selection.tsx'
import { toast } from '#src/ui/toast.tsx'
import { windowMatches } from '#src/ui/window-width.ts'
import { useQueryRetry } from './retry-queries.ts'
import { Navigation } from './navigation.tsx'
import { OfflineNotice } from './offline-notice.tsx'
import type { MenuDrawerProps } from './menu-drawer.tsx'
import { useOnOtherPage } from './page-change.ts'
import classes from './shell.module.css'
import { isMac, PALETTE_KEYS } from './shortcut-keys.ts'
import { useShortcuts } from './shortcuts.tsx'
import { StepUpGuard } from './step-up.tsx'
import { UnsavedWorkGuard } from './unsaved-work.tsx'

/** Whether the menu is a drawer instead of a sidebar. */
const useHasDrawer = windowMatches('(width <= 62em)')
/** Whether the sidebar is a rail of icons. */
const useHasRail = windowMatches('(62em < width <= 75em)')

export function Shell() {
  const { user } = useSession()
  useAutoReload(useSessionQuery()) // the role may have changed
  const shortcuts = useShortcuts()
  useQueryRetry()
  const hasDrawer = useHasDrawer()
  const isRail = useHasRail()

  return (
    <ConfirmProvider>
      <a href="#main" className="app-skip-link" onClick={skipToMain}>
        Skip to content
      </a>
      <div className={classes['shell']}>
        {hasDrawer ? (
          <header className={classes['header']}>
            <HomeLink />
            <SearchButton shortcuts={shortcuts} className={classes['burger']} />
            <Menu />
          </header>
        ) : (
          <header className={classes['sidebar']} data-rail={isRail || undefined}>
            <HomeLink isRail={isRail} />
            <SearchButton shortcuts={shortcuts} className={classes['search']} isRail={isRail} />
            <Navigation isRail={isRail} />
          </header>
        )}
        {/* The key remounts the page when somebody else signs in, so that they do not see the previous user's state. */}
        <main id="main" key={user?.id} tabIndex={-1} className={classes['main']}>
          <OfflineNotice />
          {user && <PersonsPage id={user.id} />}
        </main>
      </div>
      {user && shortcuts.overlay}
      <UnsavedWorkGuard />
      <StepUpGuard />
    </ConfirmProvider>
  )
}

/** The phone's menu and its button. The drawer is loaded when the page has finished loading, or when the button is touched or focused. */
function Menu() {
  const [isOpen, setIsOpen] = useState(false)
  const [Drawer, setDrawer] = useState<ComponentType<MenuDrawerProps>>()

  const load = async (): Promise<void> => {
    const { MenuDrawer } = await import('./menu-drawer.tsx')
    setDrawer(() => MenuDrawer)
  }
  const preload = () => void load().catch(() => {}) // opening the menu retries

  const isPageLoading = useIsFetching() > 0
  const preloadLater = useEffectEvent(() => (globalThis.requestIdleCallback ?? setTimeout)(preload))
  useEffect(() => {
    if (!Drawer && !isPageLoading && navigator.onLine) preloadLater()
  }, [Drawer, isPageLoading])

  useOnOtherPage(() => setIsOpen(false))

  const handleClick = async () => {
    try {
      await load()
      setIsOpen(true)
    } catch {
      toast.failure('The menu could not be loaded.')
    }
  }

  return (
    <>
      <button
        type="button"
        className={classes['burger']}
        aria-label="Menu"
        aria-expanded={isOpen}
        onClick={() => void handleClick()}
        onPointerEnter={preload}
        onFocus={preload}
      >
        <IconMenu2 size={26} aria-hidden />
      </button>
      {isOpen && Drawer && <Drawer onClose={() => setIsOpen(false)} />}
    </>
  )
}

interface SearchButtonProps {
  shortcuts: ReturnType<typeof useShortcuts>
  className: string | undefined
  isRail?: boolean
}

/** Opens the palette. Shows its shortcut if there is room. */
function SearchButton({ shortcuts, className, isRail = false }: SearchButtonProps) {
  return (
    <button
      type="button"
      className={className}
      title={isRail ? `Search (${PALETTE_KEYS.join(' ')})` : undefined}
      aria-haspopup="dialog"
      aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'}
      onClick={shortcuts.openPalette}
      onPointerEnter={shortcuts.preloadPalette}
      onFocus={shortcuts.preloadPalette}
    >
      <IconSearch size={20} stroke={1.75} aria-hidden />
      <span className={isRail ? 'app-sr-only' : undefined}>Search</span>
      {!isRail && (
        <span className={classes['keys']} aria-hidden>
          {PALETTE_KEYS.map((key) => (
            <kbd key={key}>{key}</kbd>
          ))}
        </span>
      )}
    </button>
  )
}

function PersonsPage({ id }: { id: string }) {
  useEffect(() => forgetSelections, [])
  useKeptPages()
  return (
    <DraftOwner value={id}>
      <Outlet />
    </DraftOwner>
  )
}

function HomeLink({ isRail = false }: { isRail?: boolean }) {
  return (
    <Link
      to="/"
      search={useKeptSearch('/')}
      aria-label="Arcade Console"
      title={isRail ? 'Arcade Console' : undefined}
      className={classes['home']}
    >
      <Logo isMarkOnly={isRail} />
    </Link>
  )
}

/** Moves the focus to the page's content without changing the address, because the router would handle the `#main` link. */
function skipToMain(event: MouseEvent): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('#main')?.focus()
}
