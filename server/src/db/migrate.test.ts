/** Migrations next to whatever may run at the same time: long statements, held locks, other starts, an older server. */
import { setTimeout as pause } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { activityCounters, countedActivity } from '#test/activity.ts'
import { reportFigure, rounds } from '#test/size.ts'
import { postmasterPid, preparedDataDir, removePrepared, waitFor } from '#test/processes.ts'
import { createDatabase } from '#test/test-database.ts'
import { onServer } from '#test/test-server.ts'
import { type Database, type DatabaseOptions, openDatabase } from './database.ts'
import { type Migration, loadMigrations } from './migrate.ts'
import { openMigrationConnection } from './migration-connection.ts'
import { searchedTables } from './searched-text.ts'

/** A tenth of the product's limits or less, so that exceeding them takes seconds here, but more than a statement takes on a busy machine. */
const QUICK = {
  limits: { statementTimeoutMs: 1000 },
  heartbeatMs: 1000,
  migrationLimits: { lockTimeoutMs: 60, reportEveryMs: 300 },
}

test('design §4 a step may take longer than any limit on statements, and reports its progress', async () => {
  const url = await createDatabase('long_step')
  const { log, lines } = recordedLog()
  const { held, release } = await heldStep(url, '0001_slow')
  const opening = open({ url, log, migrations: [held] })
  // Reports come every 300 ms, and statements end after a second.
  await waitFor('five reports', () => lines(/Migrating the database, 0001_slow for/).length > 4 && lines(/pg_sleep/).length > 4)
  await release()
  const database = await opening
  // The limit still applies to everything else.
  await expect(sql`select pg_sleep(60)`.execute(database.db)).rejects.toThrow('statement timeout')
})

test('design §4 a migration waits for a lock without a limit, names its holder, and lets others read meanwhile', async () => {
  const url = await createDatabase('held_lock')
  const { log, lines } = recordedLog()
  const first = step('0001_a', 'create table a (x integer)')
  await (await open({ url, migrations: [first] })).close()
  await onServer(url, async (reader) => {
    await reader(`set application_name = 'a long export'`)
    await reader('begin')
    await reader('select x from a')
    const opening = open({ url, log, migrations: [first, step('0002_b', 'alter table a add y integer')] })
    await waitFor('the report', () => lines(/waiting for a lock that process \d+ \(a long export\) holds/).length > 1)
    // If the waiting migration did not let these reads pass, they would wait behind it for ever.
    for (let reads = 0; reads < 5; reads += 1) await onServer(url, (run) => run('select x from a'))
    await reader('commit')
    await opening
  })
  const columns = await onServer(url, (run) => run(`select * from information_schema.columns where table_name = 'a'`))
  expect(columns).toHaveLength(2)
})

test('design §4 a server that starts while another one migrates reports it, waits and then opens', async () => {
  const url = await createDatabase('two_starts')
  const { log, lines } = recordedLog()
  const { log: otherLog, lines: otherLines } = recordedLog()
  const { held, release } = await heldStep(url, '0001_slow')
  const migrations = [held]
  const first = open({ url, log, migrations })
  await waitFor('the migration', () => lines(/0001_slow for/).length > 0)
  const second = open({ url, log: otherLog, migrations })
  const waiting = /Waiting for another process that migrates the database \(arcade migration 0001_slow\)/
  await waitFor('two reports', () => otherLines(waiting).length > 1)
  await release()
  const [one, two] = await Promise.all([first, second])
  expect([...lines(/Database migrated/), ...otherLines(/Database migrated/)]).toHaveLength(1)
  // Neither lost a connection meanwhile.
  expect([...lines(/was lost/), ...otherLines(/was lost/)]).toEqual([])
  for (const database of [one, two]) expect(await database.isReady()).toBe(true)
})

