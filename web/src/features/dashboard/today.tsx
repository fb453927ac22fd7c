/** What happened since the admin looked last, and what needs an admin. If a call fails, its part is missing, and the rest of the page shows. */
import type { Alert, Today as TodayAnswer } from '@arcade/contract/dashboard/calls'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId } from 'react'
import { api, client } from '#src/client/client.ts'
import { useAutoReload } from '#src/lists/live.ts'
import { tellServer, useMayOpen } from '#src/session.tsx'
import { formatted } from '#src/ui/numbers.ts'
import classes from './dashboard-page.module.css'
import { formatTime } from './times.ts'

/** Asks what happened, and tells the server that the admin looks now. If that call fails, the next visit counts from the look before. */
function todayQuery() {
  return {
    ...api.dashboard.today.queryOptions(),
    queryFn: ({ signal }: { signal: AbortSignal }) => {
      tellServer((options) => client.dashboard.look({}, options))
      return client.dashboard.today(undefined, { signal })
    },
  }
}

export interface Now {
  /** Whether it is still loading. What is below is shown afterwards, so that it does not move. */
  isPending: boolean
  today: TodayAnswer | undefined
  alerts: readonly Alert[]
}

export function useNow(): Now {
  const today = useQuery(todayQuery())
  const needs = useQuery(api.dashboard.alerts.queryOptions())
  useAutoReload(today)
  useAutoReload(needs)
  return { isPending: today.isPending || needs.isPending, today: today.data, alerts: needs.data?.alerts ?? [] }
}

export function TodayAndNeeds({ today, alerts }: Now) {
  if (!today && alerts.length === 0) return null
  return (
    <div className={classes['now']}>
      {today && <Today today={today} />}
      {alerts.length > 0 && <Needs alerts={alerts} />}
    </div>
  )
}

function Today({ today }: { today: TodayAnswer }) {
  const id = useId()
  const { since, unit, lookedAt } = today
  const look = unit === 'hour' && lookedAt !== null ? formatTime(lookedAt, 'hour').tick : undefined
  return (
    <section className={classes['today']} aria-labelledby={id}>
      <header>
        <h2 id={id}>Today</h2>
        <p className={classes['phrases']}>
          <span>{unit === 'hour' ? 'The last 24 hours' : `Since ${formatTime(since, 'day').name}`},</span>{' '}
          <span>compared with {spanBefore(today)}</span>
          {look !== undefined && (
            <>
              {' '}
              <span>· you looked last at {look}</span>
            </>
          )}
        </p>
      </header>
      <dl>
        <Figure label="New players" figure={today.players} look={look} />
        <Figure label="Participations" figure={today.participations} look={look} />
        <Figure label="Claims" figure={today.claims} look={look} />
        <Figure label="Points paid" figure={today.paid} look={look} />
      </dl>
    </section>
  )
}

/** Names the time with which the figures are compared. */
function spanBefore({ unit, compared }: TodayAnswer): string {
  if (unit === 'hour') return 'the 24 hours before'
  return compared === 1 ? 'the day before' : `the ${formatted(compared)} days before`
}

interface FigureProps {
  label: string
  figure: TodayAnswer['players']
  /** The time of the last look, within a day. */
  look: string | undefined
}

function Figure({ label, figure: { value, whole, before, sinceLook }, look }: FigureProps) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <b>{formatted(value)}</b>
        <span>{changeText(whole, before)}</span>
        {sinceLook !== null && look !== undefined && <small>{`${formatted(sinceLook)} since ${look.slice(0, 2)}:00`}</small>}
      </dd>
    </div>
  )
}

function changeText(now: number, before: number): string {
  if (now === before) return now === 0 ? 'none before' : 'as many as before'
  if (before === 0) return 'none before'
  const percent = Math.round((Math.abs(now - before) / before) * 100)
  return `${formatted(percent)}% ${now > before ? 'more' : 'less'}`
}

const alertPages: Partial<Record<Alert['about'], { to: string; text: string }>> = {
  backups: { to: '/backups', text: 'See all backups' },
  broadcast: { to: '/broadcasts', text: 'See all broadcasts' },
  webhook: { to: '/webhooks', text: 'See all webhooks' },
}

function Needs({ alerts }: { alerts: readonly Alert[] }) {
  const id = useId()
  return (
    <section className={classes['needs']} aria-labelledby={id}>
      <h2 id={id}>What needs you</h2>
      <ul>
        {alerts.map(({ id: key, about, text }) => (
          <li key={key}>
            <span role="alert">{text}</span> <AlertLink page={alertPages[about]} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function AlertLink({ page }: { page: (typeof alertPages)['backups'] }) {
  const mayOpen = useMayOpen(page?.to ?? '/')
  return page && mayOpen && <Link to={page.to}>{page.text}</Link>
}
