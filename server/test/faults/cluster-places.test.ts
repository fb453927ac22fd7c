/** Starts on unusual data directories: another PostgreSQL version, foreign files, damage, a missing password, a port that is taken. */
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  isRunning,
  postmasterPid,
  preparedDataDir,
  startProcess,
  temporaryDataDir,
  waitFor,
  waitForQuery,
} from '#test/processes.ts'

test.each(['server', 'command'] as const)(
  'design §4 a %s refuses data of another PostgreSQL version, says what to do, and leaves it untouched',
  async (use) => {
    const dataDir = await preparedDataDir()
    await writeFile(path.join(dataDir, 'postgres/PG_VERSION'), '17\n')
    const before = await filesIn(dataDir)
    await expect(startProcess({ dataDir, use }).opened).rejects.toThrow(
      /was made by PostgreSQL 17, and this Arcade Console brings 18\. Nothing was changed\. Make a backup with the version .* keep the old folder/,
    )
    expect(await filesIn(dataDir)).toEqual(before)
  },
)

test('design §4 a PostgreSQL of another version that was left running is not adopted', async () => {
  const dataDir = await preparedDataDir()
  const old = startProcess({ dataDir, use: 'server' })
  await old.opened
  old.kill('SIGKILL')
  await old.ended
  const versionFile = path.join(dataDir, 'postgres/PG_VERSION')
  await writeFile(versionFile, '17\n')
  await expect(startProcess({ dataDir, use: 'server' }).opened).rejects.toThrow(/was made by PostgreSQL 17/)
  await writeFile(versionFile, '18\n')
  await startProcess({ dataDir, use: 'server' }).opened
})

/** Lists every file with its owner, size and time of last change. */
async function filesIn(dataDir: string): Promise<Record<string, unknown>> {
  const names = (await readdir(dataDir, { recursive: true })).toSorted()
  const facts = await Promise.all(names.map((name) => stat(path.join(dataDir, name))))
  return Object.fromEntries(names.map((name, index) => [name, [facts[index]!.uid, facts[index]!.size, facts[index]!.ctimeMs]]))
}

test('design §4 somebody else’s directory is not touched', async () => {
  const dataDir = await temporaryDataDir()
  await mkdir(path.join(dataDir, 'postgres'), { recursive: true })
  await chmod(dataDir, 0o711)
  await writeFile(path.join(dataDir, 'postgres/photo.jpg'), 'not ours')
  await expect(startProcess({ dataDir, use: 'server' }).opened).rejects.toThrow(
    /is not a PostgreSQL data directory: move it away/,
  )
  expect(await readFile(path.join(dataDir, 'postgres/photo.jpg'), 'utf8')).toBe('not ours')
})

test('design §4 damaged data: the message contains PostgreSQL’s own error', async () => {
  const dataDir = await preparedDataDir()
  await rm(path.join(dataDir, 'postgres/global/pg_control'))
  await expect(startProcess({ dataDir, use: 'server' }).opened).rejects.toThrow(/PostgreSQL did not start on .*pg_control/)
})

test('design §4 a missing password is replaced by a new one, and nothing is left running', async () => {
  const dataDir = await preparedDataDir()
  const passwordFile = path.join(dataDir, 'postgres/arcade.password')
  const before = await readFile(passwordFile, 'utf8')
  await rm(passwordFile)
  const server = startProcess({ dataDir, use: 'server' })
  await server.opened
  expect(await readFile(passwordFile, 'utf8')).not.toBe(before)
  expect((await stat(passwordFile)).mode & 0o777).toBe(0o600)
  const postmaster = await postmasterPid(dataDir)
  server.kill('SIGTERM')
  expect(await server.ended).toMatchObject({ code: 0 })
  await waitFor('PostgreSQL to end', async () => !(await isRunning(postmaster)))
})

test('design §4 if the password is missing while PostgreSQL runs, the message names the process to end', async () => {
  const dataDir = await preparedDataDir()
  const server = startProcess({ dataDir, use: 'server' })
  await server.opened
  const postmaster = await postmasterPid(dataDir)
  server.kill('SIGKILL')
  await server.ended
  await rm(path.join(dataDir, 'postgres/arcade.password'))
  await expect(startProcess({ dataDir, use: 'server' }).opened).rejects.toThrow(
    `its password is gone (${dataDir}/postgres/arcade.password): end it with kill -INT ${postmaster} and start again`,
  )
  process.kill(postmaster, 'SIGINT')
  await waitFor('PostgreSQL to end', async () => !(await isRunning(postmaster)))
  expect(await startProcess({ dataDir, use: 'server' }).opened).toBeGreaterThan(0)
})

test('design §4 if another program takes the port while PostgreSQL is down, PostgreSQL gets another port and the pool follows', async () => {
  const dataDir = await preparedDataDir()
  const server = startProcess({ dataDir, use: 'server' })
  await server.opened
  await server.query('select 1')
  const port = await portOf(dataDir)
  server.kill('SIGSTOP') // or it would start PostgreSQL before the port is taken
  process.kill(await postmasterPid(dataDir), 'SIGKILL')
  const squatter = createServer((socket) => socket.destroy())
  onTestFinished(() => new Promise<void>((resolve) => void squatter.close(() => resolve())))
  const attempt = () =>
    new Promise<boolean>((resolve) => {
      squatter.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
    })
  await waitFor('the port', attempt)
  server.kill('SIGCONT')
  // Backends still answer on the old port until they notice that their postmaster is gone.
  await waitFor('another port', async () => ![port, undefined].includes(await portOf(dataDir).catch(() => undefined)))
  await waitForQuery(server, 'select 1')
})

async function portOf(dataDir: string): Promise<number> {
  const lines = (await readFile(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')
  return Number(lines[3])
}
