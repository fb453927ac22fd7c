/**
 * Tells load balancers whether to send requests to this server (`/readyz`). Hides what readiness depends on, and whether a load balancer
 * asks for it, which must learn about a stop before the server refuses connections.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '#src/db/database.ts'
import type { Files } from '#src/files/files.ts'

export interface Readiness {
  /** Returns whether the server is ready, and the state of the replica. An unreachable replica does not make the server unready. */
  ask(): Promise<{ isReady: boolean; replica: string | undefined }>
  isStopping(): boolean
  /** Makes the server unready. Resolves when a load balancer that asks regularly has seen it, or at once if none asks. */
  beginStop(): Promise<void>
}

/** Milliseconds after which a load balancer that has not asked no longer counts: they ask every few seconds. */
const ASKED_MS = 15_000
/** Milliseconds to stay reachable while unready: a load balancer that asks every second has then seen it twice. */
const NOTICE_MS = 3_000

export function createReadiness({ database, files }: { database: Database; files: Files }): Readiness {
  let isStopping = false
  let askedAt = -Infinity
  /** The running check. Requests that arrive meanwhile share it, because guests may ask. */
  let checking: Promise<boolean> | undefined
  const check = async (): Promise<boolean> => (await database.isReady()) && (await files.isReady())
  return {
    async ask() {
      askedAt = performance.now()
      if (!isStopping) checking ??= check().finally(() => (checking = undefined))
      const isReady = (await checking) === true && !isStopping
      return { isReady, replica: database.replica?.state().status }
    },
    isStopping: () => isStopping,
    async beginStop() {
      isStopping = true
      if (performance.now() - askedAt < ASKED_MS) await pause(NOTICE_MS)
    },
  }
}
