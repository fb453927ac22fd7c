/** The trash (ADR 14): its list, restoring deleted records, and purging them by hand or when they expire. */
import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { type Role, roleLabels } from '@arcade/contract/team/fields'
import { recordPermissions } from '@arcade/contract/team/records'
import { emailFieldFor } from '@arcade/contract/users/calls'
import { type Act, actOf, actOfProcess, audit } from '#src/audit/audit.ts'
import { type CallContext, Failure, type Handlers, refuseWithoutPermission, signedIn } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { isoSql } from '#src/db/moments.ts'
import type { Tables } from '#src/db/tables.ts'
import type { Files } from '#src/files/files.ts'
import { actOnMany, type BulkAct, type Done } from '#src/lists/bulk.ts'
import type { Condition } from '#src/lists/list.ts'
import { numberedPages } from '#src/lists/numbered-pages.ts'
import { whereTarget } from '#src/lists/where.ts'
import { isEmailTaken } from '#src/identity/accounts.ts'
import { findRolesAbove, refuseAbove } from '#src/identity/roles.ts'
import { conflictTexts, findConflicts, type Replacements, restoreRecords, type Trashed } from './restore.ts'
import { servedTrash } from './trash-list.ts'

interface Services {
  database: Database
  files: Files
  registrationEmailHost: string
}

export function trashHandlers({ database, files, registrationEmailHost }: Services): Handlers<typeof contract.trash> {
  const readPage = numberedPages(database, servedTrash)

  return {
    async list(query, context) {
      const { rows: records, ...page } = await readPage(query, context)
      return { records, ...page }
    },

    async restore({ id, ...replacements }, context) {
      checkEmail(replacements)
      const restoring = database.transaction(async (tx) => {
        const [record] = await lockTrashed(tx, sql`id = ${id}`)
        if (!record) throw new Failure('NOT_IN_TRASH')
        await refuseAbove(tx, record.role, signedIn(context).permissions)
        const [conflict] = await findConflicts(tx, [record], replacements)
        if (conflict) throw new Failure(conflict.code, { message: conflictTexts[conflict.code] })
        const pausedTasks = await restoreRecords(tx, { files, act: actOf(context) }, [record], replacements)
        return { success: true, kind: record.kind, recordId: record.recordId, pausedTasks } as const
      })
      return restoring.catch((cause: unknown) => {
        if (!isEmailTaken(cause)) throw cause
        throw new Failure('EMAIL_TAKEN', { cause })
      })
    },

    restoreMany: ({ target, dryRun, expected }, context) =>
      restoreMany(context, { dryRun, expected }, whereTarget(servedTrash, target, context)),

    async restoreAct({ actId }, context) {
      const done = await restoreMany(context, { dryRun: false, expected: undefined }, sql`act_id = ${actId}`)
      if (done.affected === 0 && done.refused === 0) throw new Failure('NOT_IN_TRASH')
      return done
    },

    async purge({ target, dryRun, expected }, context) {
      const summary = await actOnMany(database, context, { dryRun, expected }, async (tx) => {
        const chosen = await lockTrashed(tx, whereTarget(servedTrash, target, context))
        const { allowed, refusals } = await apartFromAbove(tx, chosen, { verb: 'purge', context })
        await purge(tx, { files, act: actOf(context) }, allowed)
        return { rows: named(allowed), refusals }
      })
      if (!dryRun) files.sweepSoon()
      return summary
    },
  }

  /** Leaves records whose priority or e-mail is taken. If another transaction takes one meanwhile, a constraint fails the whole act. */
  async function restoreMany(context: CallContext, how: BulkAct, where: Condition) {
    let pausedTasks = 0
    const summary = await actOnMany(database, context, how, async (tx) => {
      const locked = await lockTrashed(tx, where)
      for (const { kind } of locked) refuseWithoutPermission(['trash.manage', recordPermissions[kind].write], signedIn(context))
      const { allowed: chosen, refusals: above } = await apartFromAbove(tx, locked, { verb: 'restore', context })
      const conflicts = new Map((await findConflicts(tx, chosen)).map(({ id, code }) => [id, code]))
      const free = chosen.filter(({ id }) => !conflicts.has(id))
      pausedTasks = await restoreRecords(tx, { files, act: actOf(context) }, free)
      const refusals = chosen.flatMap(({ id, name }) => {
        const code = conflicts.get(id)
        return code ? [{ id, title: name, reason: conflictTexts[code], code }] : []
      })
      return { rows: named(free), refusals: [...above, ...refusals] }
    })
    return { ...summary, pausedTasks }
  }

  /** Checks the e-mail rule of §5, which depends on the configuration. */
  function checkEmail({ email }: Replacements): void {
    const problem =
      email === undefined ? undefined : emailFieldFor(registrationEmailHost).safeParse(email).error?.issues[0]?.message
    if (problem !== undefined) throw new Failure('INVALID_INPUT', { message: problem, fields: { email: problem } })
  }
}

