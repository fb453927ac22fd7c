/** The lists behind the dashboard's figures: their addresses, and the small arrow that leads there. */
import type { HistoryKind } from '@arcade/contract/entities/history'
import { IconArrowUpRight } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import classes from './dashboard-page.module.css'

interface ListAddress {
  to: string
  search?: Record<string, string>
}

const itemLists: Record<HistoryKind, string> = { social: '/social-tasks', daily: '/daily-tasks', announcement: '/annoucements' } // sic, §2

/** What a list does not understand of its address it leaves out. */
export const lists = {
  users: { to: '/manage-users' },
  admins: { to: '/manage-users', search: { userType: 'admin' } },
  players: { to: '/manage-telegram-users' },
  newestPlayers: { to: '/manage-telegram-users', search: { sort: 'newest' } },
  activeAnnouncements: { to: itemLists.announcement, search: { status: 'active' } },
  socialTasks: { to: itemLists.social },
  dailyTasks: { to: itemLists.daily },
  history: { to: '/history' },
  player: (userId: number): ListAddress => ({ to: `/manage-telegram-users/${userId}` }),
  itemsOfType: (kind: HistoryKind, type: string): ListAddress => ({ to: itemLists[kind], search: { type } }),
  historyOf: (kind: HistoryKind, item: string): ListAddress => ({
    to: '/history',
    search: { ...(kind !== 'announcement' && { tab: kind }), item },
  }),
} satisfies Record<string, ListAddress | ((...args: never[]) => ListAddress)>

export function ListLink({ list, children }: { list: ListAddress; children: ReactNode }) {
  return (
    <Link to={list.to} search={list.search ?? {}}>
      {children}
    </Link>
  )
}

/** An arrow to all of it. Its name is none that a link of the sidebar has. */
export function AllLink({ list, label }: { list: ListAddress; label: string }) {
  return (
    <Link to={list.to} search={list.search ?? {}} className={classes['all']} aria-label={label} title={label}>
      <IconArrowUpRight size={18} aria-hidden />
    </Link>
  )
}
