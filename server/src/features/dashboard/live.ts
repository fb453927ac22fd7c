/**
 * Keeps open pages up to date with server-sent events. Each poll reads what all listeners follow, and sends it to those for whom it
 * changed. A stream ends when its session ends, when its user may not see that any more, and when the server stops. Each server checks the
 * sessions of all its streams in one query: when it is notified of a change, and twice a second in case a notification was lost. At most
 * one event waits for a slow reader.
 */
import type { Logger } from 'pino'
import type { SessionUser } from '@arcade/contract/auth/calls'
import type { FollowedInput } from '@arcade/contract/dashboard/calls'
import type { Permission } from '@arcade/contract/team/permissions'
import { type CallContext, Failure, refuseWithoutPermission, sessionOf, signedIn } from '#src/calls.ts'
import type { Sessions } from '#src/identity/sessions.ts'
import type { ReadFollowed } from './followed.ts'

/** Most open streams of one user, and of all users on this process. */
export const MAX_STREAMS_EACH = 8
export const MAX_STREAMS = 200
/** Milliseconds between polls: pages on two servers differ for less than a second. */
const POLL_MS = 800
/** Milliseconds after which a browser reconnects to a stream that broke off. */
const RETRY_MS = 2000
/** Milliseconds between heartbeats: less than the minute of silence after which proxies hang up (nginx, proxy_read_timeout). */
const HEARTBEAT_MS = 15_000
/** Milliseconds between checks of the sessions, in case the notification of an end was lost. */
const CHECK_MS = 500
/** Milliseconds after which a reader that takes nothing counts as gone. */
const STUCK_MS = 60_000

export interface Live {
  /** @throws Failure TOO_MANY_STREAMS, SIGNED_OUT, UNAVAILABLE */
  open(followed: FollowedInput, context: CallContext): Promise<EventStreamAnswer>
  /** Returns the number of open streams. */
  size(): number
  /** Ends all streams and refuses new ones. */
  stop(): void
}

interface EventStreamAnswer {
  headers: Record<string, string>
  body: ReadableStream
}

interface Listener {
  userId: string
  sessionId: string
  followed: FollowedInput
  stream: Stream | undefined
  /** The event that was sent last. */
  sent: string
  beatAt: number
}

interface Stream {
  body: ReadableStream<Uint8Array>
  /** Sends `text`, or keeps it until the client has read what was sent. Only the latest text is kept. */
  send(text: string): void
  /** Sends `text` if the client has read what was sent before. Returns false if it has read nothing for STUCK_MS. */
  beat(text: string): boolean
  end(error?: Error): void
}

export interface LiveServices {
  sessions: Sessions
  read: ReadFollowed
  log: Logger
}

export function createLive(services: LiveServices): Live {
  return new EventStreams(services)
}

class EventStreams implements Live {
  readonly #sessions: Sessions
  readonly #read: ReadFollowed
  readonly #log: Logger
  readonly #listeners = new Set<Listener>()
  #timer: NodeJS.Timeout | undefined
  #checkTimer: NodeJS.Timeout | undefined
  #checking: Promise<void> | undefined
  #checkAgain = false
  #isStopped = false
  /** Whether the last poll failed. A failure is logged once, until a poll succeeds. */
  #isFailing = false

