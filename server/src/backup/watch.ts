/** Lets a caller follow and end the making or verifying of a backup. */
import type { BackupStep } from '@arcade/contract/backups/fields'

export interface Progress {
  step: BackupStep
  percent: number
  /** The bytes written or read so far. */
  bytes: number
}

export interface Watch {
  /** Ends the work, which then rejects with the signal's reason. */
  signal: AbortSignal
  report: (now: Progress) => void
}

export const unwatched: Watch = { signal: new AbortController().signal, report: () => undefined }

/** Returns the share of work as whole per cent; 100 would say that it has ended. */
export function percentOf(done: number, total: number): number {
  return total === 0 ? 0 : Math.min(99, Math.floor((100 * done) / total))
}
