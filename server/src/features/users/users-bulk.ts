/** Removes many users at once, but never oneself and never the last admin, even when two admins remove each other (docs/security.md). */
import { sql, type Transaction } from 'kysely'
import type { UsersFilter } from '@arcade/contract/users/fields'
import { BULK_NAMED_ROWS, type BulkOutput, type Target } from '@arcade/contract/bulk'
import { errorCatalogue } from '@arcade/contract/errors'
import { type Role, roleLabels } from '@arcade/contract/team/fields'
import { actOf, auditRowsSql } from '#src/audit/audit.ts'
import { aToZSql, idOrderSql } from '#src/db/collations.ts'
import { actOnMany, type Done } from '#src/lists/bulk.ts'
import type { Condition } from '#src/lists/list.ts'
import { whereTarget } from '#src/lists/where.ts'
import { type CallContext, signedIn } from '#src/calls.ts'
import { addToCounter } from '#src/counters/counters.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { removedUserSql } from '#src/identity/accounts.ts'
import { endInvitationsFor } from '#src/identity/invitations.ts'
import { keptRows } from '#src/identity/kept-with-person.ts'
import { findRolesAbove, lockAdmins, roleThatCountsOf } from '#src/identity/roles.ts'
import type { Sessions } from '#src/identity/sessions.ts'
import type { Trash } from '#src/audit/trash.ts'
import { servedUsers } from './users-list.ts'

interface Removal {
  target: Target<UsersFilter>
  dryRun: boolean
  expected: number | undefined
}

interface Services {
  database: Database
  sessions: Sessions
  trash: Trash
}

export async function removeUsers(
  { database, sessions, trash }: Services,
  context: CallContext,
  { target, dryRun, expected }: Removal,
): Promise<BulkOutput> {
  const self = signedIn(context)
  const summary = await actOnMany(database, context, { dryRun, expected }, async (tx) => {
    const admins = await lockAdmins(tx, context)
    const targeted = whereTarget(servedUsers, target, context)
    const above = await findRolesAbove(tx, self.permissions)
    const { rows: refused } = await sql<{ id: string; email: string; role: Role | null }>`
      select id, email, ${roleThatCountsOf()} as role from users
       where ${targeted} and (id = ${self.id} or id = ${lastOwner()} or ${roleThatCountsOf()} = any(${above}))`.execute(tx)
    const removable = sql<boolean>`${targeted} and id <> all(${refused.map(({ id }) => id)})`
    const refusals = refused.map(({ id, email, role }) => ({ id, title: email, reason: reasonFor(id, role) }))
    const done = dryRun ? await count() : await remove()
    return { ...done, refusals }

    /** Returns the owner who must stay, unless the caller is an owner, who stays anyway. */
    function lastOwner(): string | null {
      const owners = admins.filter(({ role }) => role === 'owner')
      return owners.some(({ id }) => id === self.id) ? null : (owners[0]?.id ?? null)
    }

    function reasonFor(id: string, role: Role | null): string {
      if (id === self.id) return errorCatalogue.NOT_YOURSELF.message
      if (role !== null && above.includes(role)) return `Your role may not remove a person with the role ${roleLabels[role]}.`
      return errorCatalogue[admins.length === 1 ? 'LAST_ADMIN' : 'LAST_OWNER'].message
    }

    async function count(): Promise<Done> {
      const { rows } = await sql<{ id: string; title: string; affected: number }>`
        select id, email as title, count(*) over () as affected from users where ${removable}
         order by ${BY_EMAIL} limit ${BULK_NAMED_ROWS}`.execute(tx)
      return { rows: rows.map(({ id, title }) => ({ id, title })), affected: rows[0]?.affected ?? 0 }
    }

    async function remove(): Promise<Done> {
      const removed = await moveUsersToTrash(tx, context, { trash, where: removable })
      const left = await tx.selectFrom('users').select('id').where('user_type', '=', 'admin').execute()
      const withoutRights = admins.map(({ id }) => id).filter((id) => !left.some((admin) => admin.id === id))
      await sessions.announceManyChanges(tx, withoutRights)
      return removed
    }
  })
  if (!dryRun) sessions.forgetUser()
  return summary
}

const BY_EMAIL = sql.raw(`${aToZSql('email')}, ${idOrderSql('id')}`)

/** Moves users and their accounts to the trash, which ends their sessions. Updates the counters and writes audit entries. */
export async function moveUsersToTrash(
  tx: Transaction<Tables>,
  context: CallContext,
  { trash, where }: { trash: Trash; where: Condition },
): Promise<Done> {
  const act = actOf(context)
  await endInvitationsFor(tx, where)
  // Locks the account before its sessions, as a change of the password does, so that the two cannot deadlock.
  const { rows } = await sql<{ type: 'admin' | 'user'; affected: number; some: { id: string; title: string }[] }>`
    with gone as (delete from users where ${where} returning *),
    gone_accounts as (delete from accounts using gone where accounts.id = gone.id returning accounts.*),
    trashed as (${trash.insert(act, trashedUsers)}),
    audited as (${auditRowsSql(act, 'user.remove', removedUsers)})
    select user_type as type, count(*) as affected,
           to_json((array_agg(json_build_object('id', id, 'title', email) order by ${BY_EMAIL}))[1:${sql.lit(BULK_NAMED_ROWS)}]) as some
      from gone group by user_type order by user_type`.execute(tx)
  for (const { type: userType, affected } of rows)
    await addToCounter(tx, { counter: { of: 'users', userType }, delta: -affected })
  return { rows: rows.flatMap(({ some }) => some), affected: rows.reduce((sum, { affected }) => sum + affected, 0) }
}

/**
 * The users that a statement has removed as `gone` and `gone_accounts`, as rows for the trash. These include what a restore needs and the
 * statement still sees: the rows kept with a person, private and default views, and the names of shared views that the user owns.
 */
const trashedUsers = sql`
  select 'user' as kind, gone.id as record_id, fname || ' ' || lname as name,
         jsonb_build_object(
           'row', to_jsonb(gone) - 'searched_text',
           'account', to_jsonb(gone_accounts),
           ${keptRows},
           'views', (select coalesce(jsonb_agg(to_jsonb(saved_views)), '[]') from saved_views where private_to = gone.id),
           'sharedViews', (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'name', name)), '[]')
                             from saved_views where owner_id = gone.id and private_to is null),
           'defaultViews', (select coalesce(jsonb_agg(to_jsonb(default_views)), '[]') from default_views where user_id = gone.id)) as content
    from gone left join gone_accounts on gone_accounts.id = gone.id`

/** The users that a statement has removed as `gone`, as rows for the audit. */
const removedUsers = sql`
  select 'user' as record_kind, id as record_id, fname || ' ' || lname as record_name, ${removedUserSql} as changes, null::json as detail from gone`
