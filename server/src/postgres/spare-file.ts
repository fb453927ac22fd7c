/**
 * A spare file in DATA_DIR (security.md, Crash). PostgreSQL cannot start on a full disk, so a start there removes the file, and reads work
 * until an operator has freed some space. The file is made again when there is enough space.
 */
import { randomBytes } from 'node:crypto'
import { open, rename, rm, stat, statfs } from 'node:fs/promises'
import path from 'node:path'
import type { Logger } from 'pino'

const MB = 1024 * 1024
/** The content is random, because some file systems store zeros without using space. */
const CHUNK_BYTES = MB

/** Returns the size of the file in bytes: at least two of PostgreSQL's 16 MB log segments. Recovery after a crash may need one. */
function sizeFor(diskBytes: number): number {
  return Math.min(48 * MB, Math.max(32 * MB, Math.floor(diskBytes / 32)))
}

function spareFilePath(dataDir: string): string {
  return path.join(dataDir, 'spare-room')
}

/** Removes the file if the disk is full. Call it before PostgreSQL starts. */
export async function removeSpareFile(dataDir: string, log: Logger): Promise<void> {
  const { bavail, blocks, bsize } = await statfs(dataDir)
  if (bavail * bsize >= sizeFor(blocks * bsize)) return
  const file = spareFilePath(dataDir)
  if ((await stat(file).catch(() => undefined)) === undefined) return
  await rm(file, { force: true })
  log.warn({ file }, 'The disk is full: the spare file was removed for the database to start')
}

/** Makes the file if it is missing and the disk would still have `keepBytes` free. */
export async function makeSpareFile(dataDir: string, keepBytes: number): Promise<void> {
  const file = spareFilePath(dataDir)
  if ((await stat(file).catch(() => undefined)) !== undefined) return
  const { bavail, blocks, bsize } = await statfs(dataDir)
  const size = sizeFor(blocks * bsize)
  if (bavail * bsize < keepBytes + size) return
  const unfinished = `${file}.${process.pid}`
  const handle = await open(unfinished, 'w', 0o600)
  try {
    for (let written = 0; written < size; written += CHUNK_BYTES) await handle.write(randomBytes(CHUNK_BYTES))
  } finally {
    await handle.close()
  }
  await rename(unfinished, file)
}
