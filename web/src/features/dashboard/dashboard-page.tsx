/** The dashboard (§2): the game's figures for admins, a placeholder for everybody else. */
import type { DashboardMetrics } from '@arcade/contract/dashboard/calls'
import { taskTypeLabels } from '@arcade/contract/tasks/fields'
import { dashboardTitle } from '@arcade/contract/pages'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useId } from 'react'
import { api, reloadPage } from '#src/client.ts'
import { useSession } from '#src/session.tsx'
import { formatted } from '#src/ui/numbers.ts'
import { Page, Panel, Problem } from '#src/ui/page.tsx'
import { ActivitySkeleton, CardsSkeleton } from './activity-skeleton.tsx'
import classes from './dashboard-page.module.css'
import { AllLink, lists } from './list-link.tsx'

// If the charts' code cannot be loaded, the cards are shown without them.
const Activity = lazy(() =>
  import('./activity.tsx').then(
    (module) => ({ default: module.Activity }),
    () => ({ default: NoActivity }),
  ),
)

export function DashboardPage() {
  return useSession().user?.userType === 'admin' ? <AdminDashboard /> : <UserDashboard />
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
  return (
    <Page title={dashboardTitle('admin')}>
      <BackupAlert />
      <WebhookAlert />
      {data ? (
        <>
          <Metrics metrics={data} />
          <Suspense fallback={<ActivitySkeleton />}>
            <Activity />
          </Suspense>
        </>
      ) : isError ? (
        <Panel>
          <Problem message="Error calculating metrics" onRetry={() => void refetch()} />
        </Panel>
      ) : (
        <>
          <output>Loading...</output>
          <CardsSkeleton />
          <ActivitySkeleton />
        </>
      )}
    </Page>
  )
}

function NoActivity() {
  return (
    <Panel>
      <Problem message="The activity could not be loaded." onRetry={reloadPage} />
    </Panel>
  )
}

/** An alert if something is wrong with the backups. If their state cannot be loaded, the dashboard shows no alert. */
function BackupAlert() {
  const { data } = useQuery(api.backups.state.queryOptions())
  if (!data?.alert) return null
  return (
    <div role="alert" className={classes['alert']}>
      {data.alert} <Link to="/backups">See all backups</Link>
    </div>
  )
}

/** An alert about the first webhook that was switched off because it failed. */
function WebhookAlert() {
  const { data } = useQuery(api.webhooks.list.queryOptions())
  const off = data?.webhooks.find(({ alert }) => alert !== null)
  if (!off) return null
  return (
    <div role="alert" className={classes['alert']}>
      {`The webhook to ${new URL(off.url).host}: ${off.alert}`} <Link to="/webhooks">See all webhooks</Link>
    </div>
  )
}

function Metrics({ metrics }: { metrics: DashboardMetrics }) {
  return (
    <div className={classes['cards']}>
      <Card title="Total Users" links={<AllLink list={lists.users} label="See all users" />}>
        <Figure value={metrics.totalUsers} />
      </Card>
      <Card title="User Type" links={<AllLink list={lists.admins} label="See all admins" />}>
        <Rows
          rows={[
            { label: 'Users', value: metrics.userTypes.user },
            { label: 'Admins', value: metrics.userTypes.admin },
          ]}
        />
      </Card>
      <Card title="Telegram Users" links={<AllLink list={lists.players} label="See all players" />}>
        <Figure value={metrics.totalTelegramUsers} />
      </Card>
      <Card title="Active Announcements" links={<AllLink list={lists.activeAnnouncements} label="See what is active" />}>
        <Figure value={metrics.activeAnnouncements} />
      </Card>
      <Card
        title="Task By Type"
        isWide
        links={
          <>
            <AllLink list={lists.socialTasks} label="See social ones" text="Social" />
            <AllLink list={lists.dailyTasks} label="See daily ones" text="Daily" />
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
    <section className={classes['card']} aria-labelledby={id} data-wide={isWide || undefined}>
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
