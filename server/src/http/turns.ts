/**
 * Shares the server among addresses: requests that an address may make without a credential wait for their turn. A few of each address run
 * at the same time, and other requests run between them, so that an address with many connections gets no more than one with a few.
 */
import { Failure } from '#src/calls.ts'

/** Requests of an address that run at the same time: as many as passwords can be hashed at once. */
const RUNNING_MAX = 4
/** Requests of an address that may wait: more than a browser or a person's programs send at once, also several behind one router. */
export const WAITING_MAX = 256

export interface Turns {
  /** Runs `work` when it is the address's turn. @throws Failure BUSY at once if too many requests of the address are waiting */
  run<T>(address: string, work: () => Promise<T> | T): Promise<T>
}

export function createTurns(): Turns {
  /** The addresses with running requests. */
  const addresses = new Map<string, { running: number; waiting: (() => void)[] }>()
  const begin = async (address: string): Promise<void> => {
    const turns = addresses.get(address)
    if (!turns) {
      addresses.set(address, { running: 1, waiting: [] })
    } else if (turns.running < RUNNING_MAX) {
      turns.running += 1
    } else {
      if (turns.waiting.length >= WAITING_MAX) throw new Failure('BUSY', { retryAfterSeconds: 1 })
      await new Promise<void>((resolve) => turns.waiting.push(resolve))
    }
  }
  const end = (address: string): void => {
    const turns = addresses.get(address)
    if (!turns) return
    const next = turns.waiting.shift()
    if (next) setImmediate(next)
    else if (turns.running > 1) turns.running -= 1
    else addresses.delete(address)
  }
  return {
    async run(address, work) {
      await begin(address)
      try {
        return await work()
      } finally {
        end(address)
      }
    },
  }
}
