/** Writes imported users. Every server forgets its cached copy of a changed user; a user whose role changed must sign in again. */
import { sql, type Transaction } from 'kysely'
import { errorCatalogue } from '@arcade/contract/errors'
import type { Role } from '@arcade/contract/team/fields'
import type { UserType } from '@arcade/contract/users/fields'
import { addDelta, addToCounters, type Deltas } from '#src/counters/counters.ts'
import { lower } from '#src/db/collations.ts'
import { userEntity } from '#src/db/entities.ts'
import type { Tables } from '#src/db/tables.ts'
import { roleThatCountsOf } from '#src/identity/roles.ts'
import type { Sessions } from '#src/identity/sessions.ts'
import { type Columns, importedColumns, importedUsers } from './import-rows.ts'
import { settleUnique } from './import-unique.ts'
import { createdNow, type Writer } from './import-write.ts'
import { type Table, upsert } from './upsert.ts'

const users: Table = {
  name: userEntity.table,
  key: ['id'],
  columns: importedColumns(importedUsers),
  defaults: createdNow,
  hasVersion: true,
}

/** Makes the writer of users. */
export function usersWriter(sessions: Sessions): Writer {
  return async (tx, rows) => {
    // The calls of the Manage Users page lock the admins first, too.
    const admins = await sql<{ id: string }>`select id from users where user_type = 'admin' order by id for update`.execute(tx)
    await sql`lock table users in share row exclusive mode`.execute(tx)
    const candidates = await readCandidates(tx, rows)
    const existing = await findExisting(tx, candidates)
    const before = new Map(existing.map((user) => [user.id, user]))
    // An admin without a role keeps the present one; the admins of an older game are owners.
    for (const { id, type, row } of candidates)
      row['role'] = type === 'admin' ? (row['role'] ?? before.get(id)?.role ?? 'owner') : null

    const adminIds = admins.rows.map(({ id }) => id)
    const rejected = refuseUsers(candidates, { existing, adminIds })
    const written = candidates.filter(({ row }) => !rejected.has(row))
    const { added, changed } = await upsert(
      tx,
      users,
      written.map(({ row }) => row),
    )
    const now = new Map(written.map(({ id, type, row }) => [id, { type, role: row['role'] }]))
    const deltas: Deltas = new Map()
    const addUsers = (userType: UserType | undefined, by: number): void => {
      if (userType !== undefined) addDelta(deltas, { of: 'users', userType }, by)
    }
    for (const { id } of added) addUsers(now.get(String(id))?.type, 1)
    for (const key of changed) {
      const id = String(key['id'])
      if (before.get(id)?.role === now.get(id)?.role) {
        await sessions.announceChange(tx, id)
        continue
      }
      addUsers(before.get(id)?.type, -1)
      addUsers(now.get(id)?.type, 1)
      await sessions.endAllOf(tx, id)
    }
    await addToCounters(tx, deltas)
    return { loaded: added.length + changed.length, added: added.length, rejected }
  }
}

/** A user of the file, and the e-mail address by which the database compares users. */
interface Candidate {
  id: string
  key: string
  type: UserType
  row: Columns
}

interface ExistingUser extends Omit<Candidate, 'row'> {
  role: Role | null
}

async function readCandidates(tx: Transaction<Tables>, rows: readonly Columns[]): Promise<Candidate[]> {
  const emails = rows.map((row) => row['email'])
  const { rows: keys } = await sql<{ key: string }>`
    select ${lower(sql.ref('email'))} as key from unnest(${emails}::text[]) with ordinality as imported (email, n) order by n`.execute(
    tx,
  )
  return rows.map((row, index) => ({
    id: String(row['id']),
    key: keys[index]?.key ?? '',
    type: row['user_type'] as UserType,
    row,
  }))
}

/** Returns the users of the console with an id or an e-mail address of the file. */
async function findExisting(tx: Transaction<Tables>, candidates: readonly Candidate[]): Promise<ExistingUser[]> {
  const { rows } = await sql<ExistingUser>`
    select id, ${lower(sql.ref('email'))} as key, user_type as type, ${roleThatCountsOf()} as role from users
    where id = any(${candidates.map(({ id }) => id)}) or ${lower(sql.ref('email'))} = any(${candidates.map(({ key }) => key)})`.execute(
    tx,
  )
  return rows
}

/** Returns the refused rows with their reasons: of e-mail addresses that belong to others, and of a demotion after which no admin is left. */
function refuseUsers(
  candidates: readonly Candidate[],
  { existing, adminIds }: { existing: readonly ExistingUser[]; adminIds: readonly string[] },
): Map<Columns, string> {
  const rejected = new Map<Columns, string>()
  const accepted = () => candidates.filter(({ row }) => !rejected.has(row))
  const refuseTakenEmails = (): void => {
    for (const { row } of settleUnique(accepted(), existing)) rejected.set(row, 'This e-mail address belongs to another user')
  }
  refuseTakenEmails()
  const typeBefore = new Map(existing.map(({ id, type }) => [id, type]))
  const isDemoted = new Set(accepted().flatMap(({ id, type }) => (type === 'user' && typeBefore.get(id) === 'admin' ? id : [])))
  const isAdminLeft = adminIds.some((id) => !isDemoted.has(id)) || accepted().some(({ type }) => type === 'admin')
  const kept = accepted().find(({ id }) => isDemoted.has(id))
  if (!isAdminLeft && kept) {
    rejected.set(kept.row, errorCatalogue.LAST_ADMIN.message)
    refuseTakenEmails()
  }
  return rejected
}
