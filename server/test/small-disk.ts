/** A disk that is small enough to be filled. Mounting it takes root's rights. */
import { execFileSync } from 'node:child_process'
import { mkdtemp, rmdir, statfs, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { temporaryDataDir } from './processes.ts'

/** A file system of its own in memory, with a DATA_DIR on it. */
export async function smallDisk(sizeMb: number): Promise<string> {
  const mountPoint = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m,mode=0711`, 'arcade-test', mountPoint])
  onTestFinished(async () => {
    execFileSync('umount', ['-l', mountPoint])
    await rmdir(mountPoint) // never recursively where something is mounted
  })
  return temporaryDataDir(mountPoint)
}

/** Writes until nothing more fits. */
export async function fillUp(dataDir: string): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir)
  await writeFile(path.join(dataDir, 'ballast'), Buffer.alloc(bavail * bsize)).catch(() => undefined)
  if ((await freeBytes(dataDir)) >= 16 * bsize) throw new Error('the disk did not get full')
}

export async function freeBytes(dataDir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dataDir)
  return bavail * bsize
}

/** Gives the disk another size. */
export function resize(dataDir: string, sizeMb: number): void {
  execFileSync('mount', ['-o', `remount,size=${sizeMb}m`, path.dirname(path.dirname(dataDir))])
}
