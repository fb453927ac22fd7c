/** A minimal HTTP client for POST requests on one keep-alive connection. node:http would need as much CPU time as the measured server. */
import { once } from 'node:events'
import net from 'node:net'

export interface Posting {
  /** Sends a request and returns the answer's JSON. @throws Error at an answer other than 200 */
  readonly post: (path: string, headers: Readonly<Record<string, string>>, input: unknown) => Promise<unknown>
  readonly close: () => void
}

export async function openPosting(url: string): Promise<Posting> {
  const { hostname, port, host } = new URL(url)
  const socket = net.connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  socket.setEncoding('latin1') // one character per byte, so that lengths match Content-Length
  let received = ''
  let waiting = Promise.withResolvers<string>()
  socket.on('data', (part: string) => {
    received += part
    const head = received.indexOf('\r\n\r\n')
    if (head < 0) return
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(received.slice(0, head))?.[1])
    if (!(received.length < head + 4 + length)) waiting.resolve(received)
  })
  socket.on('error', (error) => waiting.reject(error))
  socket.on('end', () => waiting.reject(new Error(`${url} closed a connection`)))
  return {
    async post(path, headers, input) {
      const body = JSON.stringify(input)
      waiting = Promise.withResolvers()
      received = ''
      const lines = Object.entries({ host, ...headers, 'content-length': String(Buffer.byteLength(body)) })
      socket.write(`POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`)
      const answer = await waiting.promise
      const content = Buffer.from(answer.slice(answer.indexOf('\r\n\r\n') + 4), 'latin1').toString()
      if (!answer.startsWith('HTTP/1.1 200 ')) throw new Error(`${path} answered ${answer.slice(9, 12)}: ${content}`)
      return JSON.parse(content)
    },
    close: () => socket.destroy(),
  }
}
