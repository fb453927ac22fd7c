import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { root } from './children.ts'
import { sampleUntil } from './demo.ts'

const TIMEOUT_MS = 240_000 // far longer than it takes, for a busy machine
const POLL = { timeout: TIMEOUT_MS / 2, interval: 500 }

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'arcade-test-demo-'))
  chmodSync(folder, 0o711) // for root, PostgreSQL runs as another user, who must be able to enter
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }))
  return folder
}

function startDemo({ named, DATA_DIR }: { named?: string; DATA_DIR?: string }): ChildProcess {
  const { PATH, HOME } = process.env
  const ofRealConsole = { DATABASE_URL: 'postgres://nowhere', BACKUP_URL: '/nowhere', PUBLIC_URL: 'https://console.example.org' }
  const env = { PATH, HOME, PORT: '0', INIT_CWD: root, ...ofRealConsole, ...(DATA_DIR && { DATA_DIR }) }
  const child = spawn('sh', ['scripts/run', 'demo', ...(named ? [named] : [])], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  })
  return child
}

/** Returns the addresses and the account that the demo prints. */
async function signInOf(child: ChildProcess): Promise<{ address: string; email: string; password: string; player: string }> {
  const values = new Map<string, string>()
  for await (const line of createInterface({ input: child.stdout! })) {
    const [, name, value] = /^ {2}(Open|Email|Password|Player) +(\S+)$/.exec(line) ?? []
    if (name && value) values.set(name, value)
    if (name !== 'Player') continue
    child.stdout?.resume()
    const [address = '', email = '', password = '', player = ''] = ['Open', 'Email', 'Password', 'Player'].map((one) =>
      values.get(one),
    )
    return { address, email, password, player }
  }
  throw new Error('the demo ended before it said how to sign in')
}

async function signIn(child: ChildProcess): Promise<{
  get: (path: string) => Promise<unknown>
  post: (path: string, body: object) => Promise<unknown>
  address: string
  player: string
}> {
  const { address, email, password, player } = await signInOf(child)
  const headers = { 'content-type': 'application/json', origin: address }
  const answer = await fetch(`${address}/api/session`, { method: 'POST', headers, body: JSON.stringify({ email, password }) })
  expect(answer.status).toBe(200)
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  return {
    address,
    player,
    get: async (path) => (await fetch(`${address}${path}`, { headers: { cookie } })).json(),
    post: async (path, body) =>
      (await fetch(`${address}${path}`, { method: 'POST', headers: { ...headers, cookie }, body: JSON.stringify(body) })).json(),
  }
}

type SignedIn = Awaited<ReturnType<typeof signIn>>

/** Sends a broadcast. It arrives only at the stand-in: Telegram does not know the demo's token. */
async function expectBroadcast(get: SignedIn['get'], post: SignedIn['post']): Promise<void> {
  const { announcements } = (await get('/api/announcements')) as { announcements: { id: string }[] }
  const { id } = (await post('/api/broadcasts', { announcementId: announcements[0]?.id })) as { id: string }
  await expect.poll(() => get(`/api/broadcasts/${id}`), POLL).toMatchObject({ sent: expect.toSatisfy((sent) => sent > 0) })
  await post(`/api/broadcasts/${id}/cancel`, {})
}

/** Returns the process that the demo has started with this script. */
function processOf(demo: ChildProcess, script: string): number {
  const processes = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
  const line = processes.split('\n').find((one) => one.endsWith(script) && one.trim().split(/\s+/)[1] === String(demo.pid))
  return Number(line?.trim().split(/\s+/)[0])
}
const running = (): string[] => execFileSync('ps', ['-A', '-o', 'pid='], { encoding: 'utf8' }).split(/\s+/)

/** Kills the bot that the demo has started, and waits until it is gone. */
async function killBot(demo: ChildProcess): Promise<void> {
  const pid = processOf(demo, 'examples/game/src/main.ts')
  process.kill(pid, 'SIGKILL')
  await expect.poll(running).not.toContain(String(pid))
}

/** Returns the numbers of players who joined and of participations in the last 24 hours. */
async function activityOfToday(get: (path: string) => Promise<unknown>): Promise<{ players: number; participations: number }> {
  const { points } = (await get('/api/activity?range=24h')) as {
    points: { players: number; social: number; daily: number; announcement: number }[]
  }
  const sum = (of: (point: (typeof points)[number]) => number): number => points.reduce((total, point) => total + of(point), 0)
  return { players: sum(({ players }) => players), participations: sum((one) => one.social + one.daily + one.announcement) }
}

async function end(child: ChildProcess, { address, dataDir }: { address: string; dataDir: string }): Promise<void> {
  child.kill('SIGTERM')
  await once(child, 'exit')
  await expect(fetch(address)).rejects.toThrow('fetch failed')
  const left = execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' })
  expect(left.split('\n').filter((command) => command.includes(dataDir))).toEqual([])
}

