/** The frame of all signed-in pages (§2): sidebar on a desktop; brand header and slide-in drawer on a phone. */
import { Drawer } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconMenu2 } from '@tabler/icons-react'
import { Link, Outlet } from '@tanstack/react-router'
import { type MouseEvent, useState } from 'react'
import { useSession } from '#src/session.tsx'
import { ConfirmProvider } from '#src/ui/confirm.tsx'
import { Logo } from '#src/ui/logo.tsx'
import { Navigation } from './navigation.tsx'
import classes from './shell.module.css'

export function Shell() {
  const { user } = useSession()
  const [isMenuOpen, setIsMenuOpen] = useState(false)
  const isPhone = useMediaQuery('(max-width: 62em)', undefined, { getInitialValueInEffect: false })

  return (
    <ConfirmProvider>
      <a href="#main" className="app-skip-link" onClick={skipToMain}>
        Skip to content
      </a>
      <div className={classes['shell']}>
        {isPhone ? (
          <header className={classes['header']}>
            <HomeLink />
            <button
              type="button"
              className={classes['burger']}
              aria-label="Menu"
              aria-expanded={isMenuOpen}
              onClick={() => setIsMenuOpen(true)}
            >
              <IconMenu2 size={26} aria-hidden />
            </button>
            <Drawer
              opened={isMenuOpen}
              onClose={() => setIsMenuOpen(false)}
              size="min(19rem, 88vw)"
              title="Menu"
              classNames={{
                content: classes['drawer'] ?? '',
                header: classes['drawerHeader'] ?? '',
                body: classes['drawerBody'] ?? '',
              }}
            >
              <Navigation onNavigate={() => setIsMenuOpen(false)} />
            </Drawer>
          </header>
        ) : (
          <header className={classes['sidebar']}>
            <HomeLink />
            <Navigation />
          </header>
        )}
        {/* Nothing on a page outlives the person it was for. */}
        <main id="main" key={user?.id} tabIndex={-1} className={classes['main']}>
          {user && <Outlet />}
        </main>
      </div>
    </ConfirmProvider>
  )
}

function HomeLink() {
  return (
    <Link to="/" aria-label="Arcade Console" className={classes['home']}>
      <Logo />
    </Link>
  )
}

/** Without the address, which belongs to the router. */
function skipToMain(event: MouseEvent): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('#main')?.focus()
}
