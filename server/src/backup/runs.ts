/** The list of backups, successful or failed, in the table `backups`: how far each is, how it ended, and what became of it. */
import { randomUUID } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { type Act, audit, type AuditRecord } from '#src/audit/audit.ts'
import { idOrderSql } from '#src/db/collations.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { isDiskFull, StartError } from '#src/postgres/errors.ts'
import { DamagedError, type Manifest, rowsOf, sizeOf } from './manifest.ts'
import { openBelow, type Place } from './place.ts'
import type { Progress, Watch } from './watch.ts'

/** The error of a backup whose server ended before it was finished, and of one whose command did. */
export const CUT_OFF = 'The server that made it ended meanwhile.'
const COMMAND_CUT_OFF = 'The command that made it ended meanwhile.'
/** The error of a backup that an admin cancelled. */
const CANCELLED = 'It was cancelled.'
/** Milliseconds between two polls of a run: its progress is written, and whether it was cancelled is read. */
const POLL_MS = 1000

/** The values of a backup with which nothing is being done. */
const idle = { step: null, percent: null, done_bytes: null }
/** The values of a backup whose verification begins. */
const verifying = { step: 'parts', percent: 0, done_bytes: 0 }

interface NewRun {
  place: Place
  /** Who asked for it: the schedule, a command, or an admin in the console. */
  by: 'schedule' | 'command' | { userId: string }
}

/** Adds a backup to the list and returns its id. The caller has the turn and calls `recordMaking` next. */
export async function beginRun(db: Kysely<Tables>, { place, by }: NewRun): Promise<string> {
  const id = randomUUID()
  const console = typeof by === 'object' ? { is_of_console: true, made_by: by.userId } : {}
  await db
    .insertInto('backups')
    .values({ id, place: place.address, is_scheduled: by === 'schedule', step: 'tables', percent: 0, done_bytes: 0, ...console })
    .execute()
  return id
}

/** Marks a backup as being verified. The caller has the turn and calls `recordVerifying` next. */
export async function beginVerifying(db: Kysely<Tables>, id: string): Promise<void> {
  await change(db, id, { ...verifying, cancelled_at: null, verify_error: null })
}

interface Run {
  id: string
  database: Pick<Database, 'db'>
  /** Ends the work. */
  signal: AbortSignal
}

/**
 * Records how a backup is made and how that ends.
 * @param act the act that asked for it
 * @param isVerifiedNext whether the caller calls `recordVerifying` next
 */
export async function recordMaking(
  run: Run & { database: Pick<Database, 'transaction'>; act: Act; place: Place; isVerifiedNext: boolean },
  make: (watch: Watch) => Promise<Manifest>,
): Promise<Manifest> {
  const { id, act, place, database, isVerifiedNext } = run
  try {
    const manifest = await withPolling(run, make)
    const [rows, bytes] = [rowsOf(manifest), sizeOf(manifest)]
    await database.transaction(async (tx) => {
      await audit(tx, act, 'backup.create', { record: backupRecord(place.address), detail: { rows, bytes } })
      await change(tx, id, {
        ...(isVerifiedNext ? verifying : idle),
        finished_at: sql<Date>`now()`,
        rows,
        bytes,
        error: null,
        cancelled_at: null,
      })
    })
    return manifest
  } catch (error) {
    await recordFailure(database.db, id, { error: messageOf(error) })
    throw error
  }
}

/**
 * Records how a backup is verified and how that ends.
 * @param isPartOfRun whether a backup that cannot be verified counts as failed, as a scheduled one does
 */
export async function recordVerifying(
  run: Run & { isPartOfRun: boolean },
  verify: (watch: Watch) => Promise<unknown>,
): Promise<void> {
  const {
    id,
    database: { db },
    isPartOfRun,
  } = run
  try {
    await withPolling(run, verify)
    await change(db, id, { ...idle, verified_at: sql<Date>`now()`, error: null, verify_error: null, cancelled_at: null })
  } catch (error) {
    const reason = messageOf(error)
    if (error instanceof DamagedError) await recordFailure(db, id, { verified_at: null, error: reason })
    else await recordFailure(db, id, isPartOfRun ? { error: reason } : { verify_error: reason })
    throw error
  }
}

/** Returns the audit record of a backup. @param address the address of its place */
export function backupRecord(address: string): AuditRecord {
  return { kind: 'installation', id: 'backup', name: address }
}

