/** What a receiver of webhooks may answer, on real connections. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { post } from './post.ts'

/** Posts to a receiver. @param answer gets the connection when the request has come */
async function postTo(answer: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
  })
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return post({ url, headers: {}, body: '{}' }, { networks: ['127.0.0.0/8'], timeoutMs: 60_000 })
}

test('an interim answer before the final one is passed over', async () => {
  const status = postTo((socket) => {
    socket.write('HTTP/1.1 103 Early Hints\r\n\r\n')
    socket.end('HTTP/1.1 204 No Content\r\n\r\n')
  })
  expect(await status).toBe(204)
})

test('security: endless interim answers end the attempt, and the connection is closed', async () => {
  const closed = Promise.withResolvers<void>()
  const attempt = postTo((socket) => {
    socket.on('close', () => closed.resolve())
    const write = (): void => {
      while (!socket.destroyed && socket.write('HTTP/1.1 102 Processing\r\n\r\n'));
    }
    socket.on('drain', write)
    write()
  })
  await expect(attempt).rejects.toThrow('More than 4 interim answers came instead of a final one')
  await closed.promise
})
