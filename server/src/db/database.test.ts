/** `openDatabase` on a database that is run elsewhere (DATABASE_URL): here the tests' server. */
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { destroy } from '#src/postgres/connections.ts'
import { readRows } from '#src/postgres/copy-text.ts'
import { startProcess, waitFor } from '#test/processes.ts'
import { createDatabase, openAgain, testDatabase } from '#test/test-database.ts'
import { onServer } from '#test/test-server.ts'
import { openDatabase, SERVER_LIMITS } from './database.ts'
import { StartError, violatedConstraint, isDiskFull, isUnavailable } from '#src/postgres/errors.ts'
import type { Migration } from './migrate.ts'
import { cursorRows } from './snapshot.ts'

const log = pino({ level: 'silent' })
const database = await testDatabase()
const { db } = database

describe('values', () => {
  test('design §5 bigint and numeric become numbers, timestamptz becomes a Date, in arrays too', async () => {
    const { rows } =
      await sql`select 9007199254740992::bigint as big, -0.05::numeric as exact, timestamptz '2026-01-02T03:04:05.678Z' as at,
      array[1, null, -3]::bigint[] as bigs, array[0.5]::numeric[] as exacts, '{}'::bigint[] as none, null::numeric as nothing`.execute(
        db,
      )
    expect(rows).toEqual([
      {
        big: 2 ** 53,
        exact: -0.05,
        at: new Date('2026-01-02T03:04:05.678Z'),
        bigs: [1, null, -3],
        exacts: [0.5],
        none: [],
        nothing: null,
      },
    ])
  })
})

