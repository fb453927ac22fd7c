/** The attackers of attacks.bench.ts, in their own process: their work must not delay the caller whose waits are measured. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { answerParent } from './in-process.ts'

export interface Attack {
  url: string
  /** What each request is, without its body. */
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: string
  /** Requests that are sent at once on each connection, without waiting for answers. */
  pipelined: number
  connections: number
  /** Whether the attacker reads no answer, so that the server keeps what it cannot send. */
  readsNothing?: boolean
  /** Whether a receiver of webhooks listens at this port meanwhile and answers each delivery with interim answers for ever. */
  receiverPort?: number
  seconds: number
}

/** The attacker's address, another one than that of those who wait. */
const ATTACKER = '127.0.0.2'

/** Repeats the attack on each connection, which is opened again when the server has closed it. */
async function attack({
  url,
  method,
  path,
  headers,
  body = '',
  pipelined,
  connections,
  readsNothing = false,
  receiverPort,
  seconds,
}: Attack): Promise<null> {
  const receiver = receiverPort === undefined ? undefined : await listenForever(receiverPort)
  const length = method === 'POST' ? { 'content-length': String(Buffer.byteLength(body)) } : {}
  const lines = Object.entries({ host: '127.0.0.1', ...headers, ...length }).map(([name, value]) => `${name}: ${value}\r\n`)
  const requests = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`.repeat(pipelined))
  const until = performance.now() + seconds * 1000
  const attacker = async (): Promise<void> => {
    while (performance.now() < until) {
      const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress: ATTACKER })
      socket.on('error', () => {}) // the server may close the connection while the requests are being sent
      socket.setTimeout(1000, () => socket.destroy())
      if (readsNothing) socket.pause()
      else socket.resume()
      const closed = new Promise((settle) => socket.once('close', settle)) // `once` of node:events would fail on an error
      socket.end(requests)
      await closed
    }
  }
  await Promise.all(Array.from({ length: connections }, attacker))
  receiver?.close()
  return null
}

async function listenForever(port: number): Promise<{ close: () => void; port: number }> {
  const interim = Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2000))
  const server = createServer((socket) => {
    socket.on('error', () => {})
    const write = (): void => {
      while (!socket.destroyed && socket.write(interim));
    }
    socket.on('drain', write)
    socket.once('data', write)
    socket.resume()
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() }
}

answerParent(attack)
