/** Manage Users as a list (§2, §6, §7): searched, filtered and sorted, 50 a page by their number, and as a spreadsheet. */
import { type RawBuilder, sql } from 'kysely'
import { type DashboardUser, userList, type UsersFilter, type UsersSort, userTypes } from '@arcade/contract/entities/user'
import type { contract } from '@arcade/contract/contract'
import { defaultFileNames } from '@arcade/contract/download'
import { type Target, targetCondition } from '#src/lists/bulk.ts'
import { type CallContext, type Handlers, signedIn } from '#src/calls.ts'
import { counterSql, readCounters } from '#src/db/counters.ts'
import type { Database } from '#src/db/database.ts'
import type { DownloadAnswer, Downloads } from '#src/sheets/download.ts'
import { searchTerm } from '#src/lists/search.ts'
import type { Column } from '#src/sheets/spreadsheet.ts'

/** That many are counted and sorted at once; of more than that a page is found by walking along the order. */
const MAX_HITS = 10_000

const [PAGE_SIZE] = userList.pageSizes

/** ISO texts in UTC, as `Date.toISOString` writes them. */
const FIELDS = `id, fname, lname, email, user_type as "userType", version,
  to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"`

const keys: Record<UsersSort, string> = {
  created: 'created_at',
  'first-name': 'lower(fname)',
  'last-name': 'lower(lname)',
  email: 'lower(email)',
}

/** All users of a filter but the one who looks (§6). */
export function usersCondition({ search, userType }: UsersFilter, selfId: string): RawBuilder<boolean> {
  const term = searchTerm(search)
  return and([isOther(selfId), ...ofType(userType), ...(term ? [term.isMatch] : [])])
}

export function usersList(database: Database): Handlers<typeof contract.users>['list'] {
  const { db } = database
  // One statement for the page and the number of all users.
  const findPage = database.prepared<DashboardUser & { all: number }>(
    'users-page',
    `select ${FIELDS}, ${counterSql({ of: 'users', userType: 'user' })} + ${counterSql({ of: 'users', userType: 'admin' })} as "all"
       from users where id <> $1 order by created_at, id limit $2 offset $3`,
  )

  return async ({ page, sort, reversed, ...filter }, context) => {
    const self = signedIn(context)
    const offset = (page - 1) * PAGE_SIZE
    const answer = (users: DashboardUser[], total: number) => {
      const pageCount = Math.max(1, Math.ceil(total / PAGE_SIZE))
      return { users, page, pageSize: PAGE_SIZE, pageCount, total }
    }
    const term = searchTerm(filter.search)
    if (!term && filter.userType === undefined && sort === 'created' && !reversed) {
      const rows = await findPage([self.id, PAGE_SIZE, offset])
      return answer(
        rows.map(({ all: _all, ...user }) => user),
        Math.max(0, (rows[0]?.all ?? (await countUsers(filter))) - 1),
      )
    }

    const others = and([isOther(self.id), ...ofType(filter.userType)])
    const direction = sql.raw(reversed ? 'desc' : 'asc')
    const order = sql`order by ${sql.raw(keys[sort])} ${direction}, id ${direction} limit ${PAGE_SIZE} offset ${offset}`
    const fields = sql.raw(FIELDS)
    if (!term) {
      const [{ rows }, all] = await Promise.all([
        sql<DashboardUser>`select ${fields} from users where ${others} ${order}`.execute(db),
        countUsers(filter),
      ])
      const isCounted = filter.userType === undefined || filter.userType === self.userType
      return answer(rows, Math.max(0, all - (isCounted ? 1 : 0)))
    }
    const found = sql`from users where ${term.found} and ${others}`
    const few = await countRows(sql`(select ${found} limit ${sql.lit(MAX_HITS + 1)})`)
    if (few <= MAX_HITS) {
      const hits = sql`(select id, fname, lname, email, user_type, version, created_at ${found} offset 0) as hits`
      const { rows } = await sql<DashboardUser>`select ${fields} from ${hits} ${order}`.execute(db)
      return answer(rows, few)
    }
    const isMatch = sql`from users where ${term.isMatch} and ${others}`
    const [{ rows }, total] = await Promise.all([
      sql<DashboardUser>`select ${fields} ${isMatch} ${order}`.execute(db),
      countRows(sql`(select ${isMatch})`),
    ])
    return answer(rows, total)
  }

  async function countRows(rows: RawBuilder<unknown>): Promise<number> {
    const counted = await sql<{ total: number }>`select count(*) as total from ${rows} as counted`.execute(db)
    return counted.rows[0]?.total ?? 0
  }

  async function countUsers({ userType }: UsersFilter): Promise<number> {
    const counted = userType === undefined ? userTypes : [userType]
    const counters = counted.map((type) => ({ of: 'users', userType: type }) as const)
    return (await readCounters(db, counters)).reduce((sum, value) => sum + value, 0)
  }
}

function isOther(selfId: string): RawBuilder<boolean> {
  return sql`id <> ${selfId}`
}

function ofType(userType: UsersFilter['userType']): RawBuilder<boolean>[] {
  return userType === undefined ? [] : [sql`user_type = ${userType}`]
}

function and(conditions: RawBuilder<boolean>[]): RawBuilder<boolean> {
  return sql<boolean>`${sql.join(conditions, sql` and `)}`
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

/** POST /api/exports: picked users, or those of a filter as the list shows them. */
export function usersSelection({ database, downloads }: { database: Database; downloads: Downloads }) {
  return (
    { target, exportId }: { target: Target<UsersFilter>; exportId?: string | undefined },
    context: CallContext,
  ): Promise<DownloadAnswer> =>
    downloads.selection<UserRow>({
      context,
      exportId,
      target: 'users',
      selection: target,
      fileName: defaultFileNames.users,
      sheetName: 'Users',
      columns,
      from: sql`users where ${targetCondition(target, (filter) => usersCondition(filter, signedIn(context).id))}`.compile(
        database.db,
      ),
      fields: 'fname, lname, email, user_type, created_at',
      orderBy: 'created_at, id',
    })
}
