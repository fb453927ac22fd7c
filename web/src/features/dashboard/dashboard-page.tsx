/** The dashboard (§2): the game's figures for admins, a placeholder for everybody else. */
import type { DashboardMetrics } from '@arcade/contract/dashboard/calls'
import { taskTypeLabels } from '@arcade/contract/tasks/fields'
import { dashboardTitle } from '@arcade/contract/pages'
import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useEffect, useId } from 'react'
import { api, reloadPage } from '#src/client/client.ts'
import { useMay } from '#src/session.tsx'
import { Mentions } from '#src/notes/mentions.tsx'
import { formatted } from '#src/ui/numbers.ts'
import { Page, Panel, Problem } from '#src/ui/page.tsx'
import { ActivitySkeleton, FiguresSkeleton, TodaySkeleton } from './activity-skeleton.tsx'
import classes from './dashboard-page.module.css'
import { AllLink, listTargets } from './list-link.tsx'
import { TodayAndNeeds, useNow } from './today.tsx'

// If the charts' code cannot be loaded, the cards are shown without them.
const loadActivity = () =>
  import('./activity.tsx').then(
    (module) => ({ default: module.Activity }),
    () => ({ default: NoActivity }),
  )
const Activity = lazy(loadActivity)

export function DashboardPage() {
  return useMay('dashboard.read') ? <AdminDashboard /> : <UserDashboard />
}

function UserDashboard() {
  return (
    <Page title={dashboardTitle('user')}>
      <Panel>Your account has no access to the management of the game. An admin can change that.</Panel>
    </Page>
  )
}

/** The types of §2 first, then the other types that tasks can have. */
const taskTypes = [
  { type: 'instagram', label: 'Instagram' },
  { type: 'youtube', label: 'Youtube' },
  { type: 'moreLink', label: 'Website' },
  { type: 'twitter', label: 'Twitter' },
  { type: 'telegram', label: 'Telegram' },
  { type: 'linkedin', label: taskTypeLabels.linkedin },
  { type: 'discord', label: taskTypeLabels.discord },
  { type: 'email', label: taskTypeLabels.email },
  { type: 'bsc', label: taskTypeLabels.bsc },
] as const satisfies { type: keyof DashboardMetrics['tasksByType']; label: string }[]

function AdminDashboard() {
  const { data, isError, refetch } = useQuery(api.dashboard.get.queryOptions())
  const now = useNow()
  useEffect(() => void loadActivity(), [])
  return (
    <Page title={dashboardTitle('admin')} actions={<span className={classes['zone']}>Times in UTC</span>}>
      {data ? (
        <>
          <Metrics metrics={data} />
          {now.isPending ? (
            <BelowFigures />
          ) : (
            <>
              <TodayAndNeeds {...now} />
              <Mentions />
              <Suspense fallback={<ActivitySkeleton />}>
                <Activity />
              </Suspense>
            </>
          )}
        </>
      ) : isError ? (
        <Panel>
          <Problem message="Error calculating metrics" onRetry={() => void refetch()} />
        </Panel>
      ) : (
        <>
          <output>Loading...</output>
          <FiguresSkeleton />
          <BelowFigures />
        </>
      )}
    </Page>
  )
}

/** Placeholders for what is below the figures. */
function BelowFigures() {
  return (
    <>
      <TodaySkeleton />
      <ActivitySkeleton />
    </>
  )
}

function NoActivity() {
  return (
    <Panel>
      <Problem message="The activity could not be loaded." onRetry={reloadPage} />
    </Panel>
  )
}

function Metrics({ metrics }: { metrics: DashboardMetrics }) {
  return (
    <div className={classes['strip']}>
      <Card title="Total Users" links={<AllLink list={listTargets.users} label="See all users" />}>
        <Figure value={metrics.totalUsers} />
      </Card>
      <Card title="User Type" links={<AllLink list={listTargets.admins} label="See all admins" />}>
        <Rows
          rows={[
            { label: 'Users', value: metrics.userTypes.user },
            { label: 'Admins', value: metrics.userTypes.admin },
          ]}
        />
      </Card>
      <Card title="Telegram Users" links={<AllLink list={listTargets.players} label="See all players" />}>
        <Figure value={metrics.totalTelegramUsers} />
      </Card>
      <Card title="Active Announcements" links={<AllLink list={listTargets.activeAnnouncements} label="See what is active" />}>
        <Figure value={metrics.activeAnnouncements} />
      </Card>
      <Card
        title="Task By Type"
        isWide
        links={
          <>
            <AllLink list={listTargets.socialTasks} label="See social ones" text="Social" />
            <AllLink list={listTargets.dailyTasks} label="See daily ones" text="Daily" />
          </>
        }
      >
        <Rows rows={taskTypes.map(({ type, label }) => ({ label, value: metrics.tasksByType[type] ?? 0 }))} />
      </Card>
    </div>
  )
}

interface CardProps {
  title: string
  /** Links to the lists behind the figures. */
  links: ReactNode
  isWide?: boolean
  children: ReactNode
}

function Card({ title, links, isWide = false, children }: CardProps) {
  const id = useId()
  return (
    <section className={classes['cell']} aria-labelledby={id} data-wide={isWide || undefined}>
      <header>
        <h2 id={id}>{title}</h2>
        {links}
      </header>
      {children}
    </section>
  )
}

function Figure({ value }: { value: number }) {
  return <p className={classes['figure']}>{formatted(value)}</p>
}

function Rows({ rows }: { rows: { label: string; value: number }[] }) {
  return (
    <dl className={classes['rows']}>
      {rows.map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{formatted(value)}</dd>
        </div>
      ))}
    </dl>
  )
}
