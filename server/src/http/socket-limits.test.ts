/** Requests that are sent without waiting for answers (RFC 9112, 9.3.2), on real connections. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate as letOthersRun } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { limitSockets } from './socket-limits.ts'

async function connections(
  count: number,
  listener: RequestListener,
  { localAddresses = [] as string[], onEach = (_request: IncomingMessage): void => {} } = {},
): Promise<Socket[]> {
  const server = createServer(listener)
  limitSockets(server)
  server.prependListener('request', onEach)
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return Array.from({ length: count }, (_, index) => {
    const localAddress = localAddresses[index] ?? '127.0.0.1'
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    onTestFinished(() => void socket.destroy())
    socket.setEncoding('utf8')
    socket.on('error', () => {}) // the server may close the connection while requests are being sent
    return socket
  })
}

const request = (path: string, connection = 'keep-alive'): string =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\n\r\n`

async function answered(socket: Socket): Promise<void> {
  const first = once(socket, 'data')
  socket.write(request('/'))
  await first
}

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
  const listener: RequestListener = ({ url = '' }, response) => {
    order.push(url)
    response.end('answer')
  }
  const [many, one] = await connections(2, listener, { localAddresses: ['127.0.0.1', '127.0.0.2'] })
  await once(one!, 'connect')
  many!.write(Array.from({ length: 20 }, () => request('/many')).join(''))
  one!.write(request('/one', 'close'))
  await readToEnd(one!)
  expect(order.indexOf('/one')).toBeLessThan(20)
})

test('security: a connection that sends a thousand requests at once is closed, and only one of them was begun', async () => {
  let begun = 0
  const [socket] = await connections(1, () => void (begun += 1))
  socket!.write(Array.from({ length: 1000 }, () => request('/')).join(''))
  await once(socket!, 'close')
  expect(begun).toBe(1)
})

test.each([
  ['that are closed', 'from another address is answered after the first', { each: 1000, address: '127.0.0.2', most: 1 }],
  ['that are closed', 'on an orderly connection of the same address is, too', { each: 1000, address: '127.0.0.1', most: 1 }],
  ['that stay open', 'from another address is answered after the first', { each: 30, address: '127.0.0.2', most: 1 }],
  ['that stay open', 'on an orderly connection of the same address is, too', { each: 30, address: '127.0.0.1', most: 1 }],
])('security: floods on twenty connections %s are read one after the other: a request %s', async (_, _which, given) => {
  const { each, address, most } = given
  let parsed = 0
  const { promise: parsedBefore, resolve } = Promise.withResolvers<number>()
  const listener: RequestListener = ({ url }, response) => {
    if (url === '/one') resolve(parsed)
    response.end('answer')
  }
  const localAddresses = [...Array.from({ length: 20 }, () => '127.0.0.1'), address]
  const sockets = await connections(21, listener, { localAddresses, onEach: () => void (parsed += 1) })
  const [flooding, one] = [sockets.slice(0, 20), sockets[20]!]
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  // With an answer on the last one, the server has accepted all connections, and next finds the requests of all of them at once.
  await answered(one)
  const ended = sockets.map((socket) => new Promise((settle) => socket.resume().once('close', settle)))
  parsed = 0
  const flood = Array.from({ length: each - 1 }, () => request('/many')).join('') + request('/many', 'close')
  for (const socket of flooding) socket.write(flood)
  one.write(request('/one', 'close'))
  expect(await parsedBefore).toBeLessThanOrEqual(most * each + 1)
  await Promise.all(ended)
})

/** Opens a connection that floods, and another one when the server has closed it, until the test ends. @returns the number of them so far */
function floodForEver(first: Socket): () => number {
  const { remotePort: port, remoteAddress: host, localAddress } = first
  let [count, isOver] = [0, false]
  const flood = (socket: Socket): void => {
    count += 1
    socket.on('error', () => {}).resume()
    socket.once('close', () => isOver || flood(connect({ port: port!, host: host!, localAddress: localAddress! })))
    socket.write(request('/many').repeat(1000))
  }
  flood(first)
  onTestFinished(() => void (isOver = true))
  return () => count
}

test.each([
  ['an orderly connection', true],
  ['a new connection', false],
])('security: beside floods on a new connection each, %s of the same address is read between any two', async (_, isOrderly) => {
  const [flooding, one] = await connections(2, (_request, response) => response.end('answer'))
  await Promise.all([once(flooding!, 'connect'), once(one!, 'connect')])
  if (isOrderly) await answered(one!)
  const floods = floodForEver(flooding!)
  await expect.poll(floods).toBeGreaterThan(2)
  const before = floods()
  for (let asked = 0; asked < 10; asked += 1) await answered(one!)
  expect(floods() - before).toBeLessThanOrEqual(20)
})

test('security: a flood beside a body that nobody reads makes Node read no more of that body', async () => {
  const bodies: IncomingMessage[] = []
  const onEach = (parsed: IncomingMessage): void => void (parsed.method === 'POST' && bodies.push(parsed))
  // The first request is never answered, so the second one is not begun.
  const [sender, ...flooding] = await connections(21, () => {}, { onEach })
  sender!.write(`${request('/')}POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${2 ** 40}\r\n\r\n`)
  const chunk = Buffer.alloc(64 * 1024)
  const send = (): void => {
    while (sender!.write(chunk));
  }
  sender!.on('drain', send)
  send()
  await expect.poll(() => bodies[0] && bodies[0].readableLength >= bodies[0].readableHighWaterMark).toBe(true)
  const { socket, readableLength } = bodies[0]!
  for (const one of flooding) {
    const closed = new Promise((settle) => one.once('close', settle))
    one.write(Array.from({ length: 40 }, () => request('/many')).join(''))
    await closed
    for (let turn = 0; turn < 50; turn += 1) await letOthersRun()
  }
  expect([socket.destroyed, bodies[0]!.readableLength]).toEqual([false, readableLength])
})

test('a client that ends its side after changes, as `nc -N` does, gets all answers, and then the end', async () => {
  const answer = async ({ url, socket }: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!socket.readableEnded) await once(socket, 'end')
    for (let turn = 0; turn < 5; turn += 1) await letOthersRun()
    response.end(`answer to ${url};`)
  }
  const [socket] = await connections(1, (parsed, response) => void answer(parsed, response))
  const change = (path: string): string => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`
  socket!.end([change('/1'), change('/2'), change('/3')].join(''))
  expect((await readToEnd(socket!)).match(/answer to [^;]+/g)).toEqual(['answer to /1', 'answer to /2', 'answer to /3'])
})

test.each([
  ['before an answer', () => {}],
  ['in the midst of an answer', (response: ServerResponse) => void response.write('begun')],
])('security: it is noticed that a client has left %s', async (_, begin) => {
  const { promise, resolve } = Promise.withResolvers<ServerResponse>()
  const [socket] = await connections(1, (_request, response) => {
    begin(response)
    resolve(response)
  })
  socket!.write(request('/'))
  const response = await promise
  socket!.destroy()
  await once(response, 'close')
  expect(response.writableFinished).toBe(false)
})

test('security: a client that has ended its side gets no answer to a read that has not begun, so that nothing works for it', async () => {
  const [socket] = await connections(1, ({ socket: own }, response) => {
    own.once('end', () => setImmediate(() => response.end('answer')))
  })
  socket!.end(request('/'))
  expect(await readToEnd(socket!)).toBe('')
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
