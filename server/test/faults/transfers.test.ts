/** Clients that send malformed uploads, do not read their answers, or disconnect (security.md, Uploads and Exports). */
import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { serve } from '@hono/node-server'
import sharp from 'sharp'
import { expect, onTestFinished, test } from 'vitest'
import { MAX_STREAMS_EACH } from '#src/features/dashboard/live.ts'
import { limitSockets } from '#src/http/socket-limits.ts'
import { reportFigure, rounds, seededRandom } from '#test/size.ts'
import { type Client, testApp } from '#test/test-app.ts'
import { waitFor } from '#test/processes.ts'
import { png, upload } from '#test/test-images.ts'

const READERS = 5
/** Hostile uploads at a time. When a body is too long and stops, the server ends the connection only after 10 s. */
const AT_ONCE = 10
/** Requests for the large image on each connection: together their answers do not fit into the buffers between client and server. */
const TIMES = 8
const UPLOAD = '/api/files/announcements?name=banner.png'

test('security: uploads: hostile uploads get a 4xx or a closed connection, and leave nothing behind', async () => {
  const { app, admin, open } = await serving()
  const random = seededRandom()
  const statuses = new Map<string, number>()
  const send = async ({ bytes, isCutOff }: ReturnType<typeof hostileUpload>): Promise<void> => {
    const socket = await open()
    const answered = text(socket).catch(() => '')
    if (isCutOff) socket.end(bytes)
    else socket.write(bytes)
    const status = /^HTTP\/1\.1 (\d{3})/.exec(await answered)?.[1] ?? 'closed'
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    expect(status, JSON.stringify(bytes.toString('latin1').slice(0, 300))).toMatch(/^(4\d\d|closed)$/)
  }
  let round = 0
  const sendAll = async (): Promise<void> => {
    while (round < rounds(100, 5_000)) await send(hostileUpload(admin, random, round++))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, sendAll))
  expect((await app.guest.call('GET', '/healthz')).status).toBe(200)
  expect(await app.database.db.selectFrom('file_removals').selectAll().execute()).toEqual([])
  expect((await upload(app, admin, png)).status).toBe(200)
  reportFigure(`security: uploads: hostile ones answered ${[...statuses].map((entry) => entry.join(': ')).join(', ')}`)
})

test('security: uploads: the connections of clients that stop reading a file, or disconnect, are closed', async () => {
  const { app, admin, server } = await serving(1_000)
  const { key } = (await upload(app, admin, await largeImage())).body
  const { port } = server.address() as AddressInfo
  const ask = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {}).pause()
    await once(socket, 'connect')
    socket.write(request(admin, `GET /api/files/${key}`).repeat(TIMES))
    return socket
  }
  const stuck = await Promise.all(Array.from({ length: READERS }, ask))
  const vanishing = await Promise.all(Array.from({ length: READERS }, ask))
  vanishing.forEach((socket) => socket.resetAndDestroy())
  await expect.poll(() => connectionsOf(server)).toBe(0)
  stuck.forEach((socket) => socket.destroy())
})

test('security: uploads: slow readers of a file get all of it and do not delay others', async () => {
  const { app, admin, open } = await serving()
  const { key } = (await upload(app, admin, await largeImage())).body
  const file = Buffer.from((await admin.call('GET', `/api/files/${key}`)).body as ArrayBuffer)
  const ask = async (times: number): Promise<Socket> => {
    const socket = await open()
    const again = request(admin, `GET /api/files/${key}`).repeat(times - 1)
    socket.write(again + request(admin, `GET /api/files/${key}`, { connection: 'close' }))
    return socket
  }
  const slow = await Promise.all(Array.from({ length: READERS }, () => ask(TIMES)))
  for (const socket of slow) socket.once('data', (first) => socket.pause().unshift(first))
  for (let n = 0; n < READERS; n += 1) expect(countIn(await buffer(await ask(1)), file)).toBe(1)
  for (const socket of slow) expect(countIn(await buffer(socket), file)).toBe(TIMES)
})

test('§9 Live: clients that do not read their stream delay nobody, and are disconnected when their session ends', async () => {
  const { app, admin, server, open } = await serving()
  const listen = async (client: Client): Promise<Socket> => {
    const socket = await open()
    socket.write(request(client, 'GET /api/events'))
    await once(socket, 'data')
    return socket
  }
  const stuck = await app.signUp('admin')
  for (let n = 0; n < MAX_STREAMS_EACH; n += 1) (await listen(stuck)).pause()
  const awake = await listen(admin)
  let heard = ''
  awake.on('data', (chunk: Buffer) => (heard += chunk.toString()))
  const task = { type: 'twitter', title: 'Follow us', priority: 1, reward: 1 }
  expect((await admin.call('POST', '/api/social-tasks', task)).status).toBe(200)
  await expect.poll(() => heard).toContain('"totalTasks":1')
  expect((await stuck.call('DELETE', '/api/session')).status).toBe(200)
  await expect.poll(() => connectionsOf(server)).toBe(1)
  awake.destroy()
})

