/** Manage Users searched, filtered, sorted (§2), and removing many users at once: never oneself, never the last admin. */
import { describe, expect, test } from 'vitest'
import { sql } from 'kysely'
import { auditTrail } from '#test/audit-trail.ts'
import { addCount } from '#test/activity.ts'
import { type Client, type TestApp, testApp } from '#test/test-app.ts'
import { compareAToZ } from '#test/a-to-z.ts'

type User = { id: string; fname: string; lname: string; email: string; userType: 'admin' | 'user' }

/** Equal names in several spellings, and equal times. */
const users: User[] = Array.from({ length: 130 }, (_, index) => ({
  id: `u${String((index * 37) % 130).padStart(3, '0')}`,
  fname: ['Anna', 'anna', 'Виктор', 'O_Neil', 'Zoë'][index % 5]!,
  lname: ['Nowak', 'Kaya', 'nowak', '100%'][index % 4]!,
  email: `User${index}@gmail.com`,
  userType: index % 13 === 0 ? 'admin' : 'user',
}))
const createdAt = (index: number) => new Date(Date.UTC(2026, 0, 1 + Math.floor(index / 3))).toISOString()

async function store({ database }: TestApp): Promise<void> {
  await database.db
    .insertInto('users')
    .values(users.map(({ userType, ...user }, index) => ({ ...user, user_type: userType, created_at: createdAt(index) })))
    .execute()
  for (const userType of ['admin', 'user'] as const)
    await addCount(database, { of: 'users', userType }, users.filter((user) => user.userType === userType).length)
}

const keys: Record<string, (user: User, index: number) => string> = {
  created: (_, index) => createdAt(index),
  'first-name': ({ fname }) => fname,
  'last-name': ({ lname }) => lname,
  email: ({ email }) => email,
}

function expected({ search = '', userType }: { search?: string; userType?: string }, sort: string, reversed: boolean): string[] {
  const term = search.toLowerCase()
  const ids = users
    .map((user, index) => ({ ...user, key: keys[sort]!(user, index) }))
    .filter((user) => userType === undefined || user.userType === userType)
    .filter(({ fname, lname, email }) => {
      const text = ` ${fname} ${lname} ${email}`.toLowerCase()
      return /^[\w.]{1,2}$/.test(term) ? text.includes(` ${term}`) || text.includes(`@${term}`) : text.includes(term)
    })
    .toSorted((a, b) => compareAToZ(a.key, b.key) || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id)
  return reversed ? ids.toReversed() : ids
}

describe('Lists: users', () => {
  test('Lists: every filter in every order, forwards and reversed, with its exact total', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin', 'self@gmail.com')
    await store(app)
    const filters = [
      {},
      { userType: 'admin' },
      { userType: 'user' },
      { search: 'ANNA' },
      { search: 'вик' },
      { search: 'o_n' },
      { search: '00%' },
      { search: 'ka' },
      { search: 'user12' },
      { search: 'anna nowak', userType: 'user' },
      { search: 'nobody' },
    ]
    for (const filter of filters) {
      for (const sort of Object.keys(keys)) {
        for (const reversed of [false, true]) {
          const ids = expected(filter, sort, reversed)
          const read: string[] = []
          for (let page = 1; page <= Math.ceil(ids.length / 50) || page === 1; page += 1) {
            const query = new URLSearchParams({ ...filter, sort, reversed: String(reversed), page: String(page) }).toString()
            const { body } = await admin.call('GET', `/api/users?${query}`)
            expect(body, query).toMatchObject({ total: ids.length, pageCount: Math.max(1, Math.ceil(ids.length / 50)) })
            read.push(...body.users.map((user: User) => user.id))
          }
          expect(read, JSON.stringify({ filter, sort, reversed })).toEqual(ids)
        }
      }
    }
    expect((await admin.call('GET', '/api/users?search=self%40gmail')).body.total).toBe(0)
  })

  test('Lists: the users of a role have an exact total', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await store(app)
    const of = users.filter(({ userType }) => userType === 'admin').slice(0, 2)
    const ids = of.map(({ id }) => id)
    await app.database.db.updateTable('users').set({ role: 'analyst' }).where('id', 'in', ids).execute()
    for (const query of ['role=analyst', 'role=analyst&userType=admin'])
      expect((await admin.call('GET', `/api/users?${query}`)).body, query).toMatchObject({ total: 2, pageCount: 1 })
    expect((await admin.call('GET', '/api/users?role=editor')).body).toMatchObject({ total: 0, users: [] })
  })

  test('Lists: a search with very many results has an exact total too', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await sql`insert into users (id, fname, lname, email, user_type) select 'm' || n, 'Many', 'M', 'm' || n || '@gmail.com', 'user'
      from generate_series(1, 10100) n`.execute(app.database.db)
    const { body } = await admin.call('GET', '/api/users?search=many&sort=email&page=203')
    expect(body).toMatchObject({ total: 10_100, pageCount: 202, users: [] })
    expect((await admin.call('GET', '/api/users?search=many&sort=email&reversed=true')).body.users[0].id).toBe('m9999') // @ sorts before 9
  })
})

