/**
 * A page of 50 users out of 10,000, with session check and total, against the bare limit, with 10 connections: all 200 pages in turn for
 * ten admins, 2,000 different questions, because each admin's list leaves out the admin themselves. The first page stands beside them: for
 * one admin, whose reads are shared (ADR 11), and for ten.
 */
import { sql } from 'kysely'
import { counterSql } from '../server/src/counters/counters.ts'
import { addCount } from '../server/test/activity.ts'
import { measure, reportRate, reportTail, ROUND_SECONDS, show, startBare, startBenchServer, stopProcess } from './measuring.ts'

const RATIO_BUDGET = 0.6
const USERS = 10_000
const PAGES = USERS / 50
const load = { connections: 10, seconds: ROUND_SECONDS }

const server = await startBenchServer()
await sql`insert into users (id, fname, lname, email, user_type, created_at)
  select 'u' || n, 'First' || n, 'Last' || n, 'u' || n || '@gmail.com', 'user', now() - n * interval '1 second'
    from generate_series(1, ${sql.lit(USERS)}) n`.execute(server.database.db)
await addCount(server.database, { of: 'users', userType: 'user' }, USERS)
await sql`analyze`.execute(server.database.db)

const userCount = (['user', 'admin'] as const).map((userType) => counterSql({ of: 'users', userType })).join(' + ')
const bare = await startBare(
  server,
  `select id, fname, lname, email, user_type as "userType", version, ${userCount} as "all"
     from users where id <> $1 order by created_at, id limit 50 offset $2`,
  Array.from({ length: PAGES }, (_, page) => ['none', page * 50]),
)
const limit = await measure({ ...load, url: bare.url })
const url = `${server.url}/api/users`
const ours = await measure({ ...load, url, headers: { cookie: server.admin.cookie } })
const people = Array.from({ length: load.connections }, (_, index) => `bench${index}@gmail.com`)
const cookies = await Promise.all(
  people.map(async (email) => {
    const { token } = await server.addPerson({ fname: 'Bench', lname: 'Admin', email, userType: 'admin' })
    return { cookie: `session=${token}` }
  }),
)
const apart = await measure({ ...load, url, headers: cookies })
const pages = Array.from({ length: PAGES }, (_, index) => `${url}?page=${index + 1}`)
const different = await measure({ ...load, url: pages, headers: cookies })
show('node:http and the prepared statement', limit)
show('GET /api/users, one admin', ours)
show('GET /api/users, ten admins', apart)
show('GET /api/users?page=…, ten admins', different)
reportRate('50 rows, different pages', { ours: different, limit, atLeast: RATIO_BUDGET })
reportTail('50 rows, different pages', different, limit)
reportRate('50 rows, the first page for one admin, a shared read', { ours, limit })
reportRate('50 rows, the first page for ten admins', { ours: apart, limit })
await stopProcess(bare.child)
await server.stop()
