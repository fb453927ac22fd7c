/**
 * Whether this server is to be sent requests (`/readyz`). Hides what that depends on, and whether a proxy looks after it, which has to be
 * told of a stop before the server refuses connections.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '#src/db/database.ts'
import type { Files } from '#src/files/files.ts'

export interface Readiness {
  /** A replica that is away is told, and is no reason not to be ready. */
  ask(): Promise<{ isReady: boolean; replica: string | undefined }>
  isStopping(): boolean
  /** From now on the server is not ready. Resolves once whoever asks regularly knows it, at once where nobody asks. */
  beginStop(): Promise<void>
}

/** Proxies ask every few seconds; who has not asked for so long is none. */
const ASKED_MS = 15_000
/** A proxy that asks every second has then been told twice. */
const NOTICE_MS = 3_000

export function createReadiness({ database, files }: { database: Database; files: Files }): Readiness {
  let isStopping = false
  let askedAt = -Infinity
  return {
    async ask() {
      askedAt = performance.now()
      const isReady = !isStopping && (await database.isReady()) && (await files.isReady())
      return { isReady, replica: database.replica?.state().status }
    },
    isStopping: () => isStopping,
    async beginStop() {
      isStopping = true
      if (performance.now() - askedAt < ASKED_MS) await pause(NOTICE_MS)
    },
  }
}
