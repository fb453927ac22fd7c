/** Several servers share one database and one file store: each knows what the others did, and any of them may end without loss. */
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import type { FileStore } from '#src/files/disk.ts'
import { openFileStore } from '#src/files/files.ts'
import { limits } from '#src/identity/attempts.ts'
import { ensureAdmin } from '#src/identity/accounts.ts'
import { createSetupLink } from '#src/identity/setup-links.ts'
import { actOfProcess } from '#src/audit/audit.ts'
import { addCount } from '#test/activity.ts'
import { SAMPLE } from '#test/console-server.ts'
import { type HttpProxy, startHttpProxy } from '#test/http-proxy.ts'
import { temporaryDataDir, waitFor } from '#test/processes.ts'
import { S3_CREDENTIALS, startS3Process, startS3Server } from '#test/s3-server.ts'
import { reportFigure, rounds, seededRandom } from '#test/size.ts'
import { type Client, PASSWORD, type TestApp, testApp } from '#test/test-app.ts'
import { createDatabase, openAgain } from '#test/test-database.ts'
import { twoServers } from '#test/two-servers.ts'
import { png } from '#test/test-images.ts'
import { openDatabase } from '#src/db/database.ts'
import { giveBalances } from '#test/players.ts'
import { pino } from 'pino'
import { ADMIN, expectGoodEnd, type ServerProcess, signInAdmin, startCommandWith, startServer } from './console-process.ts'
import { createGameWorkload } from './game-workload.ts'
import { createWorkload } from './workload.ts'

/** Timeout of tests that start, stop and kill processes: generous, for busy machines. */
const PROCESSES = { timeout: rounds(10 * 60_000, 6 * 3_600_000) }
/** How long writes may take on a busy machine, on which the process that decodes images gets hardly any time. */
const PATIENCE_MS = 300_000
/** Timeout for news from another server: far below the interval at which a server reads the state again without news. */
const SOON = { timeout: 15_000 }

/** Sends a client's requests to another server. */
const on = (app: TestApp, { headers }: Client) => ({
  call: (method: string, path: string, body?: unknown) => app.guest.call(method, path, body, headers),
})

test('§4 several servers: signing in, signing out, removal and another role take effect on all servers', async () => {
  const [one, other] = await twoServers()
  const boss = await one.signUp('admin')
  const people = await Promise.all(['out', 'removed', 'demoted'].map(() => one.signUp('admin')))
  const [out, removed, demoted] = people as [Client, Client, Client]
  const status = async (person: Client) => (await on(other, person).call('GET', '/api/users')).status
  for (const person of people) expect(await status(person)).toBe(200)
  // This listener is the last one on the other server, so when it has heard of a change the server's own listeners have too.
  const heard = new Set<string>()
  await other.database.listen('sessions', (userId) => heard.add(userId))
  await out.call('DELETE', '/api/session')
  await boss.call('DELETE', `/removeUser/${removed.id}`)
  await boss.call('PUT', `/api/users/${demoted.id}/user-type`, { userType: 'user' })
  for (const { id } of people) await waitFor('the other server to hear of it', () => heard.has(id))
  expect(await status(out)).toBe(401)
  expect(await status(removed)).toBe(401)
  expect(await status(demoted)).toBeOneOf([401, 403])
})

test('security: several servers: wrong passwords are counted across servers, and a known device is known to all', async () => {
  const apps = await twoServers({ rateLimit: true })
  const email = 'ada@gmail.com'
  await apps[0].signUp('admin', email)
  const attempt = async (app: TestApp, password: string, cookie = '') => {
    const headers = { 'content-type': 'application/json', cookie }
    const response = await app.fetch(
      '/api/session',
      { method: 'POST', headers, body: JSON.stringify({ email, password }) },
      '203.0.113.7',
    )
    return { status: response.status, cookies: response.headers.getSetCookie().map((text) => text.split(';')[0]!) }
  }
  const { cookies } = await attempt(apps[0], PASSWORD)
  await apps[0].database.db.deleteFrom('attempt_windows').execute()
  const statuses: number[] = []
  for (let count = 0; count < 2 * limits.signInFromKnown.max; count += 1)
    statuses.push((await attempt(apps[count % 2]!, 'guessed')).status)
  expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(limits.signInFromKnown.max)
  expect(statuses.at(-1)).toBe(429)
  const device = cookies.find((cookie) => cookie.startsWith('device='))!
  expect((await attempt(apps[1], PASSWORD, device)).status).toBe(200)
})

