/** Mounts a disk that is small enough to fill. This needs root. */
import { execFileSync } from 'node:child_process'
import { appendFile, mkdtemp, readdir, rmdir, statfs, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { temporaryDataDir, waitFor } from './processes.ts'

/** Mounts a file system in memory and returns the path of a DATA_DIR on it. Unmounts it after the test. */
export async function smallDisk(sizeMb: number): Promise<string> {
  const mountPoint = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m,mode=0711`, 'arcade-test', mountPoint])
  onTestFinished(async () => {
    execFileSync('umount', ['-l', mountPoint])
    await rmdir(mountPoint) // not recursive, in case the file system is still mounted
  })
  return temporaryDataDir(mountPoint)
}

/** Fills the disk with the file `ballast`. */
export async function fillUp(dataDir: string): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir)
  await writeFile(path.join(dataDir, 'ballast'), Buffer.alloc(bavail * bsize)).catch(() => undefined)
  if ((await freeBytes(dataDir)) >= 16 * bsize) throw new Error('the disk did not get full')
}

/**
 * Appends to the file `ballast` until the disk has at most `bytes` left. It measures after each chunk, because PostgreSQL's log may grow
 * meanwhile. A server that writes its spare file two seconds after its start would take more, so this waits for that file first.
 */
export async function fillUntil(dataDir: string, bytes: number): Promise<void> {
  await waitFor('the spare file', () => hasSpareFile(dataDir))
  const chunk = Buffer.alloc(1024 * 1024)
  while ((await freeBytes(dataDir)) > bytes) await appendFile(path.join(dataDir, 'ballast'), chunk)
}

export async function hasSpareFile(dataDir: string): Promise<boolean> {
  return (await readdir(dataDir)).includes('spare-room')
}

export async function freeBytes(dataDir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dataDir)
  return bavail * bsize
}

/** Changes the size of the mounted disk. */
export function resize(dataDir: string, sizeMb: number): void {
  execFileSync('mount', ['-o', `remount,size=${sizeMb}m`, path.dirname(path.dirname(dataDir))])
}
