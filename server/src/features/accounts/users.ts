/** Manage Users (§2, §5, §6, §7): the list without oneself, names, roles, adding, removing, the download. */
import { type Kysely, sql, type Transaction } from 'kysely'
import { type DashboardUser, USERS_PAGE_SIZE } from '@arcade/contract/accounts'
import type { contract } from '@arcade/contract/contract'
import { defaultFileNames } from '@arcade/contract/download'
import { audit } from '#src/audit.ts'
import { type CallContext, Failure, type Handlers, signedIn } from '#src/calls.ts'
import { addToCounter, counterSql, readCounters } from '#src/db/counters.ts'
import type { Database } from '#src/db/database.ts'
import { constraintOf } from '#src/db/errors.ts'
import type { Tables } from '#src/db/tables.ts'
import type { Downloads } from '#src/download.ts'
import { hashPassword } from '#src/passwords.ts'
import type { Sessions } from '#src/sessions.ts'
import type { Column } from '#src/spreadsheet.ts'
import { changeUserType, checkRegistration, createAccount } from './accounts.ts'

export interface UsersServices {
  database: Database
  sessions: Sessions
  registrationEmailHost: string
}

const shown = ['id', 'fname', 'lname', 'email', 'user_type as userType', 'version'] as const

export function usersHandlers(services: UsersServices): Handlers<typeof contract.users> {
  const { database, sessions, registrationEmailHost } = services
  const { db } = database
  // One statement for the page and the number of all users.
  const findPage = database.prepared<DashboardUser & { all: number }>(
    'users-page',
    `select id, fname, lname, email, user_type as "userType", version, ${counterSql("'users:user'")} + ${counterSql("'users:admin'")} as "all"
       from users where id <> $1 order by created_at, id limit $2 offset $3`,
  )

  /** Runs `change` on a user and makes every process forget what it cached of them. */
  const changing = async <T>(id: string, change: (tx: Transaction<Tables>) => Promise<T>): Promise<T> => {
    const result = await database.transaction(async (tx) => {
      const changed = await change(tx)
      await sessions.announceChange(tx, id)
      return changed
    })
    sessions.changed(id)
    return result
  }

  return {
    async list({ page }, context) {
      const rows = await findPage([signedIn(context).id, USERS_PAGE_SIZE, (page - 1) * USERS_PAGE_SIZE])
      const total = Math.max(0, (rows[0]?.all ?? (await countUsers(db))) - 1)
      const pageCount = Math.max(1, Math.ceil(total / USERS_PAGE_SIZE))
      const users = rows.map(({ all: _all, ...user }) => user)
      return { users, page, pageSize: USERS_PAGE_SIZE, pageCount, total }
    },

    get: ({ id }) => findUser(db, id),

    async update({ id, fname, lname, version }, context) {
      const user = await changing(id, async (tx) => {
        const before = await findUser(tx, id, 'lock')
        if (version !== undefined && before.version !== version) throw new Failure('STALE')
        await audit(tx, context, {
          action: 'user.update',
          target: id,
          detail: { from: { fname: before.fname, lname: before.lname } },
        })
        return tx
          .updateTable('users')
          .set({ fname, lname, version: sql`version + 1` })
          .where('id', '=', id)
          .returning(shown)
          .executeTakeFirstOrThrow()
      })
      return { success: true, user }
    },

    async setUserType({ id, userType }, context) {
      refuseSelf(id, context)
      const user = await changing(id, async (tx) => {
        const admins = await lockAdmins(tx)
        const before = await findUser(tx, id, 'lock')
        if (before.userType === userType) return before
        if (userType === 'user') refuseLastAdmin(id, admins)
        await changeUserType(tx, id, userType)
        await sessions.endAllOf(tx, id)
        await audit(tx, context, { action: 'user.role', target: id, detail: { from: before.userType, to: userType } })
        return findUser(tx, id)
      })
      return { success: true, user }
    },

    async create(input, context) {
      checkRegistration(input, registrationEmailHost)
      const passwordHash = await hashPassword(input.password)
      const adding = database.transaction(async (tx) => {
        const user = await createAccount(tx, { ...input, passwordHash, userType: 'user' })
        await audit(tx, context, { action: 'user.create', target: user.id })
        return user
      })
      const { id } = await adding.catch((cause: unknown) => {
        // An admin sees the list of users anyway, so they may be told; a guest who registers is not (security.md).
        if (!constraintOf(cause)?.endsWith('_email_key')) throw cause
        throw new Failure('CREATE_USER_FAILED', { fields: { email: 'This email is in use already' }, cause })
      })
      return { status: 'success', message: 'User Added Successfuly!', id } // sic, §8
    },

    async remove({ id }, context) {
      refuseSelf(id, context)
      await changing(id, async (tx) => {
        const admins = await lockAdmins(tx)
        const { userType } = await findUser(tx, id, 'lock')
        refuseLastAdmin(id, admins)
        await sessions.endAllOf(tx, id)
        await tx.deleteFrom('users').where('id', '=', id).execute()
        await tx.deleteFrom('accounts').where('id', '=', id).execute()
        await addToCounter(tx, { name: `users:${userType}`, delta: -1 })
        await audit(tx, context, { action: 'user.remove', target: id })
      })
      return { status: 'success', message: 'User Removed Successfully!' }
    },
  }
}

