/**
 * Limits how long a socket may take to send a request, be idle, or read nothing of an answer, and how many requests it may send without
 * waiting for their answers.
 */
import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from './address.ts'

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
  const neighbours = new Neighbours(server)
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    const { socket } = request
    if (socket.destroyed) return
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
    else {
      neighbours.holdBack(socket)
      socket.destroy()
    }
  })
}

/**
 * The open connections by the networks they come from. Node parses a chunk of 64 kB to its end, even if the connection is closed at one of
 * the first of a thousand requests in it. A client with many connections would so hold everybody up for many chunks at once.
 */
class Neighbours {
  readonly #open = new Map<string, Set<Socket>>()
  /** The connections of a network that are not read at the moment. */
  readonly #held = new Map<string, Set<Socket>>()

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      const network = networkOf(socket.remoteAddress)
      const open = this.#open.get(network) ?? new Set()
      this.#open.set(network, open.add(socket))
      socket.once('close', () => {
        open.delete(socket)
        if (open.size === 0 && this.#open.get(network) === open) this.#open.delete(network)
      })
    })
  }

  /** Stops reading the other connections of this one's network. In each turn of the event loop, one of them is read again. */
  holdBack(flooding: Socket): void {
    const network = networkOf(flooding.remoteAddress)
    const isUnderWay = this.#held.has(network)
    const held = this.#held.get(network) ?? new Set()
    for (const socket of this.#open.get(network) ?? []) {
      if (socket === flooding || held.has(socket)) continue
      socket.pause()
      held.add(socket)
    }
    this.#held.set(network, held)
    if (!isUnderWay) setImmediate(() => this.#readNext(network, held))
  }

  #readNext(network: string, held: Set<Socket>): void {
    const [socket] = held
    if (!socket) {
      this.#held.delete(network)
      return
    }
    held.delete(socket)
    socket.resume()
    setImmediate(() => this.#readNext(network, held))
  }
}
