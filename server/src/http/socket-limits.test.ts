/** Requests that are sent without waiting for answers (RFC 9112, 9.3.2), on real connections. */
import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate as letOthersRun } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { limitSockets } from './socket-limits.ts'

async function connections(count: number, listener: RequestListener): Promise<Socket[]> {
  const server = createServer(listener)
  limitSockets(server)
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return Array.from({ length: count }, () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.setEncoding('utf8')
    return socket
  })
}

const request = (path: string, connection = 'keep-alive'): string =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\n\r\n`

async function readToEnd(socket: Socket): Promise<string> {
  let text = ''
  for await (const part of socket as AsyncIterable<string>) text += part
  return text
}

test('security: requests of one connection are answered one at a time and in their order', async () => {
  let [running, most] = [0, 0]
  const answer = async (url: string, response: ServerResponse): Promise<void> => {
    most = Math.max(most, (running += 1))
    for (let turn = 0; turn < 5; turn += 1) await letOthersRun()
    running -= 1
    response.end(`answer to ${url};`)
  }
  const [socket] = await connections(1, ({ url = '' }, response) => void answer(url, response))
  const paths = Array.from({ length: 30 }, (_, index) => `/${index}`)
  socket!.write([...paths.slice(1).map((path) => request(path)), request('/last', 'close')].join(''))
  const answers = (await readToEnd(socket!)).match(/answer to [^;]+/g)
  expect(answers).toEqual([...paths.slice(1), '/last'].map((path) => `answer to ${path}`))
  expect(most).toBe(1)
})

test('security: others are answered between the requests of one connection', async () => {
  const order: string[] = []
  const [many, one] = await connections(2, ({ url = '' }, response) => {
    order.push(url)
    response.end('answer')
  })
  await once(one!, 'connect')
  many!.write(Array.from({ length: 20 }, () => request('/many')).join(''))
  one!.write(request('/one', 'close'))
  await readToEnd(one!)
  expect(order.indexOf('/one')).toBeLessThan(20)
})

test('security: a connection that sends a thousand requests at once is closed, and only one of them was begun', async () => {
  let begun = 0
  const [socket] = await connections(1, () => void (begun += 1))
  socket!.on('error', () => {}) // the server may close the connection while the requests are being sent
  socket!.write(Array.from({ length: 1000 }, () => request('/')).join(''))
  await once(socket!, 'close')
  expect(begun).toBe(1)
})

test('security: no further request is begun after an answer that ends the connection', async () => {
  let begun = 0
  const [socket] = await connections(1, (_request, response) => {
    begun += 1
    response.writeHead(413, { connection: 'close' }).end('answer')
  })
  socket!.write([request('/1'), request('/2'), request('/3')].join(''))
  await readToEnd(socket!)
  for (let turn = 0; turn < 5; turn += 1) await letOthersRun()
  expect(begun).toBe(1)
})
