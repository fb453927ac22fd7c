/** Starts as root. PostgreSQL refuses to run as root, so it runs as another user, who may lack access to parent directories. */
import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { postmasterPid, preparedDataDir, startProcess, temporaryDataDir, waitFor } from '#test/processes.ts'
import { findProcess } from '#src/postgres/processes.ts'

const run = promisify(execFile)
const NOBODY = { uid: 65_534, gid: 65_534 }

test('design §4 as root, DATA_DIR may be below a directory that other users cannot enter', async () => {
  const base = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-closed-')) // 0700
  onTestFinished(() => rm(base, { recursive: true, force: true }))
  const dataDir = await temporaryDataDir(base)
  await chmod(path.dirname(dataDir), 0o700)
  const server = startProcess({ dataDir, use: 'server' })
  await server.opened
  const postmaster = await postmasterPid(dataDir)
  const status = await readFile(`/proc/${postmaster}/status`, 'utf8')
  expect(/^Uid:\t(\d+)/m.exec(status)?.[1]).not.toBe('0')
  expect(/^CapEff:\t(\w+)/m.exec(status)?.[1]).toBe('0000000000000004') // CAP_DAC_READ_SEARCH alone
  server.kill('SIGKILL')
  await server.ended
  const next = startProcess({ dataDir, use: 'server' })
  await next.opened
  expect(await postmasterPid(dataDir)).toBe(postmaster)
  next.kill('SIGTERM')
  expect(await next.ended).toMatchObject({ code: 0 })
  await waitFor('the end of PostgreSQL', async () => (await findProcess(postmaster)) === undefined)
})

test('design §4 as root without the capability CAP_DAC_READ_SEARCH, the message says what to do', async () => {
  const base = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-closed-'))
  onTestFinished(() => rm(base, { recursive: true, force: true }))
  const program = fileURLToPath(import.meta.resolve('#test/cluster-process.ts'))
  const options = JSON.stringify({ dataDir: path.join(base, 'data'), use: 'server' })
  const failed = run('setpriv', ['--bounding-set=-dac_read_search', process.execPath, program, options])
  const { stdout } = await failed.then(
    () => ({ stdout: '' }),
    (error: { stdout: string }) => error,
  )
  expect(stdout).toMatch(
    /"refused".*runs as user \w+, who cannot enter .* let others enter every directory on the way \(chmod o\+x\), or start Arcade Console as an ordinary user\./,
  )
})

test('design §4 files that belong to root after a restore are given to PostgreSQL’s user', async () => {
  const dataDir = await preparedDataDir()
  await run('chown', ['-R', 'root:root', path.join(dataDir, 'postgres')])
  await startProcess({ dataDir, use: 'server' }).opened
  expect((await stat(path.join(dataDir, 'postgres/base'))).uid).not.toBe(0)
})

test('design §4 a start as an ordinary user runs PostgreSQL as that user, later starts as root do too, and other users are refused', async () => {
  const dataDir = await temporaryDataDir()
  await mkdir(dataDir)
  await chown(dataDir, NOBODY.uid, NOBODY.gid)
  const server = startProcess({ dataDir, use: 'server' }, NOBODY)
  await server.opened
  expect((await stat(path.join(dataDir, 'postgres'))).uid).toBe(NOBODY.uid)
  server.kill('SIGKILL')
  await server.ended
  const next = startProcess({ dataDir, use: 'server' }, NOBODY)
  await next.opened
  next.kill('SIGTERM')
  expect(await next.ended).toMatchObject({ code: 0 })
  // A start as root uses the same user. A start as a third user is refused and names the owner.
  const asRoot = startProcess({ dataDir, use: 'command' })
  await asRoot.opened
  expect((await stat(`/proc/${await postmasterPid(dataDir)}`)).uid).toBe(NOBODY.uid)
  asRoot.kill('SIGTERM')
  await asRoot.ended
  await chmod(dataDir, 0o755)
  await expect(startProcess({ dataDir, use: 'server' }, { uid: 1, gid: 1 }).opened).rejects.toThrow(
    `belongs to user ${NOBODY.uid}`,
  )
})
