/** Downloads (§7; security.md, Exports): one snapshot, progress, limits, and a connection freed however a transfer ends. */
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { sql } from 'kysely'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { SessionUser } from '@arcade/contract/auth/calls'
import type { CallContext } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { auditTrail } from '#test/audit-trail.ts'
import { addCount } from '#test/activity.ts'
import { readSheets } from '#test/read-sheets.ts'
import { type Client, MAX_EXPORTS, type TestApp, testApp } from '#test/test-app.ts'
import { addPlayers, giveBalances } from '#test/players.ts'
import { createDownloads, type Downloads } from './download.ts'
import { openSpool } from './spool.ts'

/** More rows than the buffers on the way can hold: each has 4,000 incompressible characters. */
const MANY = 4000
const LONG_TEXT = `(select string_agg(translate(encode(sha512((n || ' ' || k)::bytea), 'base64'), E'\\n=', ''), '') from generate_series(1, 47) k)`

/** Rows that fill a transfer's memory several times over, so that the rest of its sheet waits in a file. */
const SPILLED = 400

async function addManyPlayers(database: Database, count = MANY): Promise<void> {
  await sql`insert into telegram_users (user_id, first_name, phone_number, created_at)
    select n, 'P' || n, ${sql.raw(LONG_TEXT)}, now() from generate_series(1, ${count}::int) n`.execute(database.db)
  await giveBalances(database.db, 'telegram_users.user_id')
  await addCount(database, { of: 'players' }, count)
}