describe('Bulk: users', () => {
  const remove = (client: Client, body: object) => client.call('POST', '/api/users/remove', body)
  const left = async ({ database: { db } }: TestApp) => (await db.selectFrom('users').select('id').execute()).length

  test('Bulk: a dry run reports what would change, and the act changes it: rows, accounts, sessions, counters, audit', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const people = [await app.signUp('user'), await app.signUp('user'), await app.signUp('admin')]
    const target = { ids: [...people.map(({ id }) => id), admin.id, 'nobody'] }
    const dry = await remove(admin, { target, dryRun: true })
    expect(dry.body).toMatchObject({ success: true, affected: 3, refused: 1 })
    expect(dry.body.named.map(({ id }: { id: string }) => id)).toEqual(people.map(({ id }) => id))
    expect(dry.body.refusals[0]).toMatchObject({ id: admin.id, reason: expect.stringContaining('yourself') })
    expect(await left(app)).toBe(4)
    expect(await people[0]!.call('GET', '/api/session')).toMatchObject({ body: { user: { id: people[0]!.id } } })

    expect((await remove(admin, { target, expected: 3 })).body).toEqual(dry.body)
    expect(await left(app)).toBe(1)
    for (const person of people) expect((await person.call('GET', '/api/session')).body.user).toBeNull()
    const { db } = app.database
    expect(await db.selectFrom('accounts').select('id').execute()).toEqual([{ id: admin.id }])
    expect((await admin.call('GET', '/api/metrics')).body).toMatchObject({ totalUsers: 1, userTypes: { admin: 1, user: 0 } })
    const entries = await auditTrail(db, 'user.remove')
    expect(new Set(entries.map(({ recordId }) => recordId))).toEqual(new Set(people.map(({ id }) => id)))
    expect(new Set(entries.map(({ actId, actorId }) => `${actId} ${actorId}`)).size, 'one act').toBe(1)
  })

  test('Bulk: what a filter matches; a number other than expected is refused and nothing is done', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await store(app)
    const target = { filter: { search: 'anna', userType: 'user' } }
    const count = expected(target.filter, 'created', false).length
    expect(await remove(admin, { target, expected: count + 1 })).toMatchObject({ status: 409, body: { code: 'STALE' } })
    expect(await left(app)).toBe(131)
    expect((await remove(admin, { target, expected: count })).body).toMatchObject({ affected: count, refused: 0 })
    expect(await left(app)).toBe(131 - count)
    expect((await remove(admin, { target: { filter: {} } })).body).toMatchObject({ affected: 130 - count, refused: 0 })
    expect(await left(app)).toBe(1)
  })

  test('Bulk: one of two admins who remove each other at once stays', async () => {
    const app = await testApp()
    for (let round = 0; round < 5; round += 1) {
      await app.database.db.deleteFrom('users').execute()
      const admins = await Promise.all(Array.from({ length: 20 }, () => app.signUp('admin')))
      const target = { ids: admins.map(({ id }) => id) }
      const answers = await Promise.all(admins.map((admin) => remove(admin, { target })))
      for (const { status } of answers) expect([200, 401, 403]).toContain(status)
      expect((await app.database.db.selectFrom('users').select('id').where('user_type', '=', 'admin').execute()).length).toBe(1)
    }
  })

  test('Bulk: bad targets are refused with 400', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    for (const target of [
      undefined,
      {},
      { ids: [] },
      { ids: [1] },
      { ids: ['a'], filter: {} },
      { filter: { id: 'x' } },
      { filter: null },
    ]) {
      expect((await remove(admin, { target })).status, JSON.stringify(target)).toBe(400)
    }
    expect((await remove(admin, { target: { ids: Array.from({ length: 10_001 }, (_, n) => `u${n}`) } })).status).toBe(400)
  })
})
