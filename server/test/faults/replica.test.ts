/** Reads from a replica (ADR 17): clients see their own changes, and no request fails if the replica lags, dies, hangs or is promoted. */
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { contract } from '@arcade/contract/contract'
import { listRoutes } from '#src/http/routes.ts'
import { addCount } from '#test/activity.ts'
import { waitFor } from '#test/processes.ts'
import { type ReplicatedPostgres, startReplicatedPostgres } from '#test/replicated-postgres.ts'
import { rounds } from '#test/size.ts'
import { type Client, type TestAnswer, type TestApp, testApp } from '#test/test-app.ts'
import { testDatabase } from '#test/test-database.ts'
import { onServer, withDatabase } from '#test/test-server.ts'
import { type Database, openDatabase } from '#src/db/database.ts'
import { allowReplica } from '#src/db/reads.ts'
import { giveBalances } from '#test/players.ts'

let postgres: ReplicatedPostgres
let database: Database
let app: TestApp
let priorities = 0

beforeAll(async () => {
  postgres = await startReplicatedPostgres()
  database = await open({})
  app = await testApp({ database, metricsToken: TOKEN })
})
afterAll(async () => {
  await database.close()
  await postgres.stop()
})

const TOKEN = 'a-secret-for-metrics'

function open(options: { replicaUrl?: string }): Promise<Database> {
  const { primary, replica } = postgres
  const log = pino({ level: 'silent' })
  return openDatabase({ dataDir: '', url: primary.url, replicaUrl: replica.url, log, use: 'server', ...options })
}

type Browser = Pick<Client, 'call'>

/** A signed-in browser that keeps the `position` cookie. `through` lets it call another server, with the same cookies. */
async function browser(on = app): Promise<Browser & { through: (server: TestApp) => Browser }> {
  const { headers } = await on.signUp('admin')
  let position = ''
  const through = (server: TestApp): Browser => ({
    async call(method, path, body) {
      const answer = await server.guest.call(method, path, body, { cookie: `${headers['cookie']}${position}` })
      const cookie = answer.headers.getSetCookie().find((text) => text.startsWith('position='))
      if (cookie) position = `; ${cookie.split(';')[0]}`
      return answer
    },
  })
  return { ...through(on), through }
}

const onReplica = (statement: string) => onServer(postgres.replica.adminUrl, (run) => run(statement))
const status = () => database.replica!.state().status
const inUse = (by = database) => waitFor('the replica to be in use', () => by.replica!.state().status === 'in use')
const answered = () => database.replica!.state().answered

async function createTask(by: Pick<Client, 'call'>): Promise<string> {
  priorities += 1
  const title = `task ${priorities}`
  const answer = await by.call('POST', '/api/social-tasks', { type: 'twitter', title, priority: priorities, reward: 1 })
  expect(answer.status, answer.body.message).toBe(200)
  return title
}

const titles = ({ body }: TestAnswer) => (body.tasks as { title: string }[]).map(({ title }) => title)

/** Reads the list of tasks without a pause. Returns a function that stops it and returns the failures and the longest time of a request. */
function askAllTheTime(by: Pick<Client, 'call'>) {
  let isOver = false
  onTestFinished(() => void (isOver = true))
  let slowestMs = 0
  const problems: unknown[] = []
  const asking = (async () => {
    while (!isOver) {
      const startedAt = performance.now()
      const answer = await by.call('GET', '/api/social-tasks')
      slowestMs = Math.max(slowestMs, performance.now() - startedAt)
      if (answer.status !== 200) problems.push(answer.body)
    }
  })()
  return async () => {
    isOver = true
    await asking
    return { problems, slowestMs }
  }
}

