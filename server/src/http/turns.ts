/**
 * Shares the server fairly among guests and players' clients. Only a few requests of each address or player run at the same time; the
 * others wait for their turn. An attacker with a thousand connections is therefore served no faster than with four.
 */
import { Failure } from '#src/calls.ts'

/**
 * Requests of an address or player that run at the same time: as many as passwords can be hashed at the same time. A request counts until
 * the end of its tick of the event loop, even if it is answered before, and one waiting request begins in each tick. So between large
 * answers to many connections, other clients' requests are answered.
 */
const MAX_RUNNING = 4
/** Requests of an address or player that may wait: more than a browser or a person's programs send at once, also several behind one router. */
export const MAX_WAITING = 256

export interface Turns {
  /** Runs `work` when it is the caller's turn. @throws Failure BUSY at once if too many requests of the caller are waiting */
  run<T>(caller: string, work: () => Promise<T> | T): Promise<T>
}

export function createTurns(): Turns {
  /** The callers with running or waiting requests. */
  const callers = new Map<string, CallerQueue>()
  const callerOf = (name: string): CallerQueue => {
    const known = callers.get(name)
    if (known) return known
    const caller = { running: 0, waiting: [], isWaking: false }
    callers.set(name, caller)
    return caller
  }
  const end = (name: string, caller: CallerQueue): void => {
    caller.running -= 1
    if (caller.waiting.length > 0) wake(caller)
    else if (caller.running === 0) callers.delete(name)
  }
  return {
    async run(name, work) {
      const caller = callerOf(name)
      await begin(caller)
      try {
        return await work()
      } finally {
        setImmediate(end, name, caller)
      }
    },
  }
}

interface CallerQueue {
  /** Requests that run, or have run in this turn of the event loop. */
  running: number
  waiting: (() => void)[]
  /** Whether the first waiting request begins in the next turn of the event loop. */
  isWaking: boolean
}

async function begin(caller: CallerQueue): Promise<void> {
  if (caller.running < MAX_RUNNING && caller.waiting.length === 0) {
    caller.running += 1
  } else {
    if (caller.waiting.length >= MAX_WAITING) throw new Failure('BUSY', { retryAfterSeconds: 1 })
    await new Promise<void>((resolve) => caller.waiting.push(resolve))
  }
}

/** Begins the waiting requests that may run, one in each turn of the event loop. */
function wake(caller: CallerQueue): void {
  if (caller.isWaking || caller.running >= MAX_RUNNING) return
  caller.isWaking = true
  setImmediate(() => {
    caller.isWaking = false
    const next = caller.waiting.shift()
    if (!next) return
    caller.running += 1
    next()
    wake(caller)
  })
}