/** Expects work of operators and players in every panel. */
async function expectWorkInEveryPanel(get: SignedIn['get']): Promise<void> {
  const { users } = (await get('/api/telegram-users')) as { users: { userId: number }[] }
  const ledger = (await get(`/api/telegram-users/${users[0]?.userId}/entries`)) as { entries: { cause: string }[] }
  expect(ledger.entries.map(({ cause }) => cause)).toEqual(
    expect.arrayContaining(['opening', 'round', 'claim', 'adjustment', 'reversal']),
  )
  expect(await get('/api/telegram-users/count?status=blocked')).toMatchObject({ total: 4 })

  const { announcements } = (await get('/api/announcements')) as { announcements: { image: string | null }[] }
  expect(announcements.filter(({ image }) => image !== null)).toHaveLength(5)
  expect(await get('/api/trash')).toMatchObject({ records: [{ name: 'Teaser: Season 3' }] })
  expect(await get('/api/views')).toMatchObject({ views: [{ name: 'Blocked', isShared: true }] })

  const { entries } = (await get('/api/audit?pageSize=100')) as { entries: { actorKind: string; actorName: string }[] }
  const people = entries.filter(({ actorKind }) => actorKind === 'user').map(({ actorName }) => actorName)
  expect(people).toEqual(expect.arrayContaining(['Ada Lindqvist', 'Олена Мельник', 'Kwame Mensah']))

  const webhooks = async () => ((await get('/api/webhooks')) as { webhooks: { failingSince: string | null }[] }).webhooks
  await expect.poll(webhooks, POLL).toMatchObject([{ failingSince: expect.any(String) }])
}

/** Expects that players go on playing, which changes their balances. */
async function expectPlaying(get: SignedIn['get']): Promise<void> {
  const balances = async (): Promise<unknown> =>
    Promise.all(['sort=user-id&reversed=true', 'sort=balance'].map((order) => get(`/api/telegram-users?pageSize=25&${order}`)))
  const before = await balances()
  await expect.poll(balances, POLL).not.toEqual(before)
}

test(
  'design §8 npm run demo shows the sample with activity of today, work in every panel and players who go on, and leaves nothing running',
  async () => {
    const dataDir = join(temporaryFolder(), 'demo')
    for (const start of ['first', 'again']) {
      const child = startDemo(start === 'first' ? { named: dataDir } : { DATA_DIR: dataDir })
      const { get, post, address, player } = await signIn(child)
      if (start === 'first') {
        await expectWorkInEveryPanel(get)
        await expectPlaying(get)
      }
      const page = await fetch(player)
      expect(statSync(dataDir).mode & 0o066).toBe(0) // others can read nothing
      expect(statSync(join(dataDir, 'files')).mode & 0o077).toBe(0)
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Player and console')])
      await killBot(child) // the console goes on
      expect(await get('/api/metrics')).toMatchObject({
        totalUsers: 6,
        totalTelegramUsers: expect.toSatisfy((players: number) => players >= 1203 + 10),
        activeAnnouncements: 5,
        totalTasks: 19,
      })
      if (start === 'first') await expectBroadcast(get, post)
      const today = await activityOfToday(get)
      expect(today.players, start).toBeGreaterThan(5)
      expect(today.participations, start).toBeGreaterThan(5)
      const players = processOf(child, 'scripts/demo-players.ts')
      expect(running(), start).toContain(String(players))
      await end(child, { address, dataDir })
      expect(running(), start).not.toContain(String(players))
    }
  },
  TIMEOUT_MS,
)

test.for(['named', 'DATA_DIR'])(
  'design §8 npm run demo refuses a directory with data that is not the demo’s: %s',
  async (way) => {
    const dataDir = temporaryFolder()
    mkdirSync(join(dataDir, 'postgres'))
    const child = startDemo({ [way]: dataDir })
    expect(await once(child, 'exit')).toEqual([1, null])
  },
)

test('design §8 the newest time of the demo’s sample is now, and all times are moved by the same amount', () => {
  const timesOf = (now: number): number[] =>
    Object.values(sampleUntil(new Date(now))).flatMap((content) =>
      Array.from(content.matchAll(/"(?:createdAt|timestamp)":"([^"]+)"/g), ([, time = '']) => Date.parse(time)),
    )
  const now = Date.UTC(2031, 4, 6, 7, 8, 9, 123)
  const times = timesOf(now)
  expect(times).toHaveLength(1203 + 12 + 7 + 9 + 445 + 251 + 392)
  expect(times.reduce((newest, time) => Math.max(newest, time))).toBe(now)
  expect(timesOf(now + 1000)).toEqual(times.map((time) => time + 1000))
})
