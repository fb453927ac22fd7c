/** The list of backups that were made or tried, in the table `backups`. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { type Act, audit } from '#src/audit/audit.ts'
import type { Database } from '#src/db/database.ts'
import { type Manifest, rowsOf, sizeOf } from './manifest.ts'
import type { Place } from './place.ts'

interface Run {
  /** Who asked for it. */
  act: Act
  database: Pick<Database, 'db'>
  place: Place
  isScheduled: boolean
}

/** Lists a backup while `make` makes it, and how that ended. */
export async function recordRun(
  { act, database: { db }, place, isScheduled }: Run,
  make: () => Promise<Manifest>,
): Promise<Manifest> {
  const id = randomUUID()
  const change = (values: object) => db.updateTable('backups').set(values).where('id', '=', id).execute()
  await db.insertInto('backups').values({ id, place: place.address, is_scheduled: isScheduled }).execute()
  try {
    const manifest = await make()
    const record = { kind: 'installation', id: 'backup', name: place.address } as const
    await audit(db, act, 'backup.create', { record, detail: { rows: rowsOf(manifest), bytes: sizeOf(manifest) } })
    await change({ finished_at: sql<Date>`now()`, rows: rowsOf(manifest), bytes: sizeOf(manifest) })
    return manifest
  } catch (error) {
    await change({ error: error instanceof Error ? error.message : String(error) })
    throw error
  }
}
