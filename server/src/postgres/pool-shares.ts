/**
 * Shares the pool's connections among kinds of calls. Calls that take long, for example because a table is locked, must not block all
 * others: no kind of call may hold the whole pool, and the kinds that were slow recently leave a quarter of it to the others.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

export interface SharesOptions {
  /** The number of connections. */
  size: number
  /** How long a call waits for a connection, in milliseconds. */
  waitMs: number
  /** Milliseconds: a kind of call that held a connection for longer counts as slow, until it holds one for less. */
  slowMs: number
  /** The clock, in milliseconds; tests set one that they move. */
  now?: () => number
}

export interface Shares {
  /** Waits until the current kind of call may take a connection. Call the result when the connection is free again. */
  take(): Promise<() => void>
  use(): PoolUse
}

/** The numbers of connections, of connections in use, and of waiting calls. */
export interface PoolUse {
  size: number
  inUse: number
  waiting: number
}

/** Runs `work`, whose connections count for this kind of call. */
export function withPoolShareOf<T>(kind: string, work: () => T): T {
  return kinds.run(kind, work)
}

const kinds = new AsyncLocalStorage<string>()
/** The kind of work that belongs to no call: background tasks and sign-in checks. */
const OTHER = ''

interface Kind {
  /** The times at which its connections were taken, the oldest first. */
  held: Set<{ since: number }>
  wasSlow: boolean
}

interface Waiter {
  kind: Kind
  admit: () => void
}

export function createShares({ size, waitMs, slowMs, now = () => performance.now() }: SharesOptions): Shares {
  const share = Math.ceil((size * 3) / 4)
  const known = new Map<string, Kind>()
  const waiters = new Set<Waiter>()
  let inUse = 0

  function presentKind(): Kind {
    const name = kinds.getStore() ?? OTHER
    const kind = known.get(name) ?? { held: new Set(), wasSlow: false }
    known.set(name, kind)
    return kind
  }

  function mayTake(kind: Kind): boolean {
    return inUse < (isSlow(kind) ? share : size) && kind.held.size < share
  }

  function isSlow({ held, wasSlow }: Kind): boolean {
    const [oldest] = held
    return wasSlow || (oldest !== undefined && now() - oldest.since > slowMs)
  }

  function hold(kind: Kind): () => void {
    const holding = { since: now() }
    kind.held.add(holding)
    inUse += 1
    return () => {
      kind.held.delete(holding)
      kind.wasSlow = now() - holding.since > slowMs
      inUse -= 1
      for (const waiter of waiters) if (mayTake(waiter.kind)) waiter.admit()
    }
  }

  return {
    use: () => ({ size, inUse, waiting: waiters.size }),

    async take() {
      const kind = presentKind()
      if (mayTake(kind)) return hold(kind)
      return new Promise((resolve, reject) => {
        const waiter = {
          kind,
          admit: () => {
            clearTimeout(timer)
            waiters.delete(waiter)
            resolve(hold(kind))
          },
        }
        const timer = setTimeout(() => {
          waiters.delete(waiter)
          reject(new Error(`No database connection was free within ${waitMs} ms`))
        }, waitMs)
        waiters.add(waiter)
      })
    },
  }
}