test.each([
  ['a setting is refused', { lockTimeoutMs: -1, abortsAtOnce: false }, /outside the valid range/],
  ['the start is aborted', { lockTimeoutMs: 60, abortsAtOnce: true }, /aborted/],
])(
  'a connection for migrations that fails while it is opened, because %s, is closed',
  async (_why, { lockTimeoutMs, abortsAtOnce }, error) => {
    const url = await createDatabase('failed_opening')
    const starting = new AbortController()
    const opening = openMigrationConnection({
      address: { connectionString: url },
      log: recordedLog().log,
      limits: { ...QUICK.migrationLimits, lockTimeoutMs },
      watcher: () => undefined,
      signal: starting.signal,
    })
    if (abortsAtOnce) starting.abort()
    await expect(opening).rejects.toThrow(error)
    const count = `select count(*)::int from pg_stat_activity where datname = current_database() and application_name = 'arcade migration'`
    await onServer(url, (run) =>
      waitFor('the end of its process', async () => (await run<{ count: number }>(count))[0]?.count === 0),
    )
  },
)

test('design §4 a PostgreSQL that dies during a migration is restarted, and the migration continues', async () => {
  const dataDir = await preparedDataDir()
  onTestFinished(removePrepared)
  const { log, lines } = recordedLog()
  let attempts = 0
  const slow: Migration = {
    name: '9999_slow',
    async up(tx) {
      attempts += 1
      await sql.raw(`create table once (x integer); select pg_sleep(${attempts === 1 ? 600 : 0})`).execute(tx)
    },
  }
  const migrations = [...(await loadMigrations()), slow]
  const opening = openDatabase({ dataDir, log, use: 'server', migrations, ...QUICK })
  await waitFor('the migration', () => lines(/9999_slow for/).length > 0)
  process.kill(await postmasterPid(dataDir), 'SIGKILL')
  const database = await opening
  onTestFinished(() => database.close())
  expect(lines(/was lost during its migration, which is tried again/)).not.toEqual([])
  expect((await sql`select x from once`.execute(database.db)).rows).toEqual([])
})

test('design §4 if the database keeps ending during a migration, the start fails with a message that says what to do', async () => {
  const url = await createDatabase('ends_again')
  const killing = step('0001_killing', 'select pg_terminate_backend(pg_backend_pid())')
  await expect(open({ url, migrations: [killing] })).rejects.toThrow(
    /^The connection to the database was lost 5 times during its migration \(.*\): look into the database's log/,
  )
})

test('design §4 a start that is stopped during a migration ends at once and leaves no statement running', async () => {
  const url = await createDatabase('given_up')
  const { log, lines } = recordedLog()
  const controller = new AbortController()
  const opening = open({ url, log, migrations: [step('0001_slow', 'select pg_sleep(60)')], signal: controller.signal })
  await waitFor('the migration', () => lines(/0001_slow for/).length > 0)
  controller.abort(new Error('given up'))
  await expect(opening).rejects.toThrow('given up')
  await onServer(url, async (run) => {
    const running = () => run(`select pid from pg_stat_activity where query like '%pg_sleep(60)' and pid <> pg_backend_pid()`)
    await waitFor('the statement to end', async () => (await running()).length === 0)
  })
})

test('design §4 a resumable step that was cut off continues: finished work stays, an invalid index is built again', async () => {
  const url = await createDatabase('cut_off')
  const table = step('0001_a', 'create table a as select n from generate_series(1, 1000) n')
  const index = 'create unique index concurrently if not exists a_n on a (n)'
  const resumable: Migration = {
    name: '0002_b',
    isResumable: true,
    up: async (db) => {
      await sql`alter table a add column if not exists done integer`.execute(db)
      await sql.raw(index).execute(db)
    },
  }
  await (await open({ url, migrations: [table] })).close()
  await onServer(url, async (run) => {
    await run('insert into a values (1)')
    await expect(run(index)).rejects.toThrow('could not create unique index') // the index exists, but is invalid
    await run('delete from a where ctid = (select max(ctid) from a where n = 1)')
  })
  await open({ url, migrations: [table, resumable] })
  const indexes = await onServer(url, (run) => run('select indisvalid from pg_index where indrelid = $$a$$::regclass'))
  expect(indexes).toEqual([{ indisvalid: true }])
})