async function snapshotsOf({ db }: Database): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where datname = current_database() and application_name = 'arcade snapshot'`.execute(db)
  return rows.map(({ pid }) => pid)
}

async function expectFreed(database: Database): Promise<void> {
  await expect.poll(() => snapshotsOf(database)).toEqual([])
}

const START = '/downloadTelegramUsersData'

/** Starts a download and reads its first bytes. */
async function begin(app: TestApp, client: Client, exportId?: string) {
  const response = await app.fetch(START + (exportId === undefined ? '' : `?exportId=${exportId}`), { headers: client.headers })
  expect(response.status).toBe(200)
  const reader = response.body!.getReader()
  await reader.read()
  return reader
}

describe('§7 the downloads', () => {
  test('§6 are only for admins', async () => {
    const app = await testApp()
    const [user, admin, bot] = [await app.signUp('user'), await app.signUp('admin'), await app.bot()]
    for (const path of ['/downloadUsersData', START]) {
      for (const [client, status] of [
        [app.guest, 401],
        [user, 403],
        [bot, 403],
      ] as const) {
        expect(await client.call('GET', path)).toMatchObject({ status, body: { status: 'failed' } })
      }
      expect((await admin.call('GET', path)).status).toBe(200)
    }
  })

  test('§9 GET /downloadUsersData is userdata.xlsx with all users', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin', 'first@gmail.com')
    await app.signUp('user', '=1+1@gmail.com')
    const answer = await admin.call('GET', '/downloadUsersData')
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="userdata.xlsx"')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('x-row-count')).toBe('2')
    const rows = readSheets(answer.body)['Users']!
    expect(rows.map((row) => row[2])).toEqual(['Email', 'first@gmail.com', `'=1+1@gmail.com`])
  })

  test('§9 GET /downloadTelegramUsersData is TelegramUserdata.xlsx with the 15 fields, numbers as numbers, dates as dates', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const texts = {
      first_name: '=cmd',
      last_name: 'a\u0001b',
      username: '@moon',
      phone_number: '+62100',
      ton_wallet_address: '@SUM(A1)',
      bsc_wallet: '-1+1',
    }
    const more = {
      twitter_username: 't',
      instagram_username: 'i',
      linked_in_username: 'l',
      discord_username: 'd',
      youtube_username: 'y',
      email: 'e',
    }
    const player = { user_id: 2 ** 40, created_at: '2026-05-05T17:20:00Z', balance: 100.25, ...texts, ...more }
    await addPlayers(app.database.db, [player, { user_id: 1, balance: -5 }])
    await addCount(app.database, { of: 'players' }, 2)
    const answer = await admin.call('GET', START)
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="TelegramUserdata.xlsx"')
    expect(answer.headers.get('x-row-count')).toBe('2')
    const [header, first, second, ...others] = readSheets(answer.body)['Telegram Users']!
    expect(header).toHaveLength(15)
    const shown = [
      2 ** 40,
      new Date('2026-05-05T17:20:00Z'),
      `'=cmd`,
      'ab',
      '@moon',
      't',
      'i',
      'l',
      'd',
      'y',
      'e',
      '+62100',
      `'@SUM(A1)`,
      `'-1+1`,
      100.25,
    ]
    expect(first).toEqual(shown)
    expect(second!.filter((cell) => cell !== undefined)).toEqual([1, -5])
    expect(others).toEqual([])
  })

  test('design §7 with ?format=csv are RFC 4180 in UTF-8 with a byte order mark, guarded like the spreadsheet', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const players = [
      { user_id: 2, created_at: '2026-05-05T17:20:00Z', balance: 100.25, first_name: 'Zoë "Z", Z', last_name: 'a\r\nb' },
      { user_id: 1, balance: -5, first_name: '=1+1', last_name: 'x;=2', username: '' },
    ]
    await addPlayers(app.database.db, players)
    await addCount(app.database, { of: 'players' }, 2)
    const fetchCsv = async (path: string, init: RequestInit = {}): Promise<{ headers: Headers; text: string }> => {
      const headers = { ...admin.headers, 'content-type': 'application/json' }
      const answer = await app.fetch(path, { ...init, headers })
      return { headers: answer.headers, text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(await answer.arrayBuffer()) }
    }
    const { headers, text } = await fetchCsv(`${START}?format=csv`)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toBe('attachment; filename="TelegramUserdata.csv"')
    expect(headers.get('x-row-count')).toBe('2')
    const [head, ...lines] = text.split('\r\n')
    expect(head).toMatch(/^\uFEFFUser ID,/)
    const zoe = '2,2026-05-05 17:20:00.000,"Zoë ""Z"", Z","a\nb",,,,,,,,,,,100.25'
    expect(lines).toEqual([zoe, `1,,'=1+1,"x;'=2",,,,,,,,,,,-5`, ''])
    const body = JSON.stringify({ list: 'telegramUsers', target: { ids: ['1'] } })
    const picked = await fetchCsv('/api/exports?format=csv', { method: 'POST', body })
    expect(picked.text.split('\r\n')).toEqual([head, lines[1], ''])
    const posted = JSON.stringify({ data: { title: 'T', users: [{ id: 7, username: '=x' }] } })
    const history = await fetchCsv('/download-history?format=csv', { method: 'POST', body: posted })
    expect(history.headers.get('content-disposition')).toBe('attachment; filename="data.csv"')
    expect(history.text).toContain(`7,'=x,`)
  })

  test('design §7 an item’s details are repeated unchanged beside each participant, and missing ones are empty', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const data = { title: 'a\\b\nc', type: 'desc', reward: 1.5, users: [{ id: 7, username: 'x' }] }
    const headers = { ...admin.headers, 'content-type': 'application/json' }
    const ask = (query: string) =>
      app.fetch(`/download-history${query}`, { method: 'POST', headers, body: JSON.stringify({ data }) })
    const [, row] = readSheets(await (await ask('')).arrayBuffer())['Participants']!
    expect(row).toContain('a\\b\nc')
    const lines = (await (await ask('?format=csv')).text()).split('\r\n')
    expect(lines).toHaveLength(3)
    expect(lines[1]).toBe('7,x,,,,,"a\\b\nc",desc,,,,,1.5')
  })

  test('security: downloads are audited with who downloaded what', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await admin.call('GET', START)
    await admin.call('POST', '/download-history', { data: {} })
    expect(await auditTrail(app.database.db)).toMatchObject(
      ['telegramUsers', 'history:posted'].map((recordId) => ({ actorId: admin.id, action: 'export', recordId })),
    )
  })

  test('security: the total and the rows are of one snapshot', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await addManyPlayers(app.database)
    const response = await app.fetch(START, { headers: admin.headers })
    await sql`delete from telegram_users where user_id % 2 = 0`.execute(app.database.db)
    await sql`update balances set balance = 0`.execute(app.database.db)
    const rows = readSheets(await response.arrayBuffer())['Telegram Users']!
    expect(response.headers.get('x-row-count')).toBe(String(MANY))
    expect(rows.slice(1).map((row) => row[14])).toEqual(Array.from({ length: MANY }, (_, index) => MANY - index))
    await expectFreed(app.database)
  })
})

async function readAll(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done);
}

