/**
 * Keeps open pages up to date by server-sent events (HTML standard, 9.2). What listeners follow is read within a second for all of them
 * together, and sent to those for whom it changed. A stream ends with its session, with the role of admin and with the server. A slow
 * reader has one event waiting at most.
 */
import type { Logger } from 'pino'
import type { FollowedInput } from '@arcade/contract/dashboard/calls'
import { type CallContext, Failure, signedIn } from '#src/calls.ts'
import type { Sessions } from '#src/identity/sessions.ts'
import type { ReadFollowed } from './followed.ts'

/** Open pages of one person, and of all on this process. */
export const MAX_STREAMS_EACH = 8
export const MAX_STREAMS = 200
/** Two pages on two servers differ for less than a second. */
const POLL_MS = 800
/** After so long a browser comes back to a stream that broke off. */
const RETRY_MS = 2000
/** Shorter than the minute after which proxies hang up (nginx, proxy_read_timeout). */
const HEARTBEAT_MS = 15_000
/** How often a session is looked up even though no notification came, in case one was lost. */
const CHECK_MS = 30_000
/** A reader who has taken nothing for so long counts as gone. */
const STUCK_MS = 60_000

export interface Live {
  /** @throws Failure TOO_MANY_STREAMS, SIGNED_OUT, UNAVAILABLE */
  open(followed: FollowedInput, context: CallContext): Promise<{ headers: Record<string, string>; body: ReadableStream }>
  /** Streams that are open. */
  size(): number
  /** Ends all streams, for good. */
  stop(): void
}

interface Listener {
  userId: string
  token: string
  followed: FollowedInput
  stream: Stream | undefined
  /** The event that was sent last. */
  sent: string
  beatAt: number
  checkAt: number
}

interface Stream {
  body: ReadableStream<Uint8Array>
  /** Sends `text`, or keeps the latest of what there is no room for. */
  send(text: string): void
  /** Sends `text` if there is room; false once there was none for too long. */
  beat(text: string): boolean
  end(error?: Error): void
}

export interface LiveServices {
  sessions: Sessions
  read: ReadFollowed
  log: Logger
}

export function createLive({ sessions, read, log }: LiveServices): Live {
  const listeners = new Set<Listener>()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  sessions.onChange((userId) => {
    for (const listener of listeners) if (userId === undefined || listener.userId === userId) void check(listener)
  })

  return {
    async open(followed, context) {
      const { id: userId } = signedIn(context)
      const token = context.sessionToken ?? ''
      if (isStopped) throw new Failure('UNAVAILABLE', { retryAfterSeconds: 5 })
      const own = [...listeners].filter((listener) => listener.userId === userId).length
      if (own >= MAX_STREAMS_EACH || listeners.size >= MAX_STREAMS)
        throw new Failure('TOO_MANY_STREAMS', { retryAfterSeconds: 60 })
      const now = performance.now()
      const listener: Listener = {
        userId,
        token,
        followed,
        stream: undefined,
        sent: '',
        beatAt: now,
        checkAt: now + CHECK_MS,
      }
      listeners.add(listener)
      try {
        // From here on `onChange` sees the listener; what changed before shows in this look-up.
        if (!(await isAdmin(token))) throw new Failure('SIGNED_OUT')
        listener.sent = await readEvent(followed)
        if (!listeners.has(listener)) throw new Failure(isStopped ? 'UNAVAILABLE' : 'SIGNED_OUT')
      } catch (error) {
        listeners.delete(listener)
        throw error
      }
      listener.stream = createStream(`retry: ${RETRY_MS}\n\n${listener.sent}`, () => listeners.delete(listener))
      poll()
      return { headers: streamHeaders, body: listener.stream.body }
    },
    size: () => listeners.size,
    stop() {
      isStopped = true
      clearTimeout(timer)
      for (const listener of listeners) end(listener)
    },
  }

  function end(listener: Listener, error?: Error): void {
    listeners.delete(listener)
    listener.stream?.end(error)
  }

  async function isAdmin(token: string): Promise<boolean> {
    return (await sessions.holderOf(token))?.userType === 'admin'
  }

  /** Ends the stream if its session is no longer an admin's. While the database is away nothing is known, so the stream stays. */
  async function check(listener: Listener): Promise<void> {
    listener.checkAt = performance.now() + CHECK_MS
    const isAllowed = await isAdmin(listener.token).catch(() => true)
    if (!isAllowed) end(listener)
  }

  async function readEvent(followed: FollowedInput): Promise<string> {
    const { name, data } = await read(followed)
    return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
  }

  function poll(): void {
    if (isStopped || timer !== undefined || listeners.size === 0) return
    timer = setTimeout(() => {
      look()
        .catch((error: unknown) => log.debug({ err: error }, 'What pages follow could not be read; it is again in a moment'))
        .finally(() => {
          timer = undefined
          poll()
        })
    }, POLL_MS).unref()
  }

  async function look(): Promise<void> {
    const now = performance.now()
    const open = [...listeners].filter(({ stream }) => stream !== undefined)
    for (const listener of open) {
      if (listener.checkAt <= now) void check(listener)
      if (listener.beatAt > now - HEARTBEAT_MS) continue
      listener.beatAt = now
      if (!listener.stream?.beat(':\n\n')) end(listener, new Error('the reader of a stream is gone'))
    }
    if (open.length === 0) return
    const groups = Map.groupBy(open, ({ followed }) => JSON.stringify(followed))
    await Promise.all(
      [...groups.values()].map(async (group) => {
        const event = await readEvent(group[0]!.followed)
        for (const listener of group) {
          if (listener.sent === event) continue
          listener.sent = event
          listener.stream?.send(event)
        }
      }),
    )
  }
}

const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform', // compressed, an event would wait for the next one
  'x-accel-buffering': 'no', // nginx
  connection: 'close', // a stop waits for no connection that a stream had
}

function createStream(greeting: string, onGone: () => void): Stream {
  const encoder = new TextEncoder()
  let waiting: string | undefined
  let stuckSince: number | undefined
  let isEnded = false
  let controller!: ReadableStreamDefaultController<Uint8Array>
  const put = (text: string): void => {
    if (!isEnded) controller.enqueue(encoder.encode(text))
  }
  const hasRoom = (): boolean => (controller.desiredSize ?? 0) > 0
  const body = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given
      put(greeting)
    },
    pull() {
      stuckSince = undefined
      if (waiting !== undefined) put(waiting)
      waiting = undefined
    },
    cancel() {
      isEnded = true
      onGone()
    },
  })
  return {
    body,
    send(text) {
      if (hasRoom()) put(text)
      else waiting = text
    },
    beat(text) {
      if (hasRoom()) put(text)
      else stuckSince ??= performance.now()
      return stuckSince === undefined || performance.now() - stuckSince < STUCK_MS
    },
    end(error) {
      if (isEnded) return
      isEnded = true
      if (error) controller.error(error)
      else controller.close()
    },
  }
}