test('§7 several servers: a file that was uploaded to one can be used on and downloaded from the other', async () => {
  const s3 = await startS3Server()
  onTestFinished(() => s3.stop())
  const store = () => openFileStore({ filesUrl: s3.url, dataDir: '' })
  const [one, other] = [
    await testApp({ database: await openAgain(), fileStore: store() }),
    await testApp({ database: await openAgain(), fileStore: store() }),
  ]
  const admin = await one.signUp('admin')
  const upload = { method: 'POST', headers: { ...admin.headers, 'content-type': 'image/png' }, body: new Uint8Array(png) }
  const { key } = (await (await one.fetch('/api/files/announcements?name=a.png', upload)).json()) as { key: string }
  const content = { type: 'desc', title: 'Season 2', subtitle: 'Fresh levels', reward: 1, image: key, imageName: 'a.png' }
  const created = await on(other, admin).call('POST', '/api/announcements', content)
  expect(created.status).toBe(200)
  const status = async (app: TestApp) => (await on(app, admin).call('GET', `/api/files/${key}`)).status
  expect([await status(one), await status(other)]).toEqual([200, 200])
  await on(other, admin).call('DELETE', `/api/announcements/${created.body.id}`)
  expect([await status(one), await status(other)]).toEqual([404, 404])
})

test('§7 several servers: each of them reports the progress of an export, but only to the person who started it', async () => {
  const [one, other] = await twoServers({ spoolBytes: 0 })
  const [admin, somebody] = [await one.signUp('admin'), await one.signUp('admin')]
  await sql`insert into telegram_users (user_id, first_name, created_at) select n, repeat('long name ', 20), now() from generate_series(1, 20000) n`.execute(
    one.database.db,
  )
  await giveBalances(one.database.db)
  await addCount(one.database, { of: 'players' }, 20_000)
  const exportId = crypto.randomUUID()
  const response = await one.fetch(`/downloadTelegramUsersData?exportId=${exportId}`, { headers: admin.headers })
  const reader = response.body!.getReader()
  await reader.read()
  const path = `/api/exports/${exportId}`
  await expect.poll(async () => (await on(other, admin).call('GET', path)).body, SOON).toMatchObject({ total: 20_000 })
  expect((await on(other, somebody).call('GET', path)).body).toEqual({})
  await reader.cancel()
  await expect.poll(async () => (await on(other, admin).call('GET', path)).body, SOON).toEqual({})
})

test('§4 several servers: a set-up or password link made on one works once on any of them', async () => {
  const [one, other] = await twoServers()
  const path = (await createSetupLink(one.database, actOfProcess('command', 'test')))!
  const setup = new URL(path, 'http://console.test').searchParams.get('setup')
  const person = { fname: 'Ada', lname: 'B', email: 'ada@gmail.com', password: PASSWORD, confirmPassword: PASSWORD }
  const registering = [one, other, one, other].map((app, n) =>
    app.guest.call('POST', '/api/register', { ...person, email: `ada${n}@gmail.com`, setup }),
  )
  const answers = await Promise.all(registering)
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  const admin = await one.signUp('admin')
  const user = await one.signUp('user')
  const made = await admin.call('POST', '/api/password-links', { id: user.id })
  const link = new URL(made.body.path, 'http://console.test').searchParams.get('link')
  const state = async (app: TestApp) => (await app.guest.call('POST', '/api/password-link', { link })).body.state
  expect(await state(other)).toBe('valid')
  const change = { link, password: 'another horse', confirmPassword: 'another horse' }
  expect((await other.guest.call('PUT', '/api/password-link', change)).status).toBe(200)
  expect(await state(one)).not.toBe('valid')
  await expect.poll(async () => (await on(one, user).call('GET', '/api/session')).body.user, SOON).toBeNull()
})

test('Live: several servers: a change on one shows on the dashboards of the other', async () => {
  const [one, other] = await twoServers()
  const admin = await one.signUp('admin')
  const response = await other.fetch('/api/events', { headers: admin.headers })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const until = async (part: string) => {
    while (!text.includes(part)) text += (await reader.read()).value ?? ''
  }
  await until('"totalTasks":0')
  const times: number[] = []
  for (let task = 1; task <= 5; task += 1) {
    await admin.call('POST', '/api/social-tasks', { type: 'twitter', title: 'Follow us', priority: task, reward: 5 })
    const changedAt = performance.now()
    await until(`"totalTasks":${task},`)
    times.push(performance.now() - changedAt)
  }
  await reader.cancel()
  expect(times).toHaveLength(5)
  // Each change comes right after the server has polled, so the median is the polling interval: 0.8 s, a little more on a busy machine.
  reportFigure(`a change on one server shows on another one after ${Math.round(times.toSorted((a, b) => a - b)[2]!)} ms`)
})