  constructor({ sessions, read, log }: LiveServices) {
    this.#sessions = sessions
    this.#read = read
    this.#log = log
    sessions.onChange((userId) => {
      if ([...this.#listeners].some((listener) => userId === undefined || listener.userId === userId)) void this.#check()
    })
  }

  async open(followed: FollowedInput, context: CallContext): Promise<EventStreamAnswer> {
    refuseWithoutPermission(permissionFor(followed), signedIn(context))
    const listener = this.#add(followed, context)
    try {
      // From here on `onChange` finds the listener. This check sees anything that changed before.
      const holders = await this.#sessions.holdersOf([listener])
      if (!maySee(listener, holders)) throw new Failure('SIGNED_OUT')
      listener.sent = await this.#readEvent(followed)
      if (!this.#listeners.has(listener)) throw new Failure(this.#isStopped ? 'UNAVAILABLE' : 'SIGNED_OUT')
    } catch (error) {
      this.#listeners.delete(listener)
      throw error
    }
    listener.stream = createStream(`retry: ${RETRY_MS}\n\n${listener.sent}`, () => this.#listeners.delete(listener))
    this.#poll()
    this.#checkSoon()
    return { headers: streamHeaders, body: listener.stream.body }
  }

  size(): number {
    return this.#listeners.size
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    clearTimeout(this.#checkTimer)
    for (const listener of this.#listeners) this.#end(listener)
  }

  /** Adds a listener that has no stream yet. @throws Failure TOO_MANY_STREAMS, or UNAVAILABLE after `stop` */
  #add(followed: FollowedInput, context: CallContext): Listener {
    const { userId, sessionId } = sessionOf(context)
    if (this.#isStopped) throw new Failure('UNAVAILABLE', { retryAfterSeconds: 5 })
    const own = [...this.#listeners].filter((listener) => listener.userId === userId).length
    if (own >= MAX_STREAMS_EACH || this.#listeners.size >= MAX_STREAMS)
      throw new Failure('TOO_MANY_STREAMS', { retryAfterSeconds: 60 })
    const listener = { userId, sessionId, followed, stream: undefined, sent: '', beatAt: performance.now() }
    this.#listeners.add(listener)
    return listener
  }

  #end(listener: Listener, error?: Error): void {
    this.#listeners.delete(listener)
    listener.stream?.end(error)
  }

  /** Checks at regular intervals for as long as there are listeners. Does nothing if it does so already. */
  #checkSoon(): void {
    if (this.#isStopped || this.#checkTimer !== undefined || this.#listeners.size === 0) return
    this.#checkTimer = setTimeout(() => {
      void this.#check().finally(() => {
        this.#checkTimer = undefined
        this.#checkSoon()
      })
    }, CHECK_MS).unref()
  }

  /** Checks all streams. One query at a time asks for all of them; what changes during it is seen by the next one. */
  async #check(): Promise<void> {
    this.#checkAgain = true
    this.#checking ??= this.#checkWhileAsked()
    return this.#checking
  }

  async #checkWhileAsked(): Promise<void> {
    while (this.#checkAgain) {
      this.#checkAgain = false
      await this.#endUnlessAllowed([...this.#listeners])
    }
    this.#checking = undefined
  }

  /** Ends the streams whose session has ended or may not see what they follow any more. Keeps them while the database cannot be asked. */
  async #endUnlessAllowed(listeners: readonly Listener[]): Promise<void> {
    const holders = await this.#sessions.holdersOf(listeners).catch(() => undefined)
    if (!holders) return
    for (const listener of listeners) if (!maySee(listener, holders)) this.#end(listener)
  }

  async #readEvent(followed: FollowedInput): Promise<string> {
    const { name, data } = await this.#read(followed)
    return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
  }

  /** Polls for as long as there are listeners. Does nothing if it polls already. */
  #poll(): void {
    if (this.#isStopped || this.#timer !== undefined || this.#listeners.size === 0) return
    this.#timer = setTimeout(() => {
      this.#sendChanges()
        .then(
          () => (this.#isFailing = false),
          (error: unknown) => {
            if (!this.#isFailing) this.#log.warn({ err: error }, 'Live data could not be read; retrying')
            this.#isFailing = true
          },
        )
        .finally(() => {
          this.#timer = undefined
          this.#poll()
        })
    }, POLL_MS).unref()
  }

  async #sendChanges(): Promise<void> {
    const open = [...this.#listeners].filter(({ stream }) => stream !== undefined)
    this.#beat(open)
    const groups = Map.groupBy(open, ({ followed }) => JSON.stringify(followed))
    await Promise.all(
      [...groups.values()].map(async (group) => {
        const event = await this.#readEvent(group[0]!.followed)
        for (const listener of group) {
          if (listener.sent === event) continue
          listener.sent = event
          listener.stream?.send(event)
        }
      }),
    )
  }

  /** Sends the heartbeats that are due. Ends the streams of readers that are gone. */
  #beat(open: readonly Listener[]): void {
    const now = performance.now()
    for (const listener of open) {
      if (listener.beatAt > now - HEARTBEAT_MS) continue
      listener.beatAt = now
      if (!listener.stream?.beat(':\n\n')) this.#end(listener, new Error('the reader of a stream is gone'))
    }
  }
}

/** @param holders the users of the sessions that have not ended, by the ids of the sessions */
function maySee({ sessionId, followed }: Listener, holders: ReadonlyMap<string, SessionUser>): boolean {
  return holders.get(sessionId)?.permissions.includes(permissionFor(followed)) ?? false
}

/** The permission to see what a stream follows. */
function permissionFor({ history, player }: FollowedInput): Permission {
  if (player !== undefined) return 'players.read'
  return history === undefined ? 'dashboard.read' : 'history.read'
}

const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform', // a proxy that compresses would hold each event back until the next one
  'x-accel-buffering': 'no', // nginx must not buffer
  connection: 'close', // so that a stopping server does not wait for connections of ended streams
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
  const isWritable = (): boolean => (controller.desiredSize ?? 0) > 0
  const body = new ReadableStream<Uint8Array>({
    start(streamController) {
      controller = streamController
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
      if (isWritable()) put(text)
      else waiting = text
    },
    beat(text) {
      if (isWritable()) put(text)
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