describe('Replica', () => {
  test('a replica answers lists, counts, figures and exports, but no call that changes something or prepares a change', async () => {
    const admin = await browser()
    await createTask(admin)
    await inUse()
    const { adminUrl } = postgres.replica
    const reads = listRoutes(contract).filter(({ meta }) => meta.mayBeSecondOld)
    expect(reads.map(({ name }) => name).toSorted()).toEqual(Object.keys(samples).toSorted())
    await seedRows()
    for (const { name, method } of reads) {
      for (const [path, body] of samples[name]!) {
        const before = answered()
        const answer = await waitFor(`${path} to be answered by the replica`, async () => {
          const received = await (await app.signUp('admin')).call(method, path, body)
          expect(received.status, `${path}: ${received.body?.message}`).toBe(200)
          return answered() > before && received
        })
        expect(answer.headers.getSetCookie().filter((cookie) => cookie.startsWith('position='))).toEqual([])
      }
    }
    expect(database.replica!.state().failed, 'statements that a replica refuses').toBe(0)
    const before = answered()
    for (const path of ['/api/session', '/api/views?list=users', '/api/account/sessions', '/api/backups', '/api/events'])
      await (await app.signUp('admin')).call('GET', path)
    await createTask(admin)
    expect(answered()).toBe(before)
    await onServer(withDatabase(adminUrl, 'console'), async (run) => {
      await expect(run('create table written (id int)')).rejects.toThrow('read-only')
    })
  })

  test('a client that has written through one server sees its change at once through another', async () => {
    const second = await open({})
    onTestFinished(() => second.close())
    const other = await testApp({ database: second })
    const admin = await browser()
    await inUse()
    await inUse(second)
    await onReplica('select pg_wal_replay_pause()')
    onTestFinished(async () => void (await onReplica('select pg_wal_replay_resume()')))
    const title = await createTask(admin)
    expect(titles(await admin.through(other).call('GET', '/api/social-tasks'))).toContain(title)
    const changed = await createTask(admin.through(other))
    expect(titles(await admin.call('GET', '/api/social-tasks'))).toContain(changed)
  })

  test('a client sees its own change at once; others may see it up to a second later', async () => {
    const [admin, other] = [await browser(), await browser()]
    await inUse()
    await onReplica('select pg_wal_replay_pause()')
    onTestFinished(async () => void (await onReplica('select pg_wal_replay_resume()')))
    const title = await createTask(admin)
    expect(titles(await admin.call('GET', '/api/social-tasks'))).toContain(title)
    expect((await admin.call('POST', '/api/exports', exportOf('socialTasks'))).headers.get('x-row-count')).toBe(
      String(await countTasks()),
    )
    await expect.poll(async () => titles(await other.call('GET', '/api/social-tasks'))).toContain(title)
    expect(status()).toBe('is too far behind')
    await onReplica('select pg_wal_replay_resume()')
    await inUse()
    const before = answered()
    expect(titles(await other.call('GET', '/api/social-tasks'))).toContain(title)
    expect(answered()).toBeGreaterThan(before)
  })

  test('requests with a position that the replica has not reached, or an invalid one, are answered by the primary', async () => {
    const { headers } = await app.signUp('admin')
    await inUse()
    for (const position of ['FFFFFFFF/FFFFFFFF', 'x', '', '1/2/3', '0'.repeat(5000)]) {
      const before = answered()
      const cookie = `${headers['cookie']}; position=${position}`
      expect((await app.guest.call('GET', '/api/social-tasks', undefined, { cookie })).status).toBe(200)
      expect(answered(), position).toBe(before)
    }
  })

  test('shared reads: while others read without a pause, a client still reads what it has just saved', async () => {
    const [admin, ...others] = await Promise.all(Array.from({ length: 5 }, () => browser()))
    await inUse()
    const ends = others.map(askAllTheTime)
    for (let round = 0; round < rounds(30, 2000); round += 1) {
      const title = await createTask(admin!)
      const found = await admin!.call('GET', '/api/social-tasks?sort=priority&reversed=true')
      expect(titles(found)).toContain(title)
    }
    for (const end of ends) expect((await end()).problems).toEqual([])
  })

  test('a read that the replica cancels because it conflicts with replay runs again on the primary, unless rows were sent', async () => {
    await database.db.schema.createTable('in_the_way').addColumn('id', 'integer').execute()
    await sql`insert into in_the_way select generate_series(1, 5000)`.execute(database.db)
    /** Locks the table exclusively. The replica replays this lock and cancels statements that read the table. */
    const cancelReaders = async () => {
      await sql`alter table in_the_way alter column id set default 1`.execute(database.db)
      await replayed()
    }
    await replayed()
    await inUse()
    let times = 0
    const read = allowReplica(undefined, () =>
      database.reads.snapshot(
        async (snapshot) => {
          times += 1
          const [row] = await snapshot.query('select pg_is_in_recovery() as "isReplica", count(*) from in_the_way')
          if (times === 1) await cancelReaders()
          await snapshot.query('select count(*) from in_the_way')
          return row
        },
        async (row) => row,
      ),
    )
    expect(await read).toEqual({ isReplica: false, count: 5000 })
    expect(times).toBe(2)
    await inUse()
    let isInTheWay = false
    const broken = allowReplica(undefined, () =>
      database.reads.snapshot(
        async (snapshot) => snapshot.copy('select id from generate_series(1, 100000), in_the_way'), // too much to end before the lock
        async (rows) => {
          for await (const _ of rows) {
            if (!isInTheWay) await cancelReaders()
            isInTheWay = true
          }
        },
      ),
    )
    await expect(broken).rejects.toThrow(/conflict with recovery|Connection terminated|connection error/)
    expect(isInTheWay).toBe(true)
  })

  test('when a replica is killed, no request fails, and it is used again once it is back', async () => {
    const [admin, other] = [await browser(), await browser()]
    await inUse()
    const ends = [askAllTheTime(admin), askAllTheTime(other)]
    await postgres.replica.signal('SIGKILL')
    await waitFor('the server to notice', () => status() !== 'in use')
    const ready = await app.guest.call('GET', '/readyz')
    expect(ready).toMatchObject({
      status: 200,
      body: { status: 'ready', replica: expect.stringMatching(/is gone|cannot be reached/) as string },
    })
    await createTask(admin)
    await postgres.replica.start()
    await inUse()
    for (const end of ends) expect((await end()).problems).toEqual([])
    expect((await app.guest.call('GET', '/readyz')).body).toEqual({ status: 'ready', replica: 'in use' })
  })

  test('when a replica hangs, requests and exports wait only briefly, and it is used again once it answers', async () => {
    const [admin, other] = [await browser(), await browser()]
    await inUse()
    const ends = [askAllTheTime(admin), askAllTheTime(other)]
    let begun = 0
    const exporting = allowReplica(undefined, () =>
      database.reads.snapshot(
        async (snapshot) => {
          begun += 1
          if (begun === 1) await postgres.replica.signal('SIGSTOP')
          return snapshot.query<{ isReplica: boolean }>('select pg_is_in_recovery() as "isReplica"')
        },
        async ([row]) => row,
      ),
    )
    onTestFinished(() => postgres.replica.signal('SIGCONT'))
    expect(await exporting).toEqual({ isReplica: false })
    expect(status()).toMatch(/does not answer|cannot be reached/)
    await postgres.replica.signal('SIGCONT')
    await inUse()
    for (const end of ends) {
      const { problems, slowestMs } = await end()
      expect(problems).toEqual([])
      expect(slowestMs, 'less than the time limit of a statement').toBeLessThan(20_000)
    }
  })

  test('the metrics show the state of the replica', async () => {
    await inUse()
    const { body } = await app.guest.call('GET', '/metrics', undefined, { authorization: `Bearer ${TOKEN}` })
    const text = Buffer.from(body).toString()
    expect(text).toContain('arcade_replica_used 1')
    expect(text).toMatch(/arcade_replica_lag_seconds 0\.\d+/)
    expect(text).toMatch(/arcade_replica_reads [1-9]/)
  })

  test('a replica of another PostgreSQL, a primary, and an address without a server are not used', async () => {
    await postgres.stranger.start()
    for (const [replicaUrl, reason] of [
      [postgres.stranger.adminUrl, 'is of another database cluster'],
      [postgres.primary.url, 'is no replica, or not any more'],
      ['postgresql://nobody@127.0.0.1:1/nothing', 'cannot be reached'],
    ] as const) {
      const opened = await open({ replicaUrl })
      onTestFinished(() => opened.close())
      await waitFor(reason, () => opened.replica!.state().status.startsWith(reason))
      const admin = await browser(await testApp({ database: opened }))
      expect((await admin.call('GET', '/api/social-tasks')).status).toBe(200)
      expect(opened.replica!.state()).toMatchObject({ isUsed: false, answered: 0, failed: 0 })
    }
  })

  test('while the primary is away, its replica is not called unreachable, and is used again afterwards', async () => {
    await inUse()
    await postgres.primary.signal('SIGKILL')
    await waitFor('the server to notice', () => status() === 'cannot be compared with the primary, which is away')
    await postgres.primary.start()
    await inUse()
  })

  test('a replica of a Citus cluster is not used, since a position belongs to one of its servers only', async () => {
    const admin = await browser()
    await inUse()
    const name = (to: string, from: string) =>
      onServer(withDatabase(postgres.primary.adminUrl, 'console'), async (run) => {
        await run('set allow_system_table_mods = on')
        await run(`update pg_extension set extname = '${to}' where extname = '${from}'`)
      })
    await name('citus', 'plpgsql')
    await waitFor(
      'the server to notice',
      () => status() === 'cannot be used: its position describes only one server of the Citus cluster',
    )
    const before = answered()
    expect((await admin.call('GET', '/api/social-tasks')).status).toBe(200)
    expect(answered()).toBe(before)
    await name('plpgsql', 'citus')
    await inUse()
  })

  test('a replica that is promoted is no longer used', async () => {
    const admin = await browser()
    await inUse()
    const end = askAllTheTime(admin)
    await onReplica('select pg_promote()')
    await waitFor('the server to notice', () => status() === 'is no replica, or not any more')
    await onServer(withDatabase(postgres.replica.adminUrl, 'console'), (run) => run('delete from tasks'))
    expect(titles(await admin.call('GET', '/api/social-tasks'))).not.toEqual([])
    expect((await end()).problems).toEqual([])
  })

  test('without a replica there is no position cookie and /readyz does not mention a replica', async () => {
    const single = await testApp({ database: await testDatabase() })
    expect(single.database.replica).toBeUndefined()
    const admin = await single.signUp('admin')
    const created = await admin.call('POST', '/api/social-tasks', { type: 'twitter', title: 'Follow us', priority: 1, reward: 1 })
    expect(created.headers.getSetCookie()).toEqual([])
    expect((await single.guest.call('GET', '/readyz')).body).toEqual({ status: 'ready' })
  })
})