test('design §4 the times when users were last seen are taken from their sessions and addresses', async () => {
  const url = await createDatabase('last_seen')
  const older = (await loadMigrations()).filter(({ name }) => name < '0012')
  await (await open({ url, migrations: older })).close()
  await onServer(url, async (run) => {
    await run(
      `insert into accounts (id, email, password_hash) select n, n || '@gmail.com', '' from unnest(array['a', 'b', 'c']) n`,
    )
    await run(`insert into users (id, fname, lname, email, user_type) select id, 'Ada', 'Doe', email, 'user' from accounts`)
    await run(
      `insert into sessions (token_hash, user_id, last_seen_at) values ('1', 'a', '2026-01-02'), ('2', 'a', '2026-01-03')`,
    )
    await run(`insert into known_addresses values ('a', '1', '2026-01-01'), ('b', '1', '2026-01-04'), ('b', '2', '2025-01-04')`)
  })
  const { db } = await open({ url })
  const users = await db.selectFrom('users').select(['id', 'last_seen_at']).orderBy('id').execute()
  expect(users.map(({ last_seen_at: at }) => at?.toISOString().slice(0, 10))).toEqual(['2026-01-03', '2026-01-04', undefined])
})

test('design §4 texts that an earlier version has folded are folded anew, with their indexes, also after an interruption', async () => {
  const url = await createDatabase('folded_anew')
  const all = await loadMigrations()
  await (await open({ url, migrations: all.filter(({ name }) => name < '0051') })).close()
  const indexesOf = 'select indexname as name from pg_indexes where tablename = $$users$$ order by 1'
  const [expected, indexes] = await onServer(url, async (run) => {
    const before = await run(indexesOf)
    await run('alter table users drop column searched_text')
    await run('alter table users add column searched_text text generated always as (lower(fname)) stored')
    await run('create index users_searched_words on users (searched_text)')
    await run('create index users_searched_characters on users (searched_text)')
    await run(`insert into accounts (id, email, password_hash) values ('a', 'ada@gmail.com', '')`)
    await run(
      `insert into users (id, fname, lname, email, user_type) values ('a', '葛\u{e0100}飾', 'Ben\u05beGurion', 'ada@gmail.com', 'user')`,
    )
    const older = await run(indexesOf)
    await run(`alter table users add column ${searchedTables.users.replace('searched_text', 'newly_searched_text')}`) // then it was cut off
    return [before, older]
  })
  expect(indexes).toEqual(expected)
  await open({ url })
  const [texts, after] = await onServer(url, async (run) => [await run('select searched_text from users'), await run(indexesOf)])
  expect(texts).toEqual([{ searched_text: ' 葛飾 benZgurion ada@gmailXcom' }])
  expect(after).toEqual(expected)
})