/** Runs the work, writes its progress each second, and ends it when an admin has cancelled it. */
async function withPolling<T>({ id, database: { db }, signal }: Run, work: (watch: Watch) => Promise<T>): Promise<T> {
  const cancelling = new AbortController()
  let now: Progress | undefined
  const poll = async (): Promise<void> => {
    const row = await db.selectFrom('backups').select('cancelled_at').where('id', '=', id).executeTakeFirst()
    if (row?.cancelled_at) cancelling.abort(new StartError(CANCELLED))
    else if (now) await change(db, id, { step: now.step, percent: now.percent, done_bytes: now.bytes })
  }
  let polling: Promise<void> | undefined
  const timer = setInterval(() => {
    polling ??= poll()
      .catch(() => undefined) // the work itself notices a database that is gone or full
      .finally(() => (polling = undefined))
  }, POLL_MS)
  try {
    return await work({ signal: AbortSignal.any([signal, cancelling.signal]), report: (progress) => (now = progress) })
  } finally {
    clearInterval(timer)
    await polling
  }
}

/** Records a failure. If that fails too, such as without a database, the first failure is still the one that is thrown. */
async function recordFailure(db: Kysely<Tables>, id: string, failure: object): Promise<void> {
  await change(db, id, { ...idle, ...failure }).catch(() => undefined)
}

async function change(db: Kysely<Tables>, id: string, values: object): Promise<void> {
  await db.updateTable('backups').set(values).where('id', '=', id).execute()
}

function messageOf(error: unknown): string {
  if (!(error instanceof StartError) && isDiskFull(error)) return 'The disk is full: free some space, and try again.'
  return error instanceof Error ? error.message : String(error)
}

/** A backup that is neither complete nor failed. One of the schedule is only complete once it is verified. */
const IS_UNMADE = sql<boolean>`(error is null and (finished_at is null or is_scheduled and verified_at is null))`
const IS_UNDER_WAY = sql<boolean>`(step is not null or ${IS_UNMADE})`

/** Whether the list shows a backup as being made or verified. */
export async function isUnderWay({ db }: Pick<Database, 'db'>): Promise<boolean> {
  return (await db.selectFrom('backups').select('id').where(IS_UNDER_WAY).limit(1).executeTakeFirst()) !== undefined
}

/** Marks what servers and commands left behind when they ended. The caller has the turn. Returns the unfinished backups. */
export async function markCutOff(db: Kysely<Tables>): Promise<{ id: string; place: string }[]> {
  const marked = await db
    .updateTable('backups')
    .set({
      ...idle,
      cancelled_at: null,
      error: sql`case when not ${IS_UNMADE} then error when is_scheduled or is_of_console then ${CUT_OFF} else ${COMMAND_CUT_OFF} end`,
      verify_error: sql`case when ${IS_UNMADE} then verify_error else 'The server that verified it ended meanwhile.' end`,
    })
    .where(IS_UNDER_WAY)
    .returning(['id', 'place', 'finished_at'])
    .execute()
  return marked.filter(({ finished_at }) => finished_at === null)
}

interface Which {
  isScheduled?: boolean
  isVerified?: boolean
  limit: number
}

/** Returns the last backups, newest first. */
export async function lastRuns({ db }: Database, { isScheduled, isVerified, limit }: Which) {
  return db
    .selectFrom('backups')
    .leftJoin('users', 'users.id', 'made_by')
    .select(['backups.id', 'place', 'is_scheduled as isScheduled', 'started_at as startedAt', 'finished_at as finishedAt'])
    .select(['verified_at as verifiedAt', 'removed_at as removedAt', 'rows', 'bytes', 'error', 'verify_error as verifyError'])
    .select(['is_of_console as isOfConsole', 'cancelled_at as cancelledAt', 'step', 'percent', 'done_bytes as doneBytes'])
    .select(sql<string | null>`users.fname || ' ' || users.lname`.as('madeBy'))
    .$if(isScheduled !== undefined, (query) => query.where('is_scheduled', '=', isScheduled ?? true))
    .$if(isVerified === true, (query) => query.where('verified_at', 'is not', null))
    .orderBy('started_at', 'desc')
    .orderBy(sql.raw(idOrderSql('backups.id')))
    .limit(limit)
    .execute()
}

/**
 * Returns the backups of a kind that are older than the last `keep` good ones of that kind, oldest first, including remains of failed ones.
 * Scheduled ones are good once they are verified, those of the console once they are made.
 * @param within the place below which they lie; backups at an earlier BACKUP_URL and those of commands are kept
 */
export async function runsToRemove(
  { db }: Database,
  { isScheduled, keep, within }: { isScheduled: boolean; keep: number; within: Place },
): Promise<{ id: string; place: Place }[]> {
  const isOfKind = isScheduled ? sql`is_scheduled` : sql`is_of_console`
  const isGood = isScheduled ? sql`verified_at is not null` : sql`finished_at is not null and error is null`
  const { rows } = await sql<{ id: string; place: string }>`
    select id, place from backups
     where ${isOfKind} and removed_at is null
       and started_at < (select started_at from backups where ${isOfKind} and ${isGood} and removed_at is null
                          order by started_at desc offset ${keep - 1} limit 1)
     order by started_at`.execute(db)
  return rows.flatMap(({ id, place: address }) => {
    const place = openBelow(within, address)
    return place ? [{ id, place }] : []
  })
}
