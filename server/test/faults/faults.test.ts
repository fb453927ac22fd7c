/** The network to the database or file store is slow, silent, broken or gone (security.md, Crash). */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { s3Store } from '#src/files/s3.ts'
import { waitFor } from '#test/processes.ts'
import { startS3Server } from '#test/s3-server.ts'
import { reportFigure, rounds, seededRandom } from '#test/size.ts'
import { openAgain, testDatabase, workerUrl } from '#test/test-database.ts'
import { testApp } from '#test/test-app.ts'
import { download, png, upload } from '#test/test-images.ts'
import { type NetworkState, startTcpProxy } from './tcp-proxy.ts'

const WRITERS = 4
const STUCK = 20
const UNRELATED = ['/api/users', '/api/telegram-users', '/api/social-tasks', '/api/session', '/healthz']

test('security: crash: a database that is slow, silent, broken or gone: 503 meanwhile, no acknowledged write lost', async () => {
  const address = new URL(workerUrl())
  const proxy = await startTcpProxy(Number(address.port))
  address.port = String(proxy.port)
  const direct = await testDatabase()
  const limits = { size: 8, statementTimeoutMs: 1000 }
  const app = await testApp({ database: await openAgain({ url: address.href, limits, heartbeatMs: 500 }) })
  const admin = await app.signUp('admin')
  const acknowledged: string[] = []
  const statuses = new Map<number, number>()
  let isOver = false
  let priority = 0
  const writers = Array.from({ length: WRITERS }, async () => {
    while (!isOver) {
      priority += 1
      const task = { type: 'twitter', title: `Task ${priority}`, priority, reward: 1 }
      const { status, body } = await admin.call('POST', '/api/social-tasks', task)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status === 200) acknowledged.push(body.id)
    }
  })
  const answersOf = (status: number): number => statuses.get(status) ?? 0
  const more = (status: number): (() => boolean) => {
    const wanted = answersOf(status) + 2 * WRITERS
    return () => answersOf(status) >= wanted
  }

  const states: NetworkState[] = ['slow', 'resets', 'gone', 'silent']
  const ready = new Map<NetworkState, number>()
  const random = seededRandom()
  for (let round = 0; round < rounds(states.length, 200); round += 1) {
    const state = states[round < states.length ? round : Math.floor(random() * states.length)]!
    await proxy.become(state)
    await waitFor(`answers while the network is ${state}`, more(state === 'slow' ? 200 : 503))
    expect((await app.guest.call('GET', '/healthz')).status).toBe(200)
    ready.set(state, (await app.guest.call('GET', '/readyz')).status)
    await proxy.become('passes')
    await waitFor(`writes after the network was ${state}`, more(200))
  }
  await waitFor('a server that is ready', async () => (await app.guest.call('GET', '/readyz')).status === 200)
  isOver = true
  for (const state of ['resets', 'gone', 'silent'] as const) expect(ready.get(state), `/readyz while ${state}`).toBe(503)
  await Promise.all(writers)

  const { rows } = await sql<{ id: string }>`select id from tasks`.execute(direct.db)
  const stored = new Set(rows.map(({ id }) => id))
  expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
  expect([...statuses.keys()].toSorted((a, b) => a - b)).toEqual([200, 503])
  reportFigure(`security: crash: ${answersOf(200)} writes acknowledged, ${answersOf(503)} refused while the network failed`)
})

test('security: crash: if the database falls silent, callers get 503 after two heartbeats, before their statements time out', async () => {
  const address = new URL(workerUrl())
  const proxy = await startTcpProxy(Number(address.port))
  address.port = String(proxy.port)
  const limits = { statementTimeoutMs: 600_000 }
  const app = await testApp({ database: await openAgain({ url: address.href, limits, heartbeatMs: 500 }) })
  const admin = await app.signUp('admin')
  expect((await admin.call('GET', '/api/users')).status).toBe(200)
  await proxy.become('silent')
  const answers = await Promise.all(UNRELATED.slice(0, 3).map((path) => admin.call('GET', path)))
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 503])
  await proxy.become('passes')
  await waitFor('the database', async () => (await admin.call('GET', '/api/users')).status === 200)
})

test('security: crash: a file store that never answers delays only requests that need it, and recovers by itself', async () => {
  const s3 = await startS3Server()
  const address = new URL(s3.url)
  const endpoint = new URL(address.searchParams.get('endpoint')!)
  const proxy = await startTcpProxy(Number(endpoint.port))
  endpoint.port = String(proxy.port)
  address.searchParams.set('endpoint', endpoint.href)
  try {
    const app = await testApp({ fileStore: s3Store(address.href), database: await openAgain({ limits: { size: 8 } }) })
    const admin = await app.signUp('admin')
    const announcement = { type: 'desc', title: 'Season 2', subtitle: 'Fresh levels', reward: 1 }
    const keys: string[] = []
    for (let n = 0; n < STUCK; n += 1) keys.push((await upload(app, admin, png)).body.key)
    const add = async (image: string) =>
      (await admin.call('POST', '/api/announcements', { ...announcement, image, imageName: 'banner.png' })).body.id as string
    const added = await Promise.all(keys.slice(STUCK / 2).map(add))

    await proxy.become('silent')
    const saves = keys.slice(0, STUCK / 2).map((image) => admin.call('POST', '/api/announcements', { ...announcement, image }))
    const uploads = Array.from({ length: STUCK }, () => upload(app, admin, png))
    for (const id of added) expect((await admin.call('DELETE', `/api/announcements/${id}`)).status).toBe(200)
    const unrelated: string[] = []
    for (let round = 0; round < 3; round += 1)
      for (const path of UNRELATED) unrelated.push(`${path} ${(await admin.call('GET', path)).status}`)
    expect(unrelated.filter((answer) => !answer.endsWith(' 200'))).toEqual([])
    expect((await admin.call('GET', '/readyz')).status).toBe(503)

    await proxy.become('resets')
    const answers = await Promise.all([...saves, ...uploads])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]))
    await proxy.become('passes')
    expect((await upload(app, admin, png)).status).toBe(200)
    expect((await download(app, admin, keys[0]!)).status).toBe(200)
    await expect.poll(async () => (await admin.call('GET', '/readyz')).status).toBe(200)
    await sql`update file_removals set requested_at = now()`.execute(app.database.db)
    await app.files.sweep()
    for (const key of keys.slice(STUCK / 2)) expect((await download(app, admin, key)).status).toBe(404)
  } finally {
    await proxy.become('resets') // closes all connections, without which the S3 server would not stop
    await s3.stop()
  }
})
