/** What an admin should do something about: backups, broadcasts, webhooks, mails, the disk and the replica. What can wait, or mends itself, is no alert. */
import { sql } from 'kysely'
import type { Alert } from '@arcade/contract/dashboard/calls'
import type { Permission } from '@arcade/contract/team/permissions'
import { isolated } from '@arcade/contract/text'
import type { Backups } from '#src/backup/backups.ts'
import { idOrderSql } from '#src/db/collations.ts'
import type { Database } from '#src/db/database.ts'

export interface AlertSource {
  /** Returns what people with these permissions should do something about, the most urgent first; none if all is well. */
  read(permissions: readonly Permission[]): Promise<Alert[]>
}

/** The room on the disk, until changes are refused, below which an admin should make more. */
const LITTLE_ROOM_BYTES = 1024 ** 3
/** Seconds of lag after which a replica is an alert: it catches up sooner after a burst of changes. */
const STALE_AFTER_SECONDS = 10
const MB = 1024 ** 2

/** The permission to see what an alert is about. */
const needs: Readonly<Record<Alert['about'], Permission>> = {
  backups: 'backups.manage',
  broadcast: 'broadcasts.read',
  webhook: 'webhooks.manage',
  disk: 'dashboard.read',
  replica: 'dashboard.read',
  mail: 'users.read',
}

interface Services {
  database: Database
  backups: Pick<Backups, 'state'>
}

export function createAlerts({ database, backups }: Services): AlertSource {
  return {
    async read(permissions) {
      const [disk, backup, webhooks, broadcasts, mail] = await Promise.all([
        diskAlert(database),
        backups.state(),
        webhookAlerts(database),
        broadcastAlerts(database),
        mailAlert(database),
      ])
      const found: Alert[] = []
      if (disk) found.push({ id: 'disk', about: 'disk', text: disk })
      if (backup.alert) found.push({ id: 'backups', about: 'backups', text: backup.alert })
      const replica = replicaAlert(database)
      if (replica) found.push({ id: 'replica', about: 'replica', text: replica })
      if (mail) found.push({ id: 'mail', about: 'mail', text: mail })
      return [...found, ...broadcasts, ...webhooks].filter(({ about }) => permissions.includes(needs[about]))
    },
  }
}

async function diskAlert(database: Database): Promise<string | undefined> {
  const writable = await database.writableBytes()
  if (writable < 0) return 'The disk is full: nothing can be changed until there is room again.'
  if (writable < LITTLE_ROOM_BYTES)
    return `The disk has room for only ${Math.floor(writable / MB)} MB more. Then nothing can be changed.`
  return undefined
}

function replicaAlert({ replica }: Database): string | undefined {
  const state = replica?.state()
  if (!state || state.isUsed || state.lagSeconds < STALE_AFTER_SECONDS) return undefined
  return `The replica is not used: it ${state.status}.`
}

/** Those that the console paused by itself. */
async function broadcastAlerts({ db }: Database): Promise<Alert[]> {
  const { rows } = await sql<{ id: string; title: string; problem: string }>`
    select id, title, problem from broadcasts where is_paused and problem is not null order by number`.execute(db)
  return rows.map(({ id, title, problem }) => ({
    id: `broadcast ${id}`,
    about: 'broadcast',
    text: `The broadcast ${isolated(title)} is paused: ${problem}`,
  }))
}

/** Mails that were given up in the last day, or that have failed for an hour. The text names no address. */
async function mailAlert({ db }: Database): Promise<string | undefined> {
  const { rows } = await sql<{ givenUp: number; waiting: number; result: string | null }>`
    select count(given_up_at) as "givenUp", count(next_at) as waiting,
           (array_agg(result order by coalesce(given_up_at, now()) desc))[1] as result
      from mails where given_up_at > now() - interval '1 day'
        or (next_at is not null and attempts > 0 and created_at <= now() - interval '1 hour')`.execute(db)
  const { givenUp = 0, waiting = 0, result } = rows[0] ?? {}
  if (givenUp + waiting === 0) return undefined
  const count = (mails: number): string => (mails === 1 ? '1 mail' : `${mails} mails`)
  const parts = [
    ...(waiting > 0 ? [`${count(waiting)} could not be sent for an hour`] : []),
    ...(givenUp > 0 ? [`${count(givenUp)} of the last day could not be sent at all`] : []),
  ]
  return `${parts.join(', ')}. The last attempt: ${result ?? 'none'}.`
}

interface FailingWebhook {
  id: string
  url: string
  alert: string | null
  hours: number
}

/** Those that were switched off because they failed, and those that have failed for an hour. */
async function webhookAlerts({ db }: Database): Promise<Alert[]> {
  const { rows } = await sql<FailingWebhook>`
    select id, url, alert, floor(extract(epoch from now() - failing_since) / 3600)::int as hours from webhooks
     where alert is not null or (switched_off_at is null and failing_since <= now() - interval '1 hour')
     order by alert is null, created_at, ${sql.raw(idOrderSql('id'))}`.execute(db)
  return rows.map(({ id, url, alert, hours }) => ({
    id: `webhook ${id}`,
    about: 'webhook',
    text: `The webhook to ${new URL(url).host}: ${alert ?? `It has failed for ${hours === 1 ? 'an hour' : `${hours} hours`}. After a day it is switched off.`}`,
  }))
}