describe('progress and limits', () => {
  const ID = '6b1f0a52-63a5-4c3c-9b1e-0d5a4f0f6f11'

  test('progress shows rows so far and the total, only to the user who started it, until it is over', async () => {
    const app = await testApp()
    const [admin, other, user] = [await app.signUp('admin'), await app.signUp('admin'), await app.signUp('user')]
    await addManyPlayers(app.database)
    const reader = await begin(app, admin, ID)
    const progress = async () => (await admin.call('GET', `/api/exports/${ID}`)).body
    while ((await progress()).rows === 0) await reader.read()
    const { rows, total } = await progress()
    expect(total).toBe(MANY)
    expect(rows).toBeLessThan(MANY)
    expect((await other.call('GET', `/api/exports/${ID}`)).body).toEqual({})
    expect((await user.call('GET', `/api/exports/${ID}`)).status).toBe(403)
    expect((await app.guest.call('GET', `/api/exports/${ID}`)).status).toBe(401)
    await readAll(reader)
    await expect.poll(progress).toEqual({})
    for (const bad of ['x', `${ID}x`]) expect((await admin.call('GET', `${START}?exportId=${bad}`)).status).toBe(400)
  })

  test('a download beyond the limit of exports is refused with a message, and works once another one has ended', async () => {
    const app = await testApp({ spoolBytes: 0 })
    const admin = await app.signUp('admin')
    await addManyPlayers(app.database)
    const readers = []
    for (let count = 0; count < MAX_EXPORTS; count += 1) readers.push(await begin(app, admin))
    const refused = await admin.call('GET', START)
    expect(refused).toMatchObject({
      status: 503,
      body: { status: 'failed', message: 'Too many downloads are running. Please try again in a moment.' },
    })
    expect(refused.headers.get('retry-after')).toBe('15')
    await readers.pop()!.cancel()
    await expect.poll(() => snapshotsOf(app.database)).toHaveLength(MAX_EXPORTS - 1)
    readers.push(await begin(app, admin))
    await Promise.all(readers.map((reader) => reader.cancel()))
    await expectFreed(app.database)
  })
})

test('security: a download breaks off when its session ends, the role changes or the user is removed', async () => {
  const app = await testApp()
  const boss = await app.signUp('admin')
  const [own, demoted, removed] = [await app.signUp('admin'), await app.signUp('admin'), await app.signUp('admin')]
  await addManyPlayers(app.database, SPILLED)
  const continued = await begin(app, boss)
  const readers = []
  for (const client of [own, demoted, removed]) readers.push(await begin(app, client))
  await expectFreed(app.database) // the rest waits only for the readers
  await own.call('DELETE', '/api/session')
  await boss.call('PUT', `/api/users/${demoted.id}/user-type`, { userType: 'user' })
  expect((await boss.call('DELETE', `/removeUser/${removed.id}`)).status).toBe(200)
  for (const reader of readers) await expect(reader.closed).rejects.toThrow('The session has ended, or the role may do less')
  await readAll(continued)
})

