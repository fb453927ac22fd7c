/** The embedded PostgreSQL on a small disk that is full (security.md, Crash). */
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { postmasterPid, startProcess, waitFor, waitForQuery } from '#test/processes.ts'
import { fillUp, hasSpareFile, smallDisk } from '#test/small-disk.ts'

test('security: full disk: changes are refused early, reads go on, and everything works again when there is room', async () => {
  const dataDir = await smallDisk(160)
  const server = startProcess({ dataDir, use: 'server' })
  await server.opened
  await server.query(`insert into counters values ('kept', 1)`)
  await fillUp(dataDir)
  await waitFor('the warning', () => server.isSpaceLow())
  for (let read = 0; read < 20; read += 1) expect(await server.query('select name from counters')).toEqual([{ name: 'kept' }])
  // A change that passes the check of free space either fits or fails with the error of a full disk. It is never lost silently.
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
  await waitFor('the all-clear', async () => !(await server.isSpaceLow()))
  const stored = new Set((await server.query('select key from file_removals')).map(({ key }) => key))
  expect(keys.filter((key) => !stored.has(key))).toEqual([])
})

test('security: full disk: a PostgreSQL that panicked is started again as soon as there is room', async () => {
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

test('security: full disk: a server and a PostgreSQL that start on a full disk answer reads', async () => {
  const dataDir = await smallDisk(160)
  const first = startProcess({ dataDir, use: 'server' })
  await first.opened
  await first.query(`insert into counters values ('kept', 1)`)
  await waitFor('the spare file', () => hasSpareFile(dataDir))
  await fillUp(dataDir)
  process.kill(await postmasterPid(dataDir), 'SIGKILL')
  await waitForQuery(first, 'select 1')
  first.kill('SIGTERM')
  await first.ended
  const second = startProcess({ dataDir, use: 'server' })
  await second.opened
  expect(await second.query('select name from counters')).toEqual([{ name: 'kept' }])
  await rm(path.join(dataDir, 'ballast'))
  await waitFor('the spare file again', () => hasSpareFile(dataDir))
})
