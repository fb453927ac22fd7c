/** A disk of its own in memory, full (security.md, Crash). */
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, rmdir, statfs, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { postmasterPid, startProcess, temporaryDataDir, waitFor, waitForQuery } from '#src/testing/processes.ts'

test('§security full disk: changes are refused early, reads go on, all works again when there is room', async () => {
  const dataDir = await smallDisk(160)
  const server = startProcess({ dataDir, use: 'server' })
  await server.opened
  await server.query(`insert into counters values ('kept', 1)`)
  await fillUp(dataDir)
  await waitFor('the warning', () => server.freeSpaceLow())
  for (let read = 0; read < 20; read += 1) expect(await server.query('select name from counters')).toEqual([{ name: 'kept' }])
  // A change that got past the check either finds room that is left or fails as a full disk; it is never lost silently.
  const keys: string[] = []
  const failure = await waitFor('a refused write', async () => {
    const key = `${keys.length} ${'x'.repeat(2_000)}`
    try {
      await server.query(`insert into file_removals (key) values ('${key}')`)
      keys.push(key)
      return undefined
    } catch (error) {
      return error as { isDiskFull: boolean; isUnavailable: boolean }
    }
  })
  expect(failure.isDiskFull || failure.isUnavailable).toBe(true)
  await rm(path.join(dataDir, 'ballast'))
  await waitForQuery(server, `insert into file_removals (key) values ('after')`)
  await waitFor('the all-clear', async () => !(await server.freeSpaceLow()))
  const stored = new Set((await server.query('select key from file_removals')).map(({ key }) => key))
  expect(keys.filter((key) => !stored.has(key))).toEqual([])
})

test('§security full disk: a PostgreSQL that panicked is started again as soon as there is room', async () => {
  const dataDir = await smallDisk(160)
  const server = startProcess({ dataDir, use: 'server' })
  await server.opened
  await fillUp(dataDir)
  process.kill(await postmasterPid(dataDir), 'SIGKILL')
  await waitFor('the loss', () =>
    server.query('select 1').then(
      () => false,
      () => true,
    ),
  )
  await rm(path.join(dataDir, 'ballast'))
  await waitForQuery(server, `insert into counters values ('after', 1)`)
})

/** A file system of its own in memory, with a DATA_DIR on it. */
async function smallDisk(sizeMb: number): Promise<string> {
  const mountPoint = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m,mode=0711`, 'arcade-test', mountPoint])
  onTestFinished(async () => {
    execFileSync('umount', ['-l', mountPoint])
    await rmdir(mountPoint) // never recursively where something is mounted
  })
  return temporaryDataDir(mountPoint)
}

/** Writes until nothing more fits. */
async function fillUp(dataDir: string): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir)
  await writeFile(path.join(dataDir, 'ballast'), Buffer.alloc(bavail * bsize)).catch(() => undefined)
  expect((await statfs(dataDir)).bavail).toBeLessThan(16)
}
