/**
 * Limits how long a socket may take to send a request, be idle, or read nothing of an answer, and how many requests it may send without
 * waiting for their answers.
 */
import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'

/** Milliseconds without a byte: a little more than a slow reader of a spreadsheet may pause (sheets/spool.ts). Event streams send more often. */
const STUCK_MS = 31 * 60_000
/** Requests of one connection that may wait for the answer to an earlier one. Browsers and proxies wait for each answer, so they need none. */
const MAX_WAITING = 32

/** Sets the limits of a server's sockets. @param stuckMs milliseconds without a byte in either direction after which a socket is closed */
export function limitSockets(server: Server, stuckMs = STUCK_MS): void {
  server.headersTimeout = 10_000
  server.requestTimeout = 60_000
  server.keepAliveTimeout = 65_000 // longer than the usual 60 s of a load balancer before it
  server.timeout = stuckMs
  answerInTurn(server)
}

/**
 * Answers the requests of each connection one after the other (RFC 9112, 9.3.2: pipelining), and other connections between them. Node would
 * begin all of them at once: a thousand requests fit into 47 kB. A connection with too many of them is closed.
 */
function answerInTurn(server: Server): void {
  const [answer] = server.listeners('request') as RequestListener[]
  if (!answer) throw new Error('the server has no request listener yet')
  /** For each connection with a request that is being answered: what begins the waiting ones. */
  const waiting = new WeakMap<Socket, (() => void)[]>()
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    const { socket } = request
    const begin = (): void => {
      response.once('close', next)
      answer(request, response)
    }
    const next = (): void => {
      const following = socket.writable ? waiting.get(socket)?.shift() : undefined // an answer may end the connection
      if (following) setImmediate(following)
      else waiting.delete(socket)
    }
    const queue = waiting.get(socket)
    if (!queue) {
      waiting.set(socket, [])
      begin()
    } else if (queue.length < MAX_WAITING) queue.push(begin)
    else socket.destroy()
  })
}
