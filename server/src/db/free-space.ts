/**
 * Whether the disk is nearly full (security.md, Crash). PostgreSQL panics when it can't write its log, so changes are
 * refused while there is still room for what reads, checkpoints and the last transactions need.
 */
import { statfs } from 'node:fs/promises'

/** Asks the file system at most every 250 ms and never waits for the answer. */
export function watchFreeSpace(dir: string): () => boolean {
  let isLow = false
  let askedAt = 0
  const ask = async () => {
    const { bavail, blocks, bsize } = await statfs(dir)
    isLow = bavail * bsize < reserveBytes(blocks * bsize)
  }
  void ask().catch(() => undefined)
  return () => {
    const now = Date.now()
    if (now - askedAt >= REFRESH_MS) {
      askedAt = now
      void ask().catch(() => undefined) // without an answer the last one stays
    }
    return isLow
  }
}

const REFRESH_MS = 250
const MB = 1024 * 1024

/** Three segments of PostgreSQL's log; on a disk so small that this is much of it, one and a half. */
function reserveBytes(diskBytes: number): number {
  return Math.min(48 * MB, Math.max(24 * MB, diskBytes / 8))
}