test('design §4 players of the first version are migrated while a server of that version reads and writes', async () => {
  const url = await createDatabase('first_version')
  const players = rounds(2_000, 2_000_000)
  const all = await loadMigrations()
  const older = await openDatabase({
    dataDir: '/nowhere',
    url,
    log: pino({ level: 'silent' }),
    use: 'command',
    migrations: all.slice(0, 1),
  })
  onTestFinished(() => older.close())
  await onServer(url, async (run) => {
    await run(`insert into telegram_users (user_id, first_name, last_name, username, email, created_at, balance)
      select n, 'First ' || n % 5000, 'Lastname ' || n % 7000, 'player_' || n, 'player' || n || '@example.org',
             now() - n * interval '1 second', n % 1000 from generate_series(1, ${players}) n`)
    await run(
      `insert into participations (user_id, kind, item_id) select n, 'social', 'item ' || n % 50 from generate_series(1, ${players}) n`,
    )
    await run('vacuum analyze')
  })

  let isOver = false
  const stalls = { reading: 0, writing: 0 }
  const work = async (kind: keyof typeof stalls, once: () => Promise<boolean>): Promise<void> => {
    while (!isOver) {
      const start = performance.now()
      if (!(await once())) return
      stalls[kind] = Math.max(stalls[kind], performance.now() - start)
      await pause(5)
    }
  }
  /** Runs until balances have moved to where that version does not look for them. */
  const refusals = new Set<string>()
  const untilMoved = (query: RawBuilder<unknown>): Promise<boolean> =>
    query.execute(older.db).then(
      () => true,
      (error: Error) => !refusals.add(error.message),
    )
  let written = 0
  const reading = work('reading', () => untilMoved(sql`select * from telegram_users order by balance desc, user_id limit 5`))
  const writing = work('writing', async () => {
    const isWritten = await untilMoved(sql`update telegram_users set balance = balance + 1 where user_id = 7`)
    if (isWritten) written += 1
    return isWritten
  })
  const start = performance.now()
  const { db } = await open({ url })
  const seconds = (performance.now() - start) / 1000
  isOver = true
  await Promise.all([reading, writing])

  const [row] = await onServer(url, (run) =>
    run<Record<string, number>>(`select (select count(*)::int from telegram_users where searched_text is not null) as searchable,
      (select count(*)::int from migrations) as steps, (select count(*)::int from pg_index where not indisvalid) as invalid`),
  )
  expect(row).toEqual({ searchable: players, steps: all.length, invalid: 0 })
  expect(await activityCounters(db)).toEqual(await countedActivity(db))
  expect(written).toBeGreaterThan(5)
  expect([...refusals]).toEqual(['column "balance" does not exist'])
  const { rows: ledger } = await sql`
    select user_id, seq, amount, cause, e.balance, b.balance as now, imported, entries
      from balances b left join ledger_entries e using (user_id) where user_id in (7, 8, 1000) order by user_id`.execute(db)
  const opening = (amount: number) => ({
    seq: 1,
    amount,
    cause: 'opening',
    balance: amount,
    now: amount,
    imported: amount,
    entries: 1,
  })
  expect(ledger).toEqual([
    { user_id: 7, ...opening(7 + written) },
    { user_id: 8, ...opening(8) },
    { user_id: 1000, seq: null, amount: null, cause: null, balance: null, now: 0, imported: 0, entries: 0 },
  ])
  const [longestRead, longestWrite] = [stalls.reading, stalls.writing].map((ms) => (ms / 1000).toFixed(1))
  reportFigure(
    `${players} players migrated in ${seconds.toFixed(1)} s; longest read meanwhile ${longestRead} s, longest write ${longestWrite} s`,
  )
})

function step(name: string, statement: string): Migration {
  return { name, up: async (tx) => void (await sql.raw(statement).execute(tx)) }
}

/** Returns a step that creates a table and does not end before `release` is called. */
async function heldStep(url: string, name: string): Promise<{ held: Migration; release: () => Promise<void> }> {
  await onServer(url, (run) => run('create table holds (x integer)'))
  await onServer(url, (run) => run('insert into holds values (1)'))
  const wait = 'do $$ begin while exists (select from holds) loop perform pg_sleep(0.02); end loop; end $$'
  return {
    held: step(name, `create table once (x integer); ${wait}`),
    release: () => onServer(url, async (run) => void (await run('delete from holds'))),
  }
}

async function open(options: Partial<DatabaseOptions> & { url: string }): Promise<Database> {
  const log = pino({ level: 'silent' })
  const database = await openDatabase({ dataDir: '/nowhere', log, use: 'server', ...QUICK, ...options })
  onTestFinished(() => database.close())
  return database
}

/** Returns a log and a function that finds its lines. */
function recordedLog() {
  const all: string[] = []
  return {
    log: pino({ level: 'info' }, { write: (line) => void all.push(line) }),
    lines: (pattern: RegExp) => all.filter((line) => pattern.test(line)),
  }
}
