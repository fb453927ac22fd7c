/**
 * Watches whether the disk is nearly full (security.md, Crash). PostgreSQL stops when it cannot write its log, so the server refuses
 * changes while there is still room for reads, checkpoints and transactions under way.
 */
import { statfs } from 'node:fs/promises'

export interface FreeSpace {
  /** The answer is at most REFRESH_MS old and costs nothing. */
  isLow(): boolean
  close(): void
}

export async function watchFreeSpace(dir: string): Promise<FreeSpace> {
  let isLow = false
  const refresh = async () => {
    const { bavail, blocks, bsize } = await statfs(dir)
    isLow = bavail * bsize < reserveBytes(blocks * bsize)
  }
  await refresh()
  const timer = setInterval(() => void refresh().catch(() => undefined), REFRESH_MS) // when statfs fails the last answer stays
  timer.unref()
  return { isLow: () => isLow, close: () => clearInterval(timer) }
}

const REFRESH_MS = 250
const MB = 1024 * 1024

/** Three of PostgreSQL's 16 MB log segments; down to one and a half on a small disk. */
function reserveBytes(diskBytes: number): number {
  return Math.min(48 * MB, Math.max(24 * MB, diskBytes / 8))
}