describe('transactions', () => {
  test('design §6 a failed transaction leaves nothing behind', async () => {
    const failed = database.transaction(async (tx) => {
      await tx.insertInto('file_removals').values({ key: 'a' }).execute()
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    expect(await db.selectFrom('file_removals').selectAll().execute()).toEqual([])
  })

  test('design §6 after a deadlock both transactions succeed: the victim runs again', async () => {
    await db
      .insertInto('counters')
      .values([
        { name: 'a', value: 0 },
        { name: 'b', value: 0 },
      ])
      .execute()
    let runs = 0
    let holding = 0
    const bothHold = Promise.withResolvers<void>()
    const cross = (first: string, second: string) =>
      database.transaction(async (tx) => {
        runs += 1
        const add = (name: string) =>
          tx
            .updateTable('counters')
            .set((eb) => ({ value: eb('value', '+', 1) }))
            .where('name', '=', name)
            .execute()
        await add(first)
        holding += 1
        if (holding === 2) bothHold.resolve()
        await bothHold.promise
        await add(second)
      })
    await Promise.all([cross('a', 'b'), cross('b', 'a')])
    // The victim may take its first row again before the other transaction, which PostgreSQL has yet to wake, takes it. Then there is another victim.
    expect(runs).toBeGreaterThanOrEqual(3)
    expect(await db.selectFrom('counters').select('value').execute()).toEqual([{ value: 2 }, { value: 2 }])
  })

  test('design §6 transactions with other errors are not retried', async () => {
    let runs = 0
    const failed = database.transaction(async (tx) => {
      runs += 1
      await sql`select 1 / 0`.execute(tx)
    })
    await expect(failed).rejects.toThrow('division by zero')
    expect(runs).toBe(1)
  })
})

describe('errors', () => {
  test('design §6 an error tells the name of the violated constraint', async () => {
    const task = { collection: 'social', id: 'a', image: 'twitter', priority: 1, title: 't', reward: 1 } as const
    await db.insertInto('tasks').values(task).execute()
    const error = await db
      .insertInto('tasks')
      .values({ ...task, id: 'b' })
      .execute()
      .catch((caught: unknown) => caught)
    expect(violatedConstraint(error)).toBe('tasks_priority_key')
    expect(violatedConstraint(new Error('failed', { cause: error }))).toBe('tasks_priority_key')
    expect(isUnavailable(error)).toBe(false)
    const unrelated = await sql`select 1 / 0`.execute(db).catch((caught: unknown) => caught)
    expect(violatedConstraint(unrelated)).toBeUndefined()
  })

  test('security: a full disk and an unavailable database are distinguished from other errors', () => {
    expect(isDiskFull(Object.assign(new Error('could not extend file'), { code: '53100' }))).toBe(true)
    expect(isDiskFull(Object.assign(new Error('write'), { code: 'ENOSPC' }))).toBe(true)
    expect(isDiskFull(new Error('ENOSPC'))).toBe(false)
    for (const code of ['57P01', '57P03', '08006', 'ECONNREFUSED', 'ECONNRESET', '53300'])
      expect(isUnavailable(Object.assign(new Error('x'), { code })), code).toBe(true)
    expect(isUnavailable(new AggregateError([Object.assign(new Error('x'), { code: 'ECONNREFUSED' })]))).toBe(true)
    for (const nothing of [undefined, null, 'ECONNREFUSED', new Error('a bug'), { code: 42 }])
      expect(isUnavailable(nothing)).toBe(false)
  })

  test('security: an address without a database is refused soon, without showing the password', async () => {
    const gone = openDatabase({
      dataDir: '/nowhere',
      url: 'postgresql://a:secret@127.0.0.1:1/x',
      log,
      use: 'server',
      giveUpAfterMs: 100,
    })
    const error = await gone.catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(StartError)
    expect(String(error)).toMatch(/The database of DATABASE_URL is not usable: .*ECONNREFUSED/)
    expect(String(error)).not.toMatch('secret')
  })

  test('security: an exhausted pool fails soon, as unavailable', async () => {
    const small = await openAgain({ limits: { size: 1 } })
    const release = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const holding = small.transaction(async (tx) => {
      await sql`select 1`.execute(tx)
      held.resolve()
      await release.promise
    })
    await held.promise
    const since = performance.now()
    const error = await sql`select 1`.execute(small.db).catch((caught: unknown) => caught)
    expect(isUnavailable(error)).toBe(true)
    expect(performance.now() - since, 'statements may take 30 s').toBeLessThan(20_000)
    release.resolve()
    await holding
  })
})

describe('limits', () => {
  test('design §4 statements, lock waits and idle transactions are limited in a server’s pool, not in snapshots and commands', async () => {
    const limits = sql<
      Record<string, string>
    >`select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
        current_setting('idle_in_transaction_session_timeout') as idle`
    const server = await openAgain({ limits: SERVER_LIMITS })
    expect((await limits.execute(server.db)).rows).toEqual([{ statement: '30s', lock: '2s', idle: '30s' }])
    await server.snapshot(async ({ query }) => {
      expect(await query(limits.compile(db).sql)).toEqual([{ statement: '0', lock: '0', idle: '0' }])
    })
    const command = await openAgain({ use: 'command' })
    expect((await limits.execute(command.db)).rows).toEqual([{ statement: '0', lock: '0', idle: '0' }])
  })
})

describe('prepared', () => {
  test('design §9 a prepared statement survives a change of its table', async () => {
    await sql`create table shape (a integer)`.execute(db)
    onTestFinished(() => void sql`drop table shape`.execute(db))
    await sql`insert into shape values (1)`.execute(db)
    const single = await openAgain({ limits: { size: 1 } })
    const all = single.prepared<Record<string, number>>('shape', 'select * from shape where a = $1')
    expect(await all([1])).toEqual([{ a: 1 }])
    const { rows } = await sql<{ name: string }>`select name from pg_prepared_statements`.execute(single.db)
    expect(rows).toEqual([{ name: 'shape' }])
    await sql`alter table shape add b integer default 2`.execute(db)
    expect(await all([1])).toEqual([{ a: 1, b: 2 }])
  })
})

describe('snapshots', () => {
  test('security: an export sees one snapshot, whatever is written meanwhile', async () => {
    await db.insertInto('counters').values({ name: 'a', value: 1 }).execute()
    await database.snapshot(async ({ query, copy }) => {
      expect(await query('select value from counters')).toEqual([{ value: 1 }])
      await db.updateTable('counters').set({ value: 2 }).execute()
      expect(await textOf(copy('select value from counters where name = $1', ['a']))).toBe('1\n')
      await expect(query(`insert into counters values ('b', 1)`)).rejects.toThrow('read-only transaction')
    })
  })

  test('security: parameters of COPY are quoted, whatever they contain, and null stays null', async () => {
    const hostile = `it's "\\' $2 $1; drop table users --\n\t\\N é😀`
    await database.snapshot(async ({ copy }) => {
      const text = await textOf(
        copy('select $1::text, $2::int - 1, $3::text, 7 = any($4::int[]), $1', [hostile, -5, null, [7, 8]]),
      )
      expect(readRows(Buffer.from(text))).toEqual([[hostile, '-6', null, 't', hostile]])
    })
  })

  test.for([
    [0, []],
    [3, [3]],
    [4, [4]],
    [9, [4, 4, 1]],
  ] as const)('security: %i rows of a cursor in batches of 4', async ([count, sizes]) => {
    const client = await database.connect('test')
    onTestFinished(() => destroy(client))
    await client.query('begin')
    const query = { name: 'rows', sql: 'select n from generate_series(1, $1::int) n', params: [count], batchSize: 4 }
    const batches = await collect(cursorRows<{ n: number }>(client, query))
    expect(batches.map(({ length }) => length)).toEqual(sizes)
    expect(batches.flat().map(({ n }) => n)).toEqual(Array.from({ length: count }, (_, index) => index + 1))
  })

  const endless = 'select generate_series(1, 100000000) as n'

  test('security: a reader that leaves frees the connection', async () => {
    await database.snapshot(async ({ copy }) => {
      for await (const rows of copy(endless)) {
        expect(rows.subarray(0, 4).toString()).toBe('1\n2\n')
        break
      }
    })
    await noSnapshotsLeft()
  })

  test('security: a reader that fails frees the connection', async () => {
    const failed = database.snapshot(async ({ copy }) => {
      for await (const _ of copy(endless)) throw new Error('the client left')
    })
    await expect(failed).rejects.toThrow('the client left')
    await noSnapshotsLeft()
  })

  test('security: work that abandons its rows during a long query is cut off', async () => {
    await database.snapshot(async ({ copy }) => {
      void copy('select pg_sleep(60)')
        .next()
        .catch(() => undefined)
      await waitFor('the query to run', async () => (await snapshotQueries()).some((query) => query.startsWith('copy')))
    })
    await noSnapshotsLeft()
  })

  test('security: an error of the query reaches the reader', async () => {
    const broken = database.snapshot(({ copy }) => textOf(copy('select 1 / (3 - n) from generate_series(1, 5) n')))
    await expect(broken).rejects.toThrow('division by zero')
    await noSnapshotsLeft()
  })

  async function textOf(chunks: AsyncIterable<Buffer>): Promise<string> {
    return Buffer.concat(await collect(chunks)).toString()
  }

  async function snapshotQueries(): Promise<string[]> {
    const { rows } = await sql<{ query: string }>`
      select query from pg_stat_activity where application_name = 'arcade snapshot' and datname = current_database()`.execute(db)
    return rows.map(({ query }) => query)
  }

  async function noSnapshotsLeft(): Promise<void> {
    await waitFor('no snapshot to be left', async () => (await snapshotQueries()).length === 0)
  }
})

describe('listening', () => {
  test('design §4 a lost connection is reported, reopened and listens again', async () => {
    const events: string[] = []
    await database.listen(
      'test "channel"',
      (payload) => events.push(payload),
      () => events.push('gap'),
    )
    await sql`select pg_notify('test "channel"', 'one')`.execute(db)
    await waitFor('the first message', () => events.length === 1)
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'arcade server %' and datname = current_database()`.execute(
      db,
    )
    await waitFor('both gaps', () => events.length === 3)
    await sql`select pg_notify('test "channel"', 'two')`.execute(db)
    await sql`select pg_notify('another', 'three')`.execute(db)
    await waitFor('the second message', () => events.length === 4)
    expect(events).toEqual(['one', 'gap', 'gap', 'two'])
  })
})

describe('opening and closing', () => {
  test('security: after every connection was cut off, the next calls work', async () => {
    const own = await openAgain()
    expect(await own.isReady()).toBe(true)
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`.execute(
      db,
    )
    await waitFor('readiness', () => own.isReady())
    expect((await sql`select 1 as one`.execute(own.db)).rows).toEqual([{ one: 1 }])
  })

  test('design §4 closing twice is the same as closing once, and cuts off what still runs', async () => {
    const url = await createDatabase('closing')
    const own = await openDatabase({ dataDir: '/nowhere', url, log, use: 'command', migrations: [] })
    const endless = sql`select pg_sleep(60)`.execute(own.db).catch((error: unknown) => error)
    await pause(0)
    const since = performance.now()
    await Promise.all([own.close(), own.close()])
    expect(performance.now() - since, 'the statement takes 60 s').toBeLessThan(30_000)
    expect(isUnavailable(await endless)).toBe(true)
    expect(await own.isReady()).toBe(false)
  })

  test('design §4 several servers can share DATABASE_URL', async () => {
    const url = await createDatabase('shared', { isMigrated: true })
    const servers = [
      startProcess({ dataDir: '/nowhere', url, use: 'server' }),
      startProcess({ dataDir: '/nowhere', url, use: 'server' }),
    ]
    await Promise.all(servers.map(({ opened }) => opened))
    for (const server of servers) expect(await server.query('select epoch from status_epoch')).toEqual([{ epoch: 0 }])
    for (const server of servers) server.kill('SIGTERM')
    for (const server of servers) expect(await server.ended).toMatchObject({ code: 0 })
  })
})

describe('migrations', () => {
  test('design §4 if two processes start at once on an empty database, one migrates and both open', async () => {
    const url = await createDatabase('empty')
    const servers = [
      startProcess({ dataDir: '/nowhere', url, use: 'server' }),
      startProcess({ dataDir: '/nowhere', url, use: 'server' }),
    ]
    await Promise.all(servers.map(({ opened }) => opened))
    const [row] = await onServer(url, (run) => run<{ times: number }>('select count(*)::int as times from migrations'))
    expect(row?.times).toBeGreaterThan(0)
    for (const server of servers) server.kill('SIGTERM')
    const logs = (await Promise.all(servers.map(({ ended }) => ended))).map((end) => end.log)
    expect(logs.filter((text) => text.includes('"migration":"0001_base"'))).toHaveLength(1)
  })

  test('design §4 a database of a newer version is refused and left alone', async () => {
    const url = await createDatabase('newer', { isMigrated: true })
    await onServer(url, (run) => run(`insert into migrations (name) values ('9999_from_the_future')`))
    const refused = openDatabase({ dataDir: '/nowhere', url, log, use: 'server' })
    await expect(refused).rejects.toThrow(StartError)
    await expect(refused).rejects.toThrow(
      /written by a newer Arcade Console \(its migration 9999_from_the_future is unknown here\)/,
    )
  })

  test('design §4 a database with another encoding is refused', async () => {
    const url = await createDatabase('latin1', { settings: `template template0 encoding 'LATIN1' locale 'C'` })
    const refused = openDatabase({ dataDir: '/nowhere', url, log, use: 'server' })
    await expect(refused).rejects.toThrow(StartError)
    await expect(refused).rejects.toThrow(/has the encoding LATIN1; Arcade Console needs UTF8/)
  })

  test('design §4 a failed step keeps the steps before it, and runs again next time', async () => {
    const url = await createDatabase('steps')
    const step = (name: string, statement: string): Migration => ({
      name,
      up: async (tx) => void (await sql.raw(statement).execute(tx)),
    })
    const options = { dataDir: '/nowhere', url, log, use: 'command' } as const
    const first = step('0001_a', 'create table a (x integer)')
    await expect(
      openDatabase({ ...options, migrations: [first, step('0002_b', 'create table b (x integer); select 1 / 0')] }),
    ).rejects.toThrow('division by zero')
    const opened = await openDatabase({ ...options, migrations: [first, step('0002_b', 'create table b (x integer)')] })
    await opened.close()
    const names = await onServer(url, (run) => run<{ name: string }>('select name from migrations order by name'))
    expect(names.map(({ name }) => name)).toEqual(['0001_a', '0002_b'])
  })
})

async function collect<T>(batches: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const batch of batches) all.push(batch)
  return all
}