test('design §7 several servers: if several create the first admin at once, one does', async () => {
  const [one, other] = await twoServers()
  const act = actOfProcess('system', 'Start of the server')
  const admin = { ...ADMIN, act, policy: 'standard', unlessAdminExists: true } as const
  const made = await Promise.all([one, other, one, other].map((app) => ensureAdmin(app.database, app.sessions, admin)))
  expect(made.toSorted()).toEqual(['created', 'kept', 'kept', 'kept'])
})

test(
  'design §4 several servers: two that start at once on an empty database both serve, with one first admin',
  PROCESSES,
  async () => {
    const url = await createDatabase('started_at_once')
    const dataDir = await temporaryDataDir()
    const servers = [startServer(dataDir, { DATABASE_URL: url }), startServer(dataDir, { DATABASE_URL: url })]
    const cookie = await signInAdmin(await servers[0]!.ready)
    const answer = await fetch(`${await servers[1]!.ready}/api/metrics`, { headers: { cookie } })
    expect(await answer.json()).toMatchObject({ totalUsers: 1, userTypes: { admin: 1 } })
    for (const server of servers) await expectGoodEnd(server)
  },
)

test(
  'security: crash: one of two servers is killed under load: nothing acknowledged is lost, and one retry is enough for every operator',
  PROCESSES,
  async () => {
    const pair = await twoBehindProxy('one_killed')
    const { proxy, servers, start, cookie, store } = pair
    await importSample(pair)
    const database = await openDatabase({ dataDir: '', url: pair.url, use: 'command', log: pino({ level: 'silent' }) })
    onTestFinished(() => database.close())
    const random = seededRandom()
    const console = createWorkload(
      random,
      () => proxy.url,
      () => cookie,
    )
    const game = await createGameWorkload(database, random, () => proxy.url)
    let isOver = false
    onTestFinished(() => void (isOver = true))
    const operators = [0, 1, 2].map((number) => operate({ proxy, cookie, number, isOver: () => isOver }))
    const running = [console, game].map((workload) => workload.run(() => isOver))
    const writes = async (by: string) => {
      const before = [console.acknowledged, game.acknowledged] as const
      const areMore = () => console.acknowledged > before[0] + 5 && game.acknowledged > before[1] + 20
      await waitFor(`writes through ${by}`, areMore, PATIENCE_MS)
    }
    const kills = rounds(3, 100)
    for (let kill = 0; kill < kills; kill += 1) {
      await writes('both')
      const victim = servers.shift()!
      victim.server.child.kill('SIGKILL')
      await victim.server.ended
      await writes('the other one')
      servers.push(await start(victim))
    }
    isOver = true
    const results = await Promise.all(operators)
    await Promise.all(running)
    await console.check(database, store)
    await game.check(database)
    const { rows } = await sql<{ title: string; count: number }>`
      select title, count(*) as count from tasks where title like 'operator%' group by title`.execute(database.db)
    expect(new Map(rows.map(({ title, count }) => [title, count]))).toEqual(
      new Map(results.flatMap(({ saved }) => saved.map((title) => [title, 1]))),
    )
    expect(
      results.flatMap(({ problems }) => problems),
      'requests that failed in spite of a retry',
    ).toEqual([])
    // Other servers finish the background work of the killed ones.
    await waitFor('entries to be sealed', async () => {
      const open = await sql`select from audit_open limit 1`.execute(database.db)
      return open.rows.length === 0
    })
    for (const { server } of servers) await expectGoodEnd(server)
    reportFigure(
      `one of two killed: ${kills} times, ${console.acknowledged} writes acknowledged, ${console.unknown} without an answer, ` +
        `${console.downloads} downloads, ${game.acknowledged} entries of the game acknowledged, ${game.repeated} of its requests sent again, ` +
        `${proxy.repeated} repeated by the proxy, ${proxy.lost} answered with 502; operators retried ${results.reduce((sum, { retries }) => sum + retries, 0)} times`,
    )
  },
)

