/** The contents of the sidebar and the phone's drawer: links (§2), greeting and Log Out. */
import type { SessionUser } from '@arcade/contract/auth/calls'
import {
  type Icon,
  IconBrandTelegram,
  IconCalendarCheck,
  IconCalendarEvent,
  IconDatabaseExport,
  IconHistory,
  IconKey,
  IconListSearch,
  IconLayoutDashboard,
  IconLogout,
  IconSend,
  IconShieldLock,
  IconSpeakerphone,
  IconThumbUp,
  IconTrash,
  IconWebhook,
  IconUserCog,
  IconUsers,
} from '@tabler/icons-react'
import { Link, useLocation } from '@tanstack/react-router'
import { useKeptSearch } from '#src/lists/back-to-list.tsx'
import { mayOpen, useSession } from '#src/session.tsx'
import { useLogOut } from './log-out.ts'
import { ColorSchemeSwitch } from './color-scheme.tsx'
import { memo } from 'react'
import classes from './shell.module.css'

interface MenuPage {
  to: string
  label: string
  Icon: Icon
  /** The first path segments of other pages that belong to this link. */
  also: string[]
  /** The key that opens the page after `g`. */
  goKey: string
}

const links: readonly MenuPage[] = [
  { to: '/', label: 'Dashboard', Icon: IconLayoutDashboard, also: ['admin'], goKey: 'd' },
  {
    to: '/manage-users',
    label: 'Manage Users',
    Icon: IconUsers,
    also: ['add-user', 'update-user'],
    goKey: 'u',
  },
  { to: '/manage-telegram-users', label: 'Telegram Users', Icon: IconBrandTelegram, also: [], goKey: 'p' },
  {
    to: '/social-tasks',
    label: 'Social Tasks',
    Icon: IconThumbUp,
    also: ['social-tasks-form', 'social-tasks-form-update'],
    goKey: 's',
  },
  {
    to: '/daily-tasks',
    label: 'Daily Tasks',
    Icon: IconCalendarCheck,
    also: ['daily-tasks-form', 'daily-tasks-form-update'],
    goKey: 't',
  },
  {
    to: '/annoucements', // sic, §2
    label: 'Announcements',
    Icon: IconSpeakerphone,
    also: ['annoucement-form', 'annoucement-form-update'],
    goKey: 'a',
  },
  {
    to: '/calendar',
    label: 'Calendar',
    Icon: IconCalendarEvent,
    also: [],
    goKey: 'c',
  },
  { to: '/broadcasts', label: 'Broadcasts', Icon: IconSend, also: [], goKey: 'r' },
  { to: '/history', label: 'History', Icon: IconHistory, also: [], goKey: 'h' },
]

/** Pages for running the installation. The ones above are the specification's (§2). */
const upkeep: readonly MenuPage[] = [
  { to: '/roles', label: 'Roles', Icon: IconShieldLock, also: [], goKey: 'o' },
  { to: '/audit', label: 'Audit', Icon: IconListSearch, also: [], goKey: 'l' },
  { to: '/trash', label: 'Trash', Icon: IconTrash, also: [], goKey: 'x' },
  { to: '/bot-tokens', label: 'Bot Tokens', Icon: IconKey, also: [], goKey: 'k' },
  { to: '/webhooks', label: 'Webhooks', Icon: IconWebhook, also: [], goKey: 'w' },
  { to: '/backups', label: 'Backups', Icon: IconDatabaseExport, also: [], goKey: 'b' },
]

/** Returns the pages that a person may open. */
export function menuPagesFor(user: SessionUser | null, among: readonly MenuPage[] = [...links, ...upkeep]): readonly MenuPage[] {
  return among.filter(({ to }) => mayOpen(user, to))
}

interface MenuLinkProps {
  page: MenuPage
  isCurrent: boolean
  isRail: boolean
  onNavigate: (() => void) | undefined
}

/** Memoized, because each link that is drawn again makes opening a page slower. */
const MenuLink = memo(function MenuLink({ page: { to, label, Icon }, isCurrent, isRail, onNavigate }: MenuLinkProps) {
  return (
    <Link
      to={to}
      search={useKeptSearch(to)}
      aria-current={isCurrent ? 'page' : undefined}
      title={isRail ? label : undefined}
      className={classes['link']}
      onClick={onNavigate}
    >
      <Icon size={20} stroke={1.75} aria-hidden />
      <span className={isRail ? 'app-sr-only' : undefined}>{label}</span>
    </Link>
  )
})

interface NavigationProps {
  onNavigate?: () => void
  /** Shows icons only, with the labels as tooltips. */
  isRail?: boolean
}

export function Navigation({ onNavigate, isRail = false }: NavigationProps) {
  const { user } = useSession()
  const logOut = useLogOut()
  const segment = useLocation({ select: ({ pathname }) => pathname.split('/')[1] ?? '' })

  const nameProps = { className: isRail ? 'app-sr-only' : undefined }
  const menuLink = (page: MenuPage) => (
    <MenuLink
      key={page.to}
      page={page}
      isCurrent={page.to === `/${segment}` || page.also.includes(segment)}
      isRail={isRail}
      onNavigate={onNavigate}
    />
  )
  return (
    <div className={classes['navigation']}>
      <div className={classes['greeting']}>
        <div {...nameProps}>
          <p>Welcome Back</p>
          <p className={classes['username']} title={user?.username}>
            {user?.username}
          </p>
        </div>
        {mayOpen(user, '/account') && (
          <Link to="/account" aria-label="Your Account" title="Your Account" className={classes['account']} onClick={onNavigate}>
            <IconUserCog size={20} stroke={1.75} aria-hidden />
          </Link>
        )}
      </div>
      <nav aria-label="Main" className={classes['links']}>
        {menuPagesFor(user, links).map(menuLink)}
      </nav>
      {menuPagesFor(user, upkeep).length > 0 && (
        <nav aria-label="Upkeep" className={classes['upkeep']}>
          {menuPagesFor(user, upkeep).map(menuLink)}
        </nav>
      )}
      <div className={classes['foot']}>
        <ColorSchemeSwitch />
        <button type="button" title={isRail ? 'Log Out' : undefined} className={classes['link']} onClick={() => void logOut()}>
          <IconLogout size={20} stroke={1.75} aria-hidden />
          <span {...nameProps}>Log Out</span>
        </button>
        {user?.userType === 'admin' && !isRail && <p className={classes['version']}>Arcade Console {PRODUCT_VERSION}</p>}
      </div>
    </div>
  )
}
