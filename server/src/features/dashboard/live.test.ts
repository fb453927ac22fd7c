import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { serve } from '@hono/node-server'
import { expect, onTestFinished, test } from 'vitest'
import type { Followed } from '@arcade/contract/dashboard/calls'
import { beginActivity, addPlayerCount } from '#src/counters/activity.ts'
import { addToCounters } from '#src/counters/counters.ts'
import { startConsoleServer } from '#test/console-server.ts'
import { takeClocks } from '#test/clock.ts'
import { type Client, type TestApp, testApp } from '#test/test-app.ts'
import { addPlayers } from '#test/players.ts'
import { MAX_STREAMS, MAX_STREAMS_EACH } from './live.ts'

interface Listening<Name extends keyof Followed> {
  response: Response
  /** Returns the data of the next event, or `undefined` once the stream has ended. */
  next(): Promise<Followed[Name] | undefined>
  close(): Promise<void>
}

async function listen(app: TestApp, client: Client, query = ''): Promise<Listening<'figures'>> {
  const listening = await follow(app, client, { name: 'figures', query })
  expect((await listening.next())?.metrics, 'the first event, when the stream starts').toBeDefined()
  return listening
}

async function follow<Name extends keyof Followed>(
  app: TestApp,
  { headers }: Client,
  { name, query }: { name: Name; query: string },
): Promise<Listening<Name>> {
  const response = await app.fetch(`/api/events${query}`, { headers })
  expect(response.status, response.ok ? '' : await response.text()).toBe(200)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const close = () => reader.cancel()
  onTestFinished(close)
  let text = ''
  return {
    response,
    close,
    async next() {
      for (;;) {
        const [message, rest] = text.split(/\n\n([^]*)/)
        if (rest !== undefined) {
          text = rest
          const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(message ?? '') ?? []
          if (event !== undefined) expect(event).toBe(name)
          if (data !== undefined) return JSON.parse(data) as Followed[Name]
          continue
        }
        const { done, value } = await reader.read()
        if (done) return undefined
        text += value
      }
    },
  }
}

async function join({ database }: TestApp, players: number): Promise<void> {
  await database.transaction(async (tx) => {
    const activity = await beginActivity(tx)
    addPlayerCount(activity, activity.now, players)
    await addToCounters(tx, activity.deltas)
  })
}

test('Live: an event is sent when the figures of the requested range have changed', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  await join(app, 1)
  const [day, month] = [await listen(app, admin, '?range=24h'), await listen(app, admin)]
  expect(Object.fromEntries(day.response.headers)).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  })
  await join(app, 2)
  const [ofDay, ofMonth] = [await day.next(), await month.next()]
  expect(ofDay?.metrics).toMatchObject({ totalTelegramUsers: 3, totalUsers: 1 })
  expect(ofDay?.activity).toMatchObject({ range: '24h', unit: 'hour' })
  expect(ofDay?.activity.points.at(-1)?.players).toBe(3)
  expect(ofMonth?.activity).toMatchObject({ range: '30d', unit: 'day' })
  // Unchanged figures are not sent again: the next event comes with the next change.
  await join(app, 4)
  expect((await day.next())?.metrics.totalTelegramUsers).toBe(7)
})

test('Live: a claim reaches those who follow its kind of History, its item or its player', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const bot = await app.bot()
  await addPlayers(app.database.db, [{ user_id: 7, balance: 1 }, { user_id: 8 }])
  const addTask = async (title: string, priority: number): Promise<string> =>
    (await admin.call('POST', '/api/social-tasks', { type: 'twitter', title, priority, reward: 5 })).body.id
  const id = await addTask('Follow us', 1)
  const [history, item, player, stranger] = [
    await follow(app, admin, { name: 'history', query: '?history=social' }),
    await follow(app, admin, { name: 'history', query: `?history=social&item=${id}` }),
    await follow(app, admin, { name: 'player', query: '?player=7' }),
    await follow(app, admin, { name: 'player', query: '?player=9' }),
  ]
  expect(await history.next()).toEqual({ titles: 1, participants: 0, ofItem: null })
  expect(await item.next()).toEqual({ titles: 1, participants: 0, ofItem: 0 })
  expect(await player.next()).toEqual({ entries: 1, balance: 1, blockedAt: null })
  expect(await stranger.next()).toBeNull()
  const other = await addTask('Join us', 2)
  expect(await history.next()).toEqual({ titles: 2, participants: 0, ofItem: null })
  expect(await item.next()).toEqual({ titles: 2, participants: 0, ofItem: 0 })
  for (const [userId, task] of [
    [7, id],
    [8, other],
  ] as const)
    expect((await bot.call('POST', `/bot/v1/players/${userId}/claims`, { kind: 'social', id: task })).status).toBe(200)
  const last = async <Name extends keyof Followed>(stream: Listening<Name>, isLast: (now: Followed[Name]) => boolean) => {
    for (;;) {
      const now = (await stream.next())!
      if (isLast(now)) return now
    }
  }
  expect(await last(history, (now) => now.participants === 2)).toEqual({ titles: 2, participants: 2, ofItem: null })
  expect(await last(item, (now) => now.participants === 2)).toEqual({ titles: 2, participants: 2, ofItem: 1 })
  expect(await player.next()).toEqual({ entries: 2, balance: 6, blockedAt: null })
  await admin.call('POST', '/api/telegram-users/block', { target: { ids: ['7'] }, reason: 'Plays by a script' })
  const { body } = await admin.call('GET', '/api/telegram-users/7')
  expect(await player.next()).toEqual({ entries: 2, balance: 6, blockedAt: body.block.at })
})

