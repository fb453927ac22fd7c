/** The links of the shell (§2), the greeting and Log Out: the content of the sidebar and of the phone's drawer. */
import {
  IconBrandTelegram,
  IconCalendarCheck,
  IconHistory,
  IconLayoutDashboard,
  IconLogout,
  IconSpeakerphone,
  IconThumbUp,
  IconUsers,
} from '@tabler/icons-react'
import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { client } from '#src/client.ts'
import { setCurrentUser, useSession } from '#src/session.tsx'
import { toast } from '#src/ui/toast.tsx'
import classes from './shell.module.css'

/** `also`: first segments of other addresses that belong to the same place. */
const links = [
  { to: '/', label: 'Dashboard', Icon: IconLayoutDashboard, isAdminOnly: false, also: ['admin'] },
  { to: '/manage-users', label: 'Manage Users', Icon: IconUsers, isAdminOnly: true, also: ['add-user', 'update-user'] },
  { to: '/manage-telegram-users', label: 'Telegram Users', Icon: IconBrandTelegram, isAdminOnly: true, also: [] },
  {
    to: '/social-tasks',
    label: 'Social Tasks',
    Icon: IconThumbUp,
    isAdminOnly: true,
    also: ['social-tasks-form', 'social-tasks-form-update'],
  },
  {
    to: '/daily-tasks',
    label: 'Daily Tasks',
    Icon: IconCalendarCheck,
    isAdminOnly: true,
    also: ['daily-tasks-form', 'daily-tasks-form-update'],
  },
  {
    to: '/annoucements',
    label: 'Announcements',
    Icon: IconSpeakerphone,
    isAdminOnly: true,
    also: ['annoucement-form', 'annoucement-form-update'],
  }, // sic, §2
  { to: '/history', label: 'History', Icon: IconHistory, isAdminOnly: true, also: [] },
]

export function Navigation({ onNavigate }: { onNavigate?: () => void }) {
  const { user } = useSession()
  const navigate = useNavigate()
  const segment = useLocation({ select: ({ pathname }) => pathname.split('/')[1] ?? '' })
  const [isLeaving, setIsLeaving] = useState(false)

  const handleLogOut = async () => {
    if (isLeaving) return
    setIsLeaving(true)
    try {
      await client.accounts.logout()
      setCurrentUser(null)
      toast.success('Logged Out Succesfully!') // sic, §2
      await navigate({ to: '/' })
    } catch {
      toast.failure('Logging Out Failed!')
    } finally {
      setIsLeaving(false)
    }
  }

  return (
    <div className={classes['navigation']}>
      <div className={classes['greeting']}>
        <p>Welcome Back</p>
        <p className={classes['username']} title={user?.username}>
          {user?.username}
        </p>
      </div>
      <nav aria-label="Main" className={classes['links']}>
        {links
          .filter(({ isAdminOnly }) => !isAdminOnly || user?.userType === 'admin')
          .map(({ to, label, Icon, also }) => (
            <Link
              key={to}
              to={to}
              aria-current={to === `/${segment}` || also.includes(segment) ? 'page' : undefined}
              className={classes['link']}
              onClick={() => onNavigate?.()}
            >
              <Icon size={20} stroke={1.75} aria-hidden />
              {label}
            </Link>
          ))}
      </nav>
      <button type="button" className={classes['link']} onClick={() => void handleLogOut()}>
        <IconLogout size={20} stroke={1.75} aria-hidden />
        Log Out
      </button>
    </div>
  )
}
