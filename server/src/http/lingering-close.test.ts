/** A request that is too large, on a real connection: its sender can read why, even if it keeps sending (RFC 9112, 9.6). */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { serve } from '@hono/node-server'
import { expect, onTestFinished, test } from 'vitest'
import { limitSockets } from '#src/http/socket-limits.ts'
import { testApp } from '#test/test-app.ts'

const MB = 1024 * 1024

/** Returns a connection that has sent the head of a batch of players, and what came back so far. */
async function batch(
  framing: string,
): Promise<{ socket: Socket; read: () => string; failures: Error[]; answered: Promise<void> }> {
  const app = await testApp()
  const bot = await app.bot()
  const server = serve({ fetch: app.nodeFetch, port: 0, hostname: '127.0.0.1' })
  limitSockets(server as Parameters<typeof limitSockets>[0])
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const socket = connect((server.address() as { port: number }).port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const failures: Error[] = []
  socket.on('error', (error) => failures.push(error))
  let received = ''
  const answered = new Promise<void>((resolve) => {
    socket.on('data', (part: Buffer) => {
      received += part.toString()
      if (received.includes('"TOO_LARGE"')) resolve()
    })
  })
  socket.write(
    `POST /bot/v1/players HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${bot.headers['authorization']}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`,
  )
  return { socket, read: () => received, failures, answered }
}

/** Resolves when the bytes are sent or the connection is closed. */
function write(socket: Socket, bytes: Uint8Array | string): Promise<void> {
  return new Promise((resolve) => void socket.write(bytes, () => resolve()))
}

test('design §8 a batch that announces too many bytes is answered before it is sent; its connection ends after it', async () => {
  const { socket, read, failures, answered } = await batch(`Content-Length: ${8 * MB}`)
  await answered
  expect(read()).toMatch(/^HTTP\/1\.1 413 /)
  for (let n = 0; n < 8; n += 1) await write(socket, Buffer.alloc(MB, ' '))
  await once(socket, 'close')
  expect(failures).toEqual([])
})

test('design §8 a batch that turns out too large is answered while it is sent; its connection ends after it', async () => {
  const { socket, read, failures, answered } = await batch('Transfer-Encoding: chunked')
  const chunk = `${MB.toString(16)}\r\n${' '.repeat(MB)}\r\n`
  for (let n = 0; n < 3; n += 1) await write(socket, chunk)
  await answered
  expect(read()).toMatch(/^HTTP\/1\.1 413 /)
  for (let n = 0; n < 8; n += 1) await write(socket, chunk)
  await write(socket, '0\r\n\r\n')
  await once(socket, 'close')
  expect(failures).toEqual([])
})

test('security: a sender that never stops is read for some megabytes more, which are not kept', async () => {
  const { socket, answered } = await batch('Transfer-Encoding: chunked')
  const chunk = Buffer.from(`${MB.toString(16)}\r\n${' '.repeat(MB)}\r\n`)
  const before = keptBytes()
  let [sent, most] = [0, 0]
  while (!socket.closed && sent < 1000) {
    await write(socket, chunk)
    sent += 1
    if (sent % 8 === 0) most = Math.max(most, keptBytes() - before)
  }
  await answered
  expect(sent).toBeLessThan(200)
  expect(most).toBeLessThan(64 * MB)
})

/** Returns the bytes in memory of this process, which includes the server, after collecting garbage so that its timing does not matter. */
function keptBytes(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
