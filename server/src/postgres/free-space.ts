/**
 * Watches whether the disk is nearly full (security.md, Crash). PostgreSQL stops if it cannot write its log, so the server refuses changes
 * while there is still room for reads, checkpoints and running transactions.
 */
import { statfs } from 'node:fs/promises'
import { makeSpareFile } from './spare-file.ts'

export interface FreeSpace {
  /** Whether changes must be refused. The answer is at most REFRESH_MS old and costs nothing. */
  isLow(): boolean
  /** Whether half of the reserve that `isLow` protects is used up. */
  isNearlyGone(): boolean
  /** Returns how many bytes may be written until `isLow`; negative if it is low already. */
  writableBytes(): Promise<number>
  close(): void
}

/** @param keepsSpareFile whether this process maintains the spare file, whose room a later start may need */
export async function watchFreeSpace(dir: string, { keepsSpareFile }: { keepsSpareFile: boolean }): Promise<FreeSpace> {
  let free = Infinity
  let reserve = 0
  const refresh = async () => {
    const { bavail, blocks, bsize } = await statfs(dir)
    free = bavail * bsize
    reserve = reserveBytes(blocks * bsize)
  }
  await refresh()
  // If statfs fails, the last answer stays.
  const timers = [setInterval(() => void refresh().catch(() => undefined), REFRESH_MS)]
  if (keepsSpareFile) timers.push(setInterval(() => void makeSpareFile(dir, 2 * reserve).catch(() => undefined), SPARE_FILE_MS))
  for (const timer of timers) timer.unref()
  return {
    isLow: () => free < reserve,
    isNearlyGone: () => free < reserve / 2,
    async writableBytes() {
      await refresh()
      return free - reserve
    },
    close: () => timers.forEach((timer) => clearInterval(timer)),
  }
}

const REFRESH_MS = 250
const SPARE_FILE_MS = 2_000
const MB = 1024 * 1024

/** Returns the bytes to keep free for PostgreSQL: three of its 16 MB log segments, or down to one and a half on a small disk. */
export function reserveBytes(diskBytes: number): number {
  return Math.min(48 * MB, Math.max(24 * MB, diskBytes / 8))
}