/** Waits until the replica has replayed everything that the primary has written. */
async function replayed(): Promise<void> {
  const lsn = await database.replica!.lsn()
  await onServer(postgres.replica.adminUrl, (run) =>
    waitFor(`the replica to be at ${lsn}`, async () => {
      const [row] = await run<{ isThere: boolean }>(`select pg_last_wal_replay_lsn() >= '${lsn}' as "isThere"`)
      return row!.isThere
    }),
  )
}

const exportOf = (list: string) => ({ list, target: { filter: {} }, sort: 'priority', reversed: false })

async function countTasks(): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from tasks`.execute(database.db)
  return rows[0]!.count
}

async function seedRows(): Promise<void> {
  await sql`insert into telegram_users (user_id, first_name, created_at) values (1, 'Kofi', now()), (2, 'Ama', now())`.execute(
    database.db,
  )
  await giveBalances(database.db)
  await addCount(database, { of: 'players' }, 2)
  await sql`insert into broadcasts (id, number, announcement_id, title, filter, state, started_at)
    values ('b', 1, 'n', 'News', '{}', 'sending', now())`.execute(database.db)
  const { rows } = await sql<{ id: string }>`select id from tasks limit 1`.execute(database.db)
  const item = `/api/history/social/${rows[0]!.id}`
  samples['history.get'] = [[item]]
  samples['history.participants'] = [[`${item}/participants`], [`${item}/participants?search=Ko`]]
}

/** Sample requests for each call whose answer may be a second old. */
const samples: Record<string, [path: string, body?: unknown][]> = {
  'users.list': [['/api/users'], ['/api/users?search=Test']],
  'socialTasks.list': [['/api/social-tasks'], ['/api/social-tasks?search=task']],
  'dailyTasks.list': [['/api/daily-tasks']],
  'announcements.list': [['/api/announcements']],
  'players.list': [['/api/telegram-users'], ['/api/telegram-users?search=Kofi']],
  'players.count': [['/api/telegram-users/count?search=Kofi']],
  'players.neighbours': [['/api/telegram-users/1/neighbours']],
  'calendar.list': [['/api/calendar?from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z']],
  'history.titles': [['/api/history/social']],
  'history.get': [],
  'history.participants': [],
  'broadcasts.report': [['/api/broadcasts/b/report']],
  'audit.list': [['/api/audit'], ['/api/audit?search=task']],
  'audit.count': [['/api/audit/count?search=task']],
  'trash.list': [['/api/trash']],
  'dashboard.get': [['/api/metrics']],
  'dashboard.activity': [['/api/activity'], ['/api/activity?range=all']],
  'dashboard.today': [['/api/today']],
  'downloads.users': [['/downloadUsersData']],
  'downloads.players': [['/downloadTelegramUsersData']],
  'downloads.history': [['/download-history', { data: { title: 'x', users: [] } }]],
  'downloads.selection': [['/api/exports', exportOf('socialTasks')]],
}
