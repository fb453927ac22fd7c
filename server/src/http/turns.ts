/**
 * Shares the server fairly among guests and players' clients. Only a few requests of each address or player run at the same time; the
 * others wait for their turn. An attacker with a thousand connections is therefore served no faster than with four.
 */
import { Failure } from '#src/calls.ts'

/** Requests of an address or player that run at the same time: as many as passwords can be hashed at once. */
const MAX_RUNNING = 4
/** Requests of an address or player that may wait: more than a browser or a person's programs send at once, also several behind one router. */
export const MAX_WAITING = 256

export interface Turns {
  /** Runs `work` when it is the caller's turn. @throws Failure BUSY at once if too many requests of the caller are waiting */
  run<T>(caller: string, work: () => Promise<T> | T): Promise<T>
}

export function createTurns(): Turns {
  /** The callers with running requests. */
  const callers = new Map<string, { running: number; waiting: (() => void)[] }>()
  const begin = async (caller: string): Promise<void> => {
    const turns = callers.get(caller)
    if (!turns) {
      callers.set(caller, { running: 1, waiting: [] })
    } else if (turns.running < MAX_RUNNING) {
      turns.running += 1
    } else {
      if (turns.waiting.length >= MAX_WAITING) throw new Failure('BUSY', { retryAfterSeconds: 1 })
      await new Promise<void>((resolve) => turns.waiting.push(resolve))
    }
  }
  const end = (caller: string): void => {
    const turns = callers.get(caller)
    if (!turns) return
    const next = turns.waiting.shift()
    if (next) setImmediate(next)
    else if (turns.running > 1) turns.running -= 1
    else callers.delete(caller)
  }
  return {
    async run(caller, work) {
      await begin(caller)
      try {
        return await work()
      } finally {
        end(caller)
      }
    },
  }
}
