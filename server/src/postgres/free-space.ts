/**
 * Whether the disk is nearly full (security.md, Crash). PostgreSQL panics when it can't write its log, so changes are
 * refused while there is still room for what reads, checkpoints and the last transactions need.
 */
import { statfs } from 'node:fs/promises'

export interface FreeSpace {
  /** As of at most a quarter of a second ago; costs nothing to ask. */
  isLow(): boolean
  close(): void
}

export async function watchFreeSpace(dir: string): Promise<FreeSpace> {
  let isLow = false
  const look = async () => {
    const { bavail, blocks, bsize } = await statfs(dir)
    isLow = bavail * bsize < reserveBytes(blocks * bsize)
  }
  await look()
  const timer = setInterval(() => void look().catch(() => undefined), REFRESH_MS) // without an answer the last one stays
  timer.unref()
  return { isLow: () => isLow, close: () => clearInterval(timer) }
}

const REFRESH_MS = 250
const MB = 1024 * 1024

/** Three segments of PostgreSQL's log; on a disk so small that this is much of it, one and a half. */
function reserveBytes(diskBytes: number): number {
  return Math.min(48 * MB, Math.max(24 * MB, diskBytes / 8))
}
