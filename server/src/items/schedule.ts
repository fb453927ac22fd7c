/**
 * Starts and ends tasks and announcements at the moments set for them (design §7), in the order of the moments, on any server. Each start
 * or end is a transaction that also clears its mark (`start_pending`, `end_pending`): so it happens once, however often servers are killed
 * and however the clock is set. What fell into a stop is caught up. After a restore it waits for `resume`. This module hides the timer.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Logger } from 'pino'
import type { HistoryKind } from '@arcade/contract/history/fields'
import { actOfProcess, audit } from '#src/audit/audit.ts'
import { queueEvent } from '#src/audit/outbox.ts'
import type { Database } from '#src/db/database.ts'
import { findPause } from '#src/db/scheduled-work.ts'
import type { Tables } from '#src/db/tables.ts'
import { tryTakeLock } from '#src/db/transaction-locks.ts'
import { isItem, itemRecord, itemTable } from './item-rows.ts'
import { raiseNews } from './news.ts'
import { SCHEDULE_CHANNEL } from './schedule-notice.ts'

/** The longest time until a server polls again: a notification may be lost, and the database's clock may be set. */
const POLL_MS = 30_000
/** The time until a server polls again while another one acts, or after a failure. */
const RETRY_MS = 1_000

export interface Schedule {
  /** Begins to act at the moments, and when dates are changed. */
  start(): Promise<void>
  /** Acts on all that is due. @returns the milliseconds until the next poll */
  runDue(): Promise<number>
  /** Ends the timer and waits for the act under way. */
  stop(): Promise<void>
}

export function createSchedule({ database, log }: { database: Database; log: Logger }): Schedule {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let mustPollAgain = false
  let isStopped = false

  async function runDue(): Promise<number> {
    for (;;) {
      const [first] = await findNext(database.db)
      if (!first || first.inMs > 0) return Math.min(POLL_MS, Math.ceil(first?.inMs ?? POLL_MS))
      const result = await database.transaction(actOnFirst)
      if (result === 'paused') return POLL_MS
      if (result === 'locked') return RETRY_MS
      if (isStopped) return POLL_MS
    }
  }

  function poll(): void {
    if (isStopped) return
    if (running) {
      mustPollAgain = true
      return
    }
    clearTimeout(timer)
    mustPollAgain = false
    running = runDue()
      .catch((error: unknown) => {
        log.warn({ err: error }, 'Starts and ends of items failed and will be tried again')
        return RETRY_MS
      })
      .then((delayMs) => {
        running = undefined
        if (isStopped) return
        timer = setTimeout(poll, mustPollAgain ? 0 : delayMs).unref()
      })
  }

  return {
    runDue,
    async start() {
      await database.listen(SCHEDULE_CHANNEL, poll, poll)
      poll()
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}

/** A start or end that is to come, or is due. */
interface ScheduledEdge {
  kind: HistoryKind
  id: string
  edge: Edge
  inMs: number
}

type Edge = 'start' | 'end'

const columns = {
  start: { at: 'starts_at', pending: 'start_pending' },
  end: { at: 'ends_at', pending: 'end_pending' },
} as const

/** The first start or end that has not happened yet; of simultaneous ones, ends come after starts. */
async function findNext(db: Kysely<Tables>): Promise<ScheduledEdge[]> {
  const { rows } = await sql<ScheduledEdge>`
    select kind, id, edge, (extract(epoch from at - clock_timestamp()) * 1000)::float8 as "inMs" from (
      ${nextOf(sql`'announcement'`, 'announcements', 'start')} union all ${nextOf(sql`'announcement'`, 'announcements', 'end')}
      union all ${nextOf(sql`collection`, 'tasks', 'start')} union all ${nextOf(sql`collection`, 'tasks', 'end')}) as next
     order by at, edge desc, kind, id limit 1`.execute(db)
  return rows
}

function nextOf(kind: ReturnType<typeof sql>, table: 'announcements' | 'tasks', edge: Edge) {
  const { at, pending } = columns[edge]
  return sql`(select ${kind}::text as kind, id, ${sql.lit(edge)}::text as edge, ${sql.ref(at)} as at from ${sql.table(table)}
    where ${sql.ref(pending)} and ${sql.ref(at)} is not null order by ${sql.ref(at)}, id limit 1)`
}

/** Acts on the first start or end that is due, unless another server is acting, or work is paused. */
async function actOnFirst(tx: Transaction<Tables>): Promise<'done' | 'locked' | 'paused'> {
  if (await findPause(tx)) return 'paused'
  if (!(await tryTakeLock(tx, 'schedule'))) return 'locked'
  const [next] = await findNext(tx)
  if (next && next.inMs <= 0) await startOrEndItem(tx, next)
  return 'done'
}

interface Row {
  title: string
  /** Whether players see the announcement; null for a task. */
  status: boolean | null
  /** Whether the end has come as well. */
  isOver: boolean
}

/** Does nothing if an operator has changed the date just now. */
async function startOrEndItem(tx: Transaction<Tables>, { kind, id, edge }: ScheduledEdge): Promise<void> {
  const key = { kind, id }
  const { at, pending } = columns[edge]
  const { rows } = await sql<Row>`
    select title, ${kind === 'announcement' ? sql`status` : sql`null::boolean`} as status, coalesce(ends_at <= clock_timestamp(), false) as "isOver"
      from ${itemTable(kind)} where ${isItem(key)} and ${sql.ref(pending)} and ${sql.ref(at)} <= clock_timestamp() for update`.execute(
    tx,
  )
  const [item] = rows
  if (!item) return
  const record = itemRecord(key, item.title)
  const act = actOfProcess('system', 'Schedule')
  const action = edge === 'start' ? 'item.start' : 'item.end'
  const isShown = edge === 'start'
  // An announcement that is over by now is not shown: that would be news of something that nobody can claim.
  const isSwitched = item.status === !isShown && !(isShown && item.isOver)
  if (!isSwitched) {
    await sql`update ${itemTable(kind)} set ${sql.ref(pending)} = false where ${isItem(key)}`.execute(tx)
    await audit(tx, act, action, { record })
    return
  }
  const { rows: switched } = await sql<{ version: number }>`
    update announcements set ${sql.ref(pending)} = false, status = ${isShown}, version = version + 1 where id = ${id} returning version`.execute(
    tx,
  )
  if (isShown) await raiseNews(tx, [id])
  await audit(tx, act, isShown ? 'announcement.activate' : 'announcement.deactivate', {
    record,
    changes: { status: [!isShown, isShown] },
    detail: { version: switched[0]!.version },
  })
  await queueEvent(tx, action, [record])
}