test('§9 Live: streams of clients that disconnected no longer count against the limit', async () => {
  const { admin, server, open } = await serving()
  const listen = async (): Promise<Socket | undefined> => {
    const socket = await open()
    socket.write(request(admin, 'GET /api/events'))
    const [answer] = (await once(socket, 'data')) as [Buffer]
    if (answer.toString().startsWith('HTTP/1.1 200')) return socket
    socket.destroy()
    return undefined
  }
  for (let round = 0; round < 3; round += 1) {
    const streams: Socket[] = []
    while (streams.length < MAX_STREAMS_EACH) streams.push(await waitFor('room for a stream', listen))
    expect(await listen(), 'one stream too many').toBeUndefined()
    streams.forEach((socket) => socket.resetAndDestroy())
  }
  await expect.poll(() => connectionsOf(server)).toBe(0)
})

/** A PNG of some megabytes: noise cannot be compressed. */
function largeImage(): Promise<Buffer> {
  const noise = { type: 'gaussian', mean: 128, sigma: 50 } as const
  const image = sharp({ create: { width: 1200, height: 900, channels: 3, background: 'black', noise } })
  return image.png().toBuffer()
}

function countIn(bytes: Buffer, file: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(file); at >= 0; at = bytes.indexOf(file, at + file.length)) count += 1
  return count
}

/** Starts an app on a port and signs in an admin. */
async function serving(stuckMs?: number) {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const server = await new Promise<Server>((resolve) => {
    const started = serve({ fetch: app.nodeFetch, port: 0, hostname: '127.0.0.1' }, () => resolve(started)) as Server
  })
  limitSockets(server, stuckMs)
  onTestFinished(() => {
    app.live.stop()
    server.closeAllConnections()
    server.close()
  })
  const open = async (): Promise<Socket> => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    return socket
  }
  return { app, admin, server, open }
}

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) => server.getConnections((error, count) => (error ? reject(error) : resolve(count))))
}

function request(client: Client, start: string, headers: Record<string, string> = {}): string {
  const all = { host: 'console.localhost', ...client.headers, ...headers }
  return `${start} HTTP/1.1\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`
}

/** Returns a malformed upload, another kind for each round. If `isCutOff`, the client closes its side after these bytes. */
function hostileUpload(admin: Client, random: () => number, round: number): { bytes: Buffer; isCutOff: boolean } {
  const number = (below: number): number => Math.floor(random() * below)
  const noise = Buffer.from(Array.from({ length: number(2_000) }, () => number(256)))
  const post = (headers: Record<string, string>, body: Uint8Array | string = ''): Buffer =>
    Buffer.concat([Buffer.from(request(admin, `POST ${UPLOAD}`, { connection: 'close', ...headers })), Buffer.from(body)])
  const image = { 'content-type': 'image/png' }
  const sized = (body: Uint8Array | string, headers: Record<string, string> = image): Buffer =>
    post({ ...headers, 'content-length': String(Buffer.byteLength(body)) }, body)
  const part = (boundary: string, content: string): string =>
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="../../x.png"\r\n\r\n${content}\r\n`
  const multipart = { 'content-type': 'multipart/form-data; boundary=one' }
  const ways: (() => { bytes: Buffer; isCutOff?: boolean })[] = [
    () => ({ bytes: sized(png.subarray(0, 8 + number(png.length - 20))) }),
    () => ({ bytes: sized(noise) }),
    () => ({ bytes: post({ ...image, 'content-length': String(png.length + 1 + number(10_000)) }, png), isCutOff: true }),
    () => ({ bytes: post({ ...image, 'content-length': '104857600' }, noise) }),
    () => ({ bytes: post({ ...image, 'content-length': '-1' }, png) }),
    () => ({ bytes: post({ ...image, 'content-length': '10', 'transfer-encoding': 'chunked' }, '5\r\nhello\r\n0\r\n\r\n') }),
    () => ({ bytes: post({ ...image, 'transfer-encoding': 'chunked' }, `zz\r\n${noise.toString('latin1')}`) }),
    () => ({ bytes: post({ ...image, 'transfer-encoding': 'chunked' }, `fffff\r\n${noise.toString('latin1')}`), isCutOff: true }),
    () => ({ bytes: sized(part('one', png.toString('latin1')), multipart) }), // without the closing boundary
    () => ({ bytes: sized(`${part('two', 'x')}--two--\r\n`, multipart) }), // another boundary than the header says
    () => ({ bytes: sized(`${part('one', 'x').repeat(1 + number(20_000))}--one--\r\n`, multipart) }),
    () => ({ bytes: sized(png, { 'content-type': 'multipart/form-data' }) }),
    () => ({ bytes: post({ ...image, 'x-long': 'x'.repeat(20_000 + number(100_000)) }) }),
    () => ({ bytes: sized(png, { ...image, ...Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`x-${n}`, 'y'])) }) }),
    () => ({ bytes: sized('', image) }),
    () => ({ bytes: post(image, '').subarray(0, 20 + number(150)), isCutOff: true }),
  ]
  return { isCutOff: false, ...ways[round % ways.length]!() }
}