test.each(['history=social&player=7', 'range=24h&player=7', 'item=x', 'history=none', 'player=x'])(
  'Live: a stream with %s is refused',
  async (query) => {
    const app = await testApp()
    expect((await (await app.signUp('admin')).call('GET', `/api/events?${query}`)).status).toBe(400)
  },
)

test('Live: the stream ends with the session and when the role changes', async () => {
  const app = await testApp()
  const [admin, other, boss] = [await app.signUp('admin'), await app.signUp('admin'), await app.signUp('admin')]
  const [own, demoted, kept] = [await listen(app, admin), await listen(app, other), await listen(app, boss)]
  expect((await admin.call('DELETE', '/api/session')).status).toBe(200)
  expect(await own.next()).toBeUndefined()
  expect((await boss.call('PUT', `/api/users/${other.id}/user-type`, { userType: 'user' })).status).toBe(200)
  expect(await demoted.next()).toBeUndefined()
  await join(app, 1)
  expect((await kept.next())?.metrics.totalTelegramUsers).toBe(1)
})

test('Live: a session that another process ends also ends the stream here', async () => {
  const [app, elsewhere] = [await testApp(), await testApp()]
  const admin = await app.signUp('admin')
  const stream = await listen(app, admin)
  await elsewhere.sessions.end(admin.headers['cookie']!.replace('session=', ''))
  expect(await stream.next()).toBeUndefined()
})

test('Live: a stream whose session was deleted without a notification ends, even if the clock has jumped', async () => {
  for (const hours of [2, -2]) {
    const clocks = takeClocks()
    const app = await testApp()
    const admin = await app.signUp('admin')
    const stream = await listen(app, admin)
    await app.database.db.deleteFrom('sessions').execute()
    clocks.jump(hours * 3_600_000)
    clocks.pass(1_000)
    expect(await stream.next()).toBeUndefined()
  }
})

test('Live: only admins can open streams', async () => {
  const app = await testApp()
  for (const [client, status] of [
    [app.guest, 401],
    [await app.signUp('user'), 403],
    [await app.bot(), 403],
  ] as const)
    expect((await client.call('GET', '/api/events')).status).toBe(status)
})

test('Live: the number of streams of one user is limited, even if opened at once, and closing one makes room', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const answers = await Promise.all(
    Array.from({ length: MAX_STREAMS_EACH + 20 }, () => app.fetch('/api/events', { headers: admin.headers })),
  )
  const open = answers.filter(({ status }) => status === 200)
  expect(open).toHaveLength(MAX_STREAMS_EACH)
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused).toHaveLength(20)
  expect(await refused[0]!.json()).toMatchObject({ code: 'TOO_MANY_STREAMS', retryAfterSeconds: 60 })
  await open[0]!.body!.cancel()
  const again = await app.fetch('/api/events', { headers: admin.headers })
  expect(again.status).toBe(200)
  for (const { body } of [...open.slice(1), again]) await body!.cancel()
})

test('Live: the number of streams of all users is limited', async () => {
  const app = await testApp()
  const streams: Response[] = []
  for (let opened = 0; opened < MAX_STREAMS; opened += MAX_STREAMS_EACH) {
    const { headers } = await app.signUp('admin')
    streams.push(...(await Promise.all(Array.from({ length: MAX_STREAMS_EACH }, () => app.fetch('/api/events', { headers })))))
  }
  expect(streams.every(({ status }) => status === 200)).toBe(true)
  expect((await (await app.signUp('admin')).call('GET', '/api/events')).status).toBe(429)
  await Promise.all(streams.map(({ body }) => body!.cancel()))
})

test('Live: stopping ends every stream and refuses new ones', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const stream = await listen(app, admin)
  app.live.stop()
  expect(await stream.next()).toBeUndefined()
  expect((await admin.call('GET', '/api/events')).status).toBe(503)
})

test('Live: over a socket the stream starts at once, and a client that disconnects makes room', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const server = serve({ fetch: app.nodeFetch, port: 0, hostname: '127.0.0.1' })
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())))
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  for (let round = 0; round < 3; round += 1) {
    const sockets = await Promise.all(
      Array.from({ length: MAX_STREAMS_EACH }, async () => {
        const socket = connect(port, '127.0.0.1').setEncoding('utf8')
        socket.write(`GET /api/events HTTP/1.1\r\nHost: console.localhost\r\nCookie: ${admin.headers['cookie']}\r\n\r\n`)
        let text = ''
        for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
          text += String(chunk)
          if (text.includes('retry:')) break
        }
        expect(text).toMatch(/^HTTP\/1\.1 200 [^]*text\/event-stream[^]*retry: 2000/)
        return socket
      }),
    )
    for (const socket of sockets) socket.destroy()
    await expect.poll(() => app.live.size()).toBe(0)
  }
})

test('Live: a server that stops ends its streams properly before it exits', async () => {
  const server = await startConsoleServer()
  onTestFinished(() => server.stop())
  const { token } = await server.addPerson({ fname: 'A', lname: 'B', email: 'a@gmail.com', userType: 'admin' })
  const response = await fetch(`${server.url}/api/events`, { headers: { cookie: `session=${token}` } })
  expect(response.headers.get('content-encoding')).toBeNull()
  const text = response.text() // rejects if the stream is cut off
  process.kill(server.pid, 'SIGTERM')
  expect(await text).toContain('retry: 2000')
})