/** A record in the trash that a person chose. */
interface Chosen extends Trashed {
  /** The role that a deleted user had; null for a user without one, and for other records. */
  role: Role | null
}

/** Sets users apart to whom the caller may do nothing, because their role may do more. */
async function apartFromAbove(
  tx: Transaction<Tables>,
  chosen: Chosen[],
  { verb, context }: { verb: 'restore' | 'purge'; context: CallContext },
) {
  const above = await findRolesAbove(tx, signedIn(context).permissions)
  const isAbove = ({ role }: Chosen): boolean => role !== null && above.includes(role)
  const refusals = chosen.filter(isAbove).map(({ id, name, role }) => {
    const reason = `Your role may not ${verb} a person with the role ${roleLabels[role!]}.`
    return { id, title: name, reason, code: 'FORBIDDEN' as const }
  })
  return { allowed: chosen.filter((record) => !isAbove(record)), refusals }
}

/** Locks records in the order of their ids. Of two acts on one record, the second sees the result of the first. */
async function lockTrashed(tx: Transaction<Tables>, where: RawBuilder<boolean>): Promise<Chosen[]> {
  const { rows } = await sql<Chosen>`
    select id, kind, record_id as "recordId", name,
           case when kind = 'user' and content #>> '{row,user_type}' = 'admin' then coalesce(content #>> '{row,role}', 'owner') end as role
      from trash where ${where} and expires_at > now() order by id for update`.execute(tx)
  return rows
}

function named(records: Trashed[]): Done['rows'] {
  return records.map(({ id, name }) => ({ id, title: name }))
}

/** Deletes locked records and the notes on them for good. The next sweep removes their files. */
async function purge(tx: Transaction<Tables>, { files, act }: { files: Files; act: Act }, records: Trashed[]): Promise<void> {
  if (records.length === 0) return
  const { rows } = await sql<Trashed & { deletedAt: string; actId: string; keys: (string | null)[] }>`
    delete from trash where id = any(${records.map(({ id }) => id)})
    returning id, kind, record_id as "recordId", name, ${sql.raw(isoSql('deleted_at'))} as "deletedAt", act_id as "actId",
      array[content #>> '{row,image_key}', content #>> '{row,icon_key}'] as keys`.execute(tx)
  await files.purge(
    tx,
    rows.flatMap(({ keys }) => keys.filter((key) => key !== null)),
  )
  await purgeNotes(tx, rows)
  const entries = rows.map(({ kind, recordId, name, deletedAt, actId }) => ({
    record: { kind, id: recordId, name },
    changes: { deletedAt: [deletedAt, null] } as const,
    detail: { deletedBy: actId },
  }))
  await audit(tx, act, 'trash.purge', entries)
}

/** Deletes the notes on purged items, unless the item is there again or was deleted again: an import may have brought it back. */
async function purgeNotes(tx: Transaction<Tables>, purged: readonly Trashed[]): Promise<void> {
  const items = purged.filter(({ kind }) => kind !== 'user')
  await sql`
    delete from notes using unnest(${items.map(({ kind }) => kind)}::text[], ${items.map(({ recordId }) => recordId)}::text[]) as gone (kind, id)
     where notes.kind = gone.kind and record_id = gone.id
       and not exists (select from trash where trash.kind = gone.kind and trash.record_id = gone.id)
       and not exists (select from announcements where gone.kind = 'announcement' and announcements.id = gone.id)
       and not exists (select from tasks where tasks.id = gone.id and gone.kind = collection || 'Task')`.execute(tx)
}

/** Records purged in one transaction. */
const PURGED_AT_ONCE = 1000

/** Purges expired records; a background task. Several servers can run it at once, because each skips records that another has locked. */
export async function purgeExpired({ database, files }: Pick<Services, 'database' | 'files'>): Promise<void> {
  const act = actOfProcess('system', 'Purge of the trash')
  for (;;) {
    const purged = await database.transaction(async (tx) => {
      const { rows } = await sql<Trashed>`
        select id, kind, record_id as "recordId", name from trash where expires_at <= now()
         order by expires_at limit ${sql.lit(PURGED_AT_ONCE)} for update skip locked`.execute(tx)
      await purge(tx, { files, act }, rows)
      return rows.length
    })
    if (purged < PURGED_AT_ONCE) return
  }
}
