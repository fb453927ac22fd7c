/**
 * Limits how long a socket may take to send a request, be idle, or read nothing of an answer, and how many requests it may send without
 * waiting for their answers.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { clientAddressReader } from './address.ts'

/** Milliseconds without a byte: a little more than a slow reader of a spreadsheet may pause (sheets/spool.ts). Event streams send more often. */
const STUCK_MS = 31 * 60_000
/** Requests of one connection that may wait for the answer to an earlier one. Browsers and proxies wait for each answer, so they need none. */
const MAX_WAITING = 32
/** Waiting requests of one connection at which other connections of its network are not read for some turns of the event loop. */
const FLOODING = 8
/** Milliseconds that the answer to a change may take to begin after the client has ended its side: more than a change waits for locks (db/database.ts). */
const HALF_CLOSED_MS = 3000

/** Sets the limits of a server's sockets. @param stuckMs milliseconds without a byte in either direction after which a socket is closed */
export function limitSockets(server: Server, stuckMs = STUCK_MS): void {
  server.headersTimeout = 10_000
  server.requestTimeout = 60_000
  server.keepAliveTimeout = 65_000 // longer than the usual 60 s of a load balancer before it
  server.timeout = stuckMs
  answerInTurn(server)
  // Node's option, which has no type, keeps a connection whose client has ended its side until the answers are sent.
  Object.assign(server, { httpAllowHalfOpen: true })
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
    neighbours.noteRequest(request)
    const begin = (): void => {
      response.once('close', next)
      endWithClient(socket, request, response)
      answer(request, response)
    }
    const next = (): void => {
      neighbours.noteAnswer(socket)
      const following = socket.writable ? waiting.get(socket)?.shift() : undefined // an answer may end the connection
      if (following) setImmediate(following)
      else waiting.delete(socket)
    }
    const queue = waiting.get(socket)
    if (!queue) {
      waiting.set(socket, [])
      begin()
      return
    }
    if (queue.length === FLOODING) neighbours.stopReading(socket, { sparesOrderly: true })
    if (queue.length < MAX_WAITING) queue.push(begin)
    else {
      neighbours.stopReading(socket)
      socket.destroy()
    }
  })
}

/**
 * Ends a connection whose client has ended its side (TCP's FIN). Most such clients have left, and what they have asked for stops. But one
 * that only sends no more (`nc -N`) should hear of the change that it has made, so the answer to a change has some time to begin.
 */
function endWithClient(socket: Socket, { method }: IncomingMessage, response: ServerResponse): void {
  const isRead = method === 'GET' || method === 'HEAD'
  let timer: NodeJS.Timeout | undefined
  const handleEnd = (): void => {
    if (!response.headersSent && !isRead) timer = setTimeout(() => response.headersSent || socket.end(), HALF_CLOSED_MS)
    else if (!response.writableEnded) socket.end()
  }
  if (socket.readableEnded) handleEnd()
  else socket.once('end', handleEnd)
  response.once('close', () => {
    clearTimeout(timer)
    socket.off('end', handleEnd)
  })
}

/** Turns of the event loop, after a connection has flooded, in which no other one of its network is read. Other clients are served in them. */
const RESTING_TURNS = 16

/** The connections of a network that are not read at the moment. */
interface Unread {
  /** The orderly ones, which are read before the others. The oldest is first: one of an attacker's is closed when it floods. */
  orderly: Set<Socket>
  others: Set<Socket>
  /** How many turns pass until the next one is read. */
  turns: number
}

const readAddress = clientAddressReader([])
/** Returns the IPv4 address or IPv6 network at the other end of a connection, which may be a proxy. */
const networkOf = ({ remoteAddress }: Socket): string => readAddress(remoteAddress, null)

/**
 * The open connections by the networks they come from. Node parses a chunk of 64 kB to its end, even if the connection is closed at one of
 * the first of a thousand requests in it. So a client that floods on many connections could make everybody wait for many chunks at once.
 */
class Neighbours {
  readonly #open = new Map<string, Set<Socket>>()
  readonly #unread = new Map<string, Unread>()
  readonly #latest = new WeakMap<Socket, IncomingMessage>()
  /** Connections are orderly from their first answer until they flood: people behind the router of an attacker have such ones. */
  readonly #conduct = new WeakMap<Socket, 'orderly' | 'flooded'>()

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      const network = networkOf(socket)
      const open = this.#open.get(network) ?? new Set()
      this.#open.set(network, open.add(socket))
      socket.once('close', () => {
        open.delete(socket)
        if (open.size === 0 && this.#open.get(network) === open) this.#open.delete(network)
      })
      // Node begins to read a new connection in the next tick, even if it was paused before.
      process.nextTick(() => {
        const unread = this.#unread.get(network)
        if (unread) pause(socket, unread.others)
      })
    })
  }

  noteRequest(request: IncomingMessage): void {
    this.#latest.set(request.socket, request)
  }

  noteAnswer(socket: Socket): void {
    if (!this.#conduct.has(socket)) this.#conduct.set(socket, 'orderly')
  }

  /**
   * Stops reading the other connections of this one's network for some turns. Then one of them is read again in each turn.
   * @param sparesOrderly goes on reading the orderly ones
   */
  stopReading(flooding: Socket, { sparesOrderly = false } = {}): void {
    const network = networkOf(flooding)
    this.#conduct.set(flooding, 'flooded')
    const underWay = this.#unread.get(network)
    const unread = underWay ?? { orderly: new Set(), others: new Set(), turns: -1 }
    // Not before the next one is read: otherwise a connection that floods again and again would keep the others waiting for ever.
    if (unread.turns < 0) unread.turns = RESTING_TURNS
    for (const socket of this.#open.get(network) ?? []) {
      const isOrderly = this.#conduct.get(socket) === 'orderly'
      if (socket === flooding || (isOrderly && sparesOrderly)) continue
      const isWaiting = isOrderly ? unread.orderly.delete(socket) : unread.others.has(socket)
      if (isWaiting || this.#isRead(socket)) pause(socket, isOrderly ? unread.orderly : unread.others)
    }
    if (underWay) return
    this.#unread.set(network, unread)
    setImmediate(() => this.#readNext(network, unread))
  }

  #readNext(network: string, unread: Unread): void {
    const waiting = unread.orderly.size > 0 ? unread.orderly : unread.others
    const [socket] = waiting
    if (!socket) {
      this.#unread.delete(network)
      return
    }
    unread.turns -= 1
    if (unread.turns < 0) {
      waiting.delete(socket)
      socket.resume()
    }
    setImmediate(() => this.#readNext(network, unread))
  }

  /**
   * Whether Node reads a connection at the moment. Node stops by itself if the client does not read its answers, or if nobody reads the body
   * of the latest request. Such a connection must not be resumed, because the body would fill the memory.
   */
  #isRead(socket: Socket): boolean {
    const request = this.#latest.get(socket)
    const isBodyWaiting = request && !request.complete && request.readableLength >= request.readableHighWaterMark
    return !socket.isPaused() && !isBodyWaiting
  }
}

function pause(socket: Socket, unread: Set<Socket>): void {
  socket.pause()
  unread.add(socket)
}
