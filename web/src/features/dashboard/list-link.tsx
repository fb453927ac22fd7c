/** The addresses of the lists behind the dashboard's figures, and the links to them. */
import type { HistoryKind } from '@arcade/contract/history/fields'
import type { playerList } from '@arcade/contract/players/fields'
import type { userList } from '@arcade/contract/users/fields'
import type { announcementList } from '@arcade/contract/announcements/fields'
import { IconArrowUpRight } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ListAddress } from '#src/lists/list-address.ts'
import { useMayOpen } from '#src/session.tsx'
import classes from './dashboard-page.module.css'

interface ListTarget {
  to: string
  search?: Readonly<Record<string, unknown>>
}

const itemLists: Record<HistoryKind, string> = { social: '/social-tasks', daily: '/daily-tasks', announcement: '/annoucements' } // sic, §2

export const listTargets = {
  users: { to: '/manage-users' },
  admins: { to: '/manage-users', search: { userType: 'admin' } satisfies ListAddress<typeof userList> },
  players: { to: '/manage-telegram-users' },
  newestPlayers: { to: '/manage-telegram-users', search: { sort: 'newest' } satisfies ListAddress<typeof playerList> },
  activeAnnouncements: {
    to: itemLists.announcement,
    search: { status: 'active' } satisfies ListAddress<typeof announcementList>,
  },
  socialTasks: { to: itemLists.social },
  dailyTasks: { to: itemLists.daily },
  history: { to: '/history' },
  player: (userId: number): ListTarget => ({ to: `/manage-telegram-users/${userId}` }),
  itemsOfType: (kind: HistoryKind, type: string): ListTarget => ({ to: itemLists[kind], search: { type } }),
  historyOf: (kind: HistoryKind, item: string): ListTarget => ({
    to: '/history',
    search: { ...(kind !== 'announcement' && { tab: kind }), item },
  }),
} satisfies Record<string, ListTarget | ((...args: never[]) => ListTarget)>

/** The name of a row, as a link if the person may open its page. */
export function ListLink({ list, children }: { list: ListTarget; children: ReactNode }) {
  if (!useMayOpen(list.to)) return children
  return (
    <Link to={list.to} search={list.search ?? {}}>
      {children}
    </Link>
  )
}

interface AllLinkProps {
  list: ListTarget
  /** The link's name, which contains `text`. */
  label: string
  /** Distinguishes two arrows on one card. */
  text?: string
}

/** An arrow that links to the whole list, for people who may open it. Its name differs from those of the sidebar's links. */
export function AllLink({ list, label, text }: AllLinkProps) {
  if (!useMayOpen(list.to)) return null
  return (
    <Link to={list.to} search={list.search ?? {}} className={classes['all']} aria-label={label} title={label}>
      {text}
      <IconArrowUpRight size={18} aria-hidden />
    </Link>
  )
}