test('design §8 several servers are restarted one after the other, and no request is lost', PROCESSES, async () => {
  const { proxy, servers, start, cookie } = await twoBehindProxy('rolling')
  let isOver = false
  onTestFinished(() => void (isOver = true))
  const operators = [0, 1, 2, 3].map((number) => operate({ proxy, cookie, number, isOver: () => isOver }))
  for (let restart = 0; restart < rounds(2, 20); restart += 1) {
    const old = servers.shift()!
    await expectGoodEnd(old.server)
    servers.push(await start(old))
  }
  isOver = true
  const results = await Promise.all(operators)
  expect(results.flatMap(({ problems }) => problems)).toEqual([])
  expect(results.map(({ retries }) => retries)).toEqual(results.map(() => 0))
  expect({ lost: proxy.lost, repeated: proxy.repeated }).toEqual({ lost: 0, repeated: 0 })
  for (const { server } of servers) await expectGoodEnd(server)
  reportFigure(`rolling restart: ${results.reduce((sum, { saved }) => sum + saved.length, 0)} saved and read, none lost`)
})

interface Started {
  server: ServerProcess
  address: string
  dataDir: string
}

interface Pair {
  proxy: HttpProxy
  servers: Started[]
  /** Starts a server that takes the place of an ended one, with its data directory. Resolves when both servers are ready. */
  start: (old: Started) => Promise<Started>
  cookie: string
  /** The address of the shared database. */
  url: string
  store: FileStore
  /** The environment variables of both servers. */
  env: Record<string, string>
}

/** Starts two server processes behind a proxy. They share a new database and an S3 store, but no directory. */
async function twoBehindProxy(name: string): Promise<Pair> {
  const url = await createDatabase(name, { isMigrated: true })
  const s3 = await startS3Process()
  const proxy = await startHttpProxy()
  onTestFinished(async () => {
    await proxy.stop()
    await s3.stop()
  })
  const env = { DATABASE_URL: url, FILES_URL: s3.url, ...S3_CREDENTIALS }
  const startOn = async (dataDir: string, old?: Started): Promise<Started> => {
    const server = startServer(dataDir, env)
    const address = await server.ready
    proxy.replace(old?.address, address)
    return { server, address, dataDir }
  }
  const bothReady = () => waitFor('both to be ready', () => proxy.ready() === 2)
  const servers = [await startOn(await temporaryDataDir()), await startOn(await temporaryDataDir())]
  await bothReady()
  const start = async (old: Started): Promise<Started> => {
    const started = await startOn(old.dataDir, old)
    await bothReady()
    return started
  }
  const store = openFileStore({ filesUrl: s3.url, dataDir: '' })
  return { proxy, servers, start, cookie: await signInAdmin(proxy.url), url, store, env }
}

async function importSample({ env, servers }: Pair): Promise<void> {
  const { code, output } = await startCommandWith(env, servers[0]!.dataDir, 'import', SAMPLE).ended
  expect(code, output).toBe(0)
}

interface Operator {
  proxy: HttpProxy
  cookie: string
  number: number
  isOver: () => boolean
}

/** Creates tasks as the web client does and reads each back. Retries a request once if it gets a 5xx. */
async function operate({ proxy, cookie, number, isOver }: Operator) {
  const saved: string[] = []
  const problems: string[] = []
  let retries = 0
  const ask = async (
    path: string,
    init: { method?: string; body?: string; headers?: Record<string, string> } = {},
  ): Promise<Response> => {
    const attempt = () =>
      fetch(proxy.url + path, { ...init, headers: { cookie, 'content-type': 'application/json', ...init.headers } })
    const answer = await attempt()
    if (answer.status < 500) return answer
    await answer.body?.cancel()
    retries += 1
    await pause(500)
    return attempt()
  }
  for (let task = 0; !isOver(); task += 1) {
    const title = `operator ${number} ${task}`
    const body = JSON.stringify({ type: 'twitter', title, reward: 1, priority: 1e7 + number * 1e6 + task })
    const created = await ask('/api/social-tasks', {
      method: 'POST',
      body,
      headers: { 'idempotency-key': title.replaceAll(' ', '-') },
    })
    const answer = (await created.json()) as { id: string; message?: string }
    if (created.status !== 200) {
      problems.push(`${title}: ${created.status} ${answer.message}`)
      continue
    }
    saved.push(title)
    const read = await ask(`/api/social-tasks/${answer.id}`)
    if (read.status !== 200) problems.push(`${title} read: ${read.status}`)
    const list = await ask('/api/social-tasks')
    if (!(await list.text()).includes('"tasks"')) problems.push(`${title} listed: ${list.status}`)
  }
  return { saved, problems, retries }
}
