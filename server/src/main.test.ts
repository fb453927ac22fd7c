/** The server as a process: what it says when it cannot start. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { createDatabase } from '#src/testing/test-database.ts'
import { onServer } from '#src/testing/test-server.ts'

test.each(['Promise.reject(new Error("unforeseen"))', '(() => { throw new Error("unforeseen") })()'])(
  'security: after %s the server says so in one line, stops in order and exits 1',
  async (failing) => {
    const url = await createDatabase('unforeseen', { isMigrated: true })
    const dataDir = await emptyFolder()
    const onSignal = `data:text/javascript,process.on('SIGUSR2', () => { ${encodeURIComponent(failing)} })`
    const child = spawn(process.execPath, ['--import', onSignal, PROGRAM], {
      env: { PATH: process.env['PATH'], PORT: '0', DATABASE_URL: url, DATA_DIR: dataDir },
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const ended = once(child, 'close')
    const stderr = text(child.stderr)
    const lines: string[] = []
    for await (const line of createInterface(child.stdout)) {
      lines.push(line)
      if (line.startsWith('Arcade Console ready at')) child.kill('SIGUSR2')
    }
    expect((await ended)[0]).toBe(1)
    expect(await stderr).toBe('')
    const fatal = lines.flatMap((line) => (line.startsWith('{') ? JSON.parse(line) : [])).filter(({ level }) => level === 60)
    expect(fatal).toMatchObject([{ event: 'unforeseen', err: { message: 'unforeseen' } }])
    // The way it went was the usual one: it has closed its connections.
    await onServer(url, async (run) => {
      expect(
        await run(`select application_name from pg_stat_activity where application_name like 'arcade server ${child.pid} %'`),
      ).toEqual([])
    })
  },
)

const PROGRAM = fileURLToPath(new URL('./main.ts', import.meta.url))

test('§design 8 a port that is in use: one line names the process that has it, exit 1', async () => {
  const url = await createDatabase('port_in_use', { isMigrated: true })
  const owner = createServer()
  onTestFinished(() => new Promise<void>((resolve) => void owner.close(() => resolve())))
  const port = await new Promise<number>((resolve) => {
    owner.listen(0, '127.0.0.1', () => resolve((owner.address() as { port: number }).port))
  })
  const env = {
    PATH: process.env['PATH'],
    PORT: String(port),
    DATABASE_URL: url,
    DATA_DIR: await emptyFolder(),
  }
  const failure = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    execFile(process.execPath, [PROGRAM], { env }, (error, _, stderr) => resolve({ code: error?.code, stderr }))
  })
  expect(failure).toEqual({
    code: 1,
    stderr: `Arcade Console cannot start: port ${port} is in use by process ${process.pid} (kill ${process.pid} ends it); set PORT to another one\n`,
  })
})

test.each([{ DATABASE_URL: '' }, { DATABASE_URL: 'postgres://127.0.0.1:1/none' }])(
  '§design 8 a DATA_DIR that cannot be made is one clear line, exit 1: %j',
  async (env) => {
    const file = path.join(await emptyFolder(), 'file')
    await writeFile(file, '')
    for (const [program, args, before] of [
      [PROGRAM, [], 'Arcade Console cannot start: '],
      [fileURLToPath(new URL('./cli/arcade.ts', import.meta.url)), ['token', 'list'], ''],
    ] as const) {
      const dataDir = path.join(file, 'data')
      const ended = await new Promise<unknown>((resolve) => {
        const options = { env: { PATH: process.env['PATH'], PORT: '0', DATA_DIR: dataDir, ...env } }
        execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) =>
          resolve({ code: error?.code, stdout, stderr }),
        )
      })
      const stderr = `${before}DATA_DIR ${dataDir} cannot be used: ENOTDIR: not a directory, mkdir '${dataDir}'\n`
      expect(ended).toEqual({ code: 1, stdout: '', stderr })
    }
  },
)

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}
