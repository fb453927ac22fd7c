/** The list of backups, successful or failed, in the table `backups`. */
import { randomUUID } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { type Act, audit } from '#src/audit/audit.ts'
import { idOrderSql } from '#src/db/collations.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { type Manifest, rowsOf, sizeOf } from './manifest.ts'
import type { Place } from './place.ts'

interface Run {
  /** The act that asked for the backup. */
  act: Act
  database: Pick<Database, 'db'>
  place: Place
  isScheduled: boolean
}

interface Steps {
  make: () => Promise<Manifest>
  verify?: () => Promise<unknown>
}

/** Records a backup while it is being made and verified, and how it ended. */
export async function recordRun({ act, database: { db }, place, isScheduled }: Run, { make, verify }: Steps): Promise<Manifest> {
  const id = randomUUID()
  const change = (values: object) => db.updateTable('backups').set(values).where('id', '=', id).execute()
  await db.insertInto('backups').values({ id, place: place.address, is_scheduled: isScheduled }).execute()
  try {
    const manifest = await make()
    const record = { kind: 'installation', id: 'backup', name: place.address } as const
    await audit(db, act, 'backup.create', { record, detail: { rows: rowsOf(manifest), bytes: sizeOf(manifest) } })
    await change({ finished_at: sql<Date>`now()`, rows: rowsOf(manifest), bytes: sizeOf(manifest) })
    if (verify) {
      await verify()
      await change({ verified_at: sql<Date>`now()` })
    }
    return manifest
  } catch (error) {
    await change({ error: error instanceof Error ? error.message : String(error) })
    throw error
  }
}

/** The error of a backup whose server ended before it was finished. */
export const CUT_OFF = 'The server that made it ended meanwhile.'

/** Marks as failed the backups that no server is working on any more. */
export async function markCutOff(db: Kysely<Tables>): Promise<void> {
  await db
    .updateTable('backups')
    .set({ error: CUT_OFF })
    .where('is_scheduled', '=', true)
    .where('verified_at', 'is', null)
    .where('error', 'is', null)
    .execute()
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
    .select(['id', 'place', 'is_scheduled as isScheduled', 'started_at as startedAt', 'finished_at as finishedAt'])
    .select(['verified_at as verifiedAt', 'removed_at as removedAt', 'rows', 'bytes', 'error'])
    .$if(isScheduled !== undefined, (query) => query.where('is_scheduled', '=', isScheduled ?? true))
    .$if(isVerified === true, (query) => query.where('verified_at', 'is not', null))
    .orderBy('started_at', 'desc')
    .orderBy(sql.raw(idOrderSql('id')))
    .limit(limit)
    .execute()
}

/**
 * Returns the scheduled backups that are older than the last `keep` verified ones, oldest first, including remains of failed ones.
 * @param below the address below which they lie; backups at an earlier BACKUP_URL are kept
 */
export async function runsToRemove(
  { db }: Database,
  { keep, below }: { keep: number; below: string },
): Promise<{ id: string; place: string }[]> {
  const { rows } = await sql<{ id: string; place: string }>`
    select id, place from backups
     where is_scheduled and removed_at is null and starts_with(place, ${`${below}/`})
       and started_at < (select started_at from backups where is_scheduled and verified_at is not null and removed_at is null
                          order by started_at desc offset ${keep - 1} limit 1)
     order by started_at`.execute(db)
  return rows
}