describe('security: a connection is freed', () => {
  test('as soon as the sheet is written: idle readers do not stop other exports, and get everything later', async () => {
    const app = await testApp({ maxExports: 1 })
    const admin = await app.signUp('admin')
    await addManyPlayers(app.database, SPILLED)
    const responses = []
    for (let count = 0; count < 3; count += 1) {
      responses.push(await app.fetch(START, { headers: admin.headers }))
      await expectFreed(app.database)
    }
    await sql`delete from telegram_users`.execute(app.database.db)
    const [first, ...others] = await Promise.all(responses.map(async (response) => Buffer.from(await response.arrayBuffer())))
    expect(readSheets(new Uint8Array(first!).buffer)['Telegram Users']).toHaveLength(SPILLED + 1)
    expect(others.every((bytes) => bytes.equals(first!))).toBe(true)
  })

  test('when the reader cancels', async () => {
    const app = await testApp({ spoolBytes: 0 })
    const admin = await app.signUp('admin')
    await addManyPlayers(app.database)
    const reader = await begin(app, admin)
    expect(await snapshotsOf(app.database)).toHaveLength(1)
    await reader.cancel()
    await expectFreed(app.database)
  })

  test('when the reader stalls', async () => {
    const app = await testApp({ spoolBytes: 0 })
    await addManyPlayers(app.database)
    const lines: string[] = []
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
    const { body } = await downloadOf(await bareDownloads(app, 200, log))
    const reader = body.getReader()
    await reader.read()
    await expectFreed(app.database)
    await expect(readAll(reader)).rejects.toThrow('stalled')
    expect(lines.join()).toContain('download-broken')
  })

  test('when the database is lost half-way, which breaks the transfer instead of ending it properly', async () => {
    const app = await testApp({ spoolBytes: 0 })
    // The query never gives its last row, however much the buffers on the way hold. It reads no table, because a cluster's
    // coordinator gives the first row of several shards only when it has all of them.
    const query = `select n, ${LONG_TEXT} from generate_series(1, ${MANY}) n union all select 0, pg_sleep(600)::text`
    const { body } = await downloadOf(await bareDownloads(app), query)
    const reader = body.getReader()
    await reader.read()
    const [pid] = await snapshotsOf(app.database)
    await sql`select pg_terminate_backend(${pid}::int)`.execute(app.database.db)
    await expect(readAll(reader)).rejects.toThrow('terminat')
    await expectFreed(app.database)
  })

  test('when the answer is never read', async () => {
    const app = await testApp({ spoolBytes: 0 })
    await addManyPlayers(app.database)
    await downloadOf(await bareDownloads(app, 200))
    await expectFreed(app.database)
  })

  test('when the client leaves before the first row', async () => {
    const app = await testApp({ spoolBytes: 0 })
    const leaving = new AbortController()
    const starting = downloadOf(await bareDownloads(app), 'select 1 as id from pg_sleep(600)', leaving.signal)
    await expect.poll(() => snapshotsOf(app.database)).toHaveLength(1)
    leaving.abort()
    await expect(starting).rejects.toMatchObject({ code: 'TOO_SLOW' })
    await expectFreed(app.database)
  })

  test('when the answer cannot start: the call then fails like any other', async () => {
    const app = await testApp({ spoolBytes: 0 })
    const downloads = await bareDownloads(app)
    for (let round = 0; round < MAX_EXPORTS + 1; round += 1)
      await expect(downloadOf(downloads, 'select 1 / 0 as id')).rejects.toThrow('division by zero')
    await expectFreed(app.database)
  })
})

describe('over a real socket', () => {
  async function listen(fetch: TestApp['nodeFetch']): Promise<string> {
    const server = await new Promise<Server>((resolve) => {
      const started = serve({ fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(started)) as Server
    })
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  test('security: a client that hangs up frees the cursor', async () => {
    const app = await testApp({ spoolBytes: 0 })
    const admin = await app.signUp('admin')
    await addManyPlayers(app.database)
    const leaving = new AbortController()
    const response = await fetch((await listen(app.nodeFetch)) + START, { headers: admin.headers, signal: leaving.signal })
    await response.body!.getReader().read()
    expect(await snapshotsOf(app.database)).toHaveLength(1)
    leaving.abort()
    await expectFreed(app.database)
  })
})

const NAMES = { username: 'A', fname: 'A', lname: 'A', email: 'a@gmail.com' }
const USER: SessionUser = { id: 'a', ...NAMES, userType: 'admin', role: 'owner', permissions: [], lacksSecondFactor: false }

/** Downloads without a spool for slow readers. */
async function bareDownloads({ database }: TestApp, stallMs?: number, log = pino({ level: 'silent' })): Promise<Downloads> {
  const spool = await openSpool({ directory: join(tmpdir(), `arcade-test-bare-${process.pid}`), log, limitBytes: 0 })
  const sessions = { onChange() {}, holdersOf: async () => new Map([['session', USER]]) }
  return createDownloads({ database, sessions, log, spool, maxExports: MAX_EXPORTS, ...(stallMs !== undefined && { stallMs }) })
}

/** Starts a download directly, not through a call. */
function downloadOf(
  downloads: Downloads,
  query = 'select user_id as id, phone_number as text from telegram_users order by user_id',
  signal = new AbortController().signal,
) {
  const context = { caller: { kind: 'user', user: USER, sessionId: 'session' }, requestId: randomUUID(), signal } as CallContext
  return downloads.start({
    context,
    exportId: undefined,
    target: 'test',
    fileName: 'test.xlsx',
    sheetName: 'Test',
    open: async () => ({
      total: MANY,
      columns: [
        { header: 'ID', width: 10, kind: 'number', field: 0 },
        { header: 'Text', width: 10, kind: 'text', field: 1 },
      ],
      rows: { sql: query },
    }),
  })
}
