/** The dashboard (§2): the game's figures for admins, a placeholder for everybody else. */
import type { DashboardMetrics } from '@arcade/contract/metrics'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useId } from 'react'
import { api } from '#src/client.ts'
import { useSession } from '#src/session.tsx'
import { Page, Panel, Problem } from '#src/ui/page.tsx'
import classes from './dashboard-page.module.css'

export function DashboardPage() {
  return useSession().user?.userType === 'admin' ? <AdminDashboard /> : <UserDashboard />
}

function UserDashboard() {
  return (
    <Page title="User Dashboard">
      <Panel>Your account has no access to the management of the game. An admin can change that.</Panel>
    </Page>
  )
}

const taskTypes = [
  { type: 'instagram', label: 'Instagram' },
  { type: 'youtube', label: 'Youtube' },
  { type: 'moreLink', label: 'Website' },
  { type: 'twitter', label: 'Twitter' },
  { type: 'telegram', label: 'Telegram' },
] as const satisfies { type: keyof DashboardMetrics['tasksByType']; label: string }[]

function AdminDashboard() {
  const { data, isError, refetch } = useQuery(api.metrics.get.queryOptions())
  return (
    <Page title="Admin Dashboard">
      {data ? (
        <Metrics metrics={data} />
      ) : isError ? (
        <Panel>
          <Problem message="Error calculating metrics" onRetry={() => void refetch()} />
        </Panel>
      ) : (
        <output>Loading...</output>
      )}
    </Page>
  )
}

function Metrics({ metrics }: { metrics: DashboardMetrics }) {
  return (
    <div className={classes['cards']}>
      <Card title="Total Users">
        <Figure value={metrics.totalUsers} />
      </Card>
      <Card title="User Type">
        <Rows
          rows={[
            { label: 'Users', value: metrics.userTypes.user },
            { label: 'Admins', value: metrics.userTypes.admin },
          ]}
        />
      </Card>
      <Card title="Telegram Users">
        <Figure value={metrics.totalTelegramUsers} />
      </Card>
      <Card title="Active Announcements">
        <Figure value={metrics.activeAnnouncements} />
      </Card>
      <Card title="Task By Type" isWide>
        <Rows rows={taskTypes.map(({ type, label }) => ({ label, value: metrics.tasksByType[type] ?? 0 }))} />
      </Card>
    </div>
  )
}

function Card({ title, isWide = false, children }: { title: string; isWide?: boolean; children: ReactNode }) {
  const id = useId()
  return (
    <section className={classes['card']} aria-labelledby={id} data-wide={isWide || undefined}>
      <h2 id={id}>{title}</h2>
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

function formatted(value: number): string {
  return value.toLocaleString('en-US')
}