interface UserRow {
  fname: string
  lname: string
  email: string
  user_type: string
  created_at: Date
}

const columns: Column<UserRow>[] = [
  { header: 'First Name', width: 20, kind: 'text', value: (user) => user.fname },
  { header: 'Last Name', width: 20, kind: 'text', value: (user) => user.lname },
  { header: 'Email', width: 32, kind: 'text', value: (user) => user.email },
  { header: 'User Type', width: 12, kind: 'text', value: (user) => user.user_type },
  { header: 'Created At', width: 20, kind: 'date', value: (user) => user.created_at },
]

/** GET /downloadUsersData: all dashboard users. */
export function usersDownload({ downloads }: { downloads: Downloads }): Handlers<typeof contract.downloads>['users'] {
  return ({ exportId }, context) =>
    downloads.start<UserRow>({
      context,
      exportId,
      target: 'users',
      fileName: defaultFileNames.users,
      sheetName: 'Users',
      async open(snapshot) {
        const [counted] = await snapshot.query<{ total: number }>('select count(*) as total from users')
        const query = 'select fname, lname, email, user_type, created_at from users order by created_at, id'
        return { columns, total: counted?.total ?? 0, rows: { sql: query } }
      },
    })
}

async function countUsers(db: Kysely<Tables>): Promise<number> {
  const counters = await readCounters(db, ['users:user', 'users:admin'])
  return (counters['users:user'] ?? 0) + (counters['users:admin'] ?? 0)
}

async function findUser(db: Kysely<Tables>, id: string, lock?: 'lock'): Promise<DashboardUser> {
  const query = db.selectFrom('users').select(shown).where('id', '=', id)
  const user = await (lock ? query.forUpdate() : query).executeTakeFirst()
  if (!user) throw new Failure('NO_SUCH_USER')
  return user
}

function refuseSelf(id: string, context: CallContext): void {
  if (signedIn(context).id === id) throw new Failure('NOT_YOURSELF')
}

/** Locks the admins' rows in one order, so that of two simultaneous removals the second sees the first's outcome. */
async function lockAdmins(tx: Transaction<Tables>): Promise<string[]> {
  const rows = await tx.selectFrom('users').select('id').where('user_type', '=', 'admin').orderBy('id').forUpdate().execute()
  return rows.map(({ id }) => id)
}

function refuseLastAdmin(id: string, admins: string[]): void {
  if (admins.length === 1 && admins[0] === id) throw new Failure('LAST_ADMIN')
}
