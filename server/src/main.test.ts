/** The server as a process: what it prints when it cannot start, and how it ends. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { expectGoodEnd, processesOf, type ServerProcess, startServer } from '#test/faults/console-process.ts'
import { startTcpProxy } from '#test/faults/tcp-proxy.ts'
import { LOCK_SPACE, LOCKS } from '#src/postgres/lock-holder.ts'
import { preparedDataDir, temporaryDataDir, waitFor } from '#test/processes.ts'
import { createDatabase } from '#test/test-database.ts'
import { onServer } from '#test/test-server.ts'

test.each(['Promise.reject(new Error("unexpected"))', '(() => { throw new Error("unexpected") })()'])(
  'security: after %s the server logs one line, stops in order and exits 1',
  async (failing) => {
    const url = await createDatabase('unexpected', { isMigrated: true })
    const dataDir = await emptyFolder()
    const child = spawn(process.execPath, ['--import', moduleOf(`process.on('SIGUSR2', () => { ${failing} })`), PROGRAM], {
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
    expect(fatal).toMatchObject([{ event: 'unexpected-error', err: { message: 'unexpected' } }])
    // It stopped as usual: it has closed its connections.
    await onServer(url, async (run) => {
      expect(
        await run(`select application_name from pg_stat_activity where application_name like 'arcade server ${child.pid} %'`),
      ).toEqual([])
    })
  },
)

test('security: an unexpected error while the server stops does not cut the stop short', async () => {
  const dataDir = await preparedDataDir()
  const server = startServer(dataDir, laterInStop('throw new Error("unexpected")'))
  const request = await stopAmidRequest(server)
  const written = outputOf(server)
  await waitFor('the error to be told', () => written().includes('"event":"unexpected-error"'))
  request.destroy()
  const { code, output } = await server.ended
  expect(code, output).toBe(1)
  await waitFor('PostgreSQL to be stopped', async () => (await processesOf(dataDir)).length === 0)
})

test('design §8 a second signal ends a server that waits for a request at once, and is logged', async () => {
  const server = startServer(await preparedDataDir(), laterInStop('process.kill(process.pid, "SIGTERM")'))
  await stopAmidRequest(server)
  const { code, output } = await server.ended
  expect(code, output).toBe(1)
  expect(output).toContain('"A second signal ends the server at once"')
})

test.each([
  ['waits for another process to migrate', 'Waiting for another process that migrates'],
  ['waits for a database that is gone', 'The connection to the database was lost during its migration'],
])('design §8 a start that %s ends properly when it is told to', async (_, line) => {
  const url = new URL(await createDatabase('given_up'))
  const proxy = await startTcpProxy(Number(url.port))
  await onServer(url.href, async (run) => {
    await run(`select pg_advisory_lock(${LOCK_SPACE}, ${LOCKS.migration})`)
    const proxied = new URL(url)
    proxied.port = String(proxy.port)
    const server = startServer(await temporaryDataDir(), { DATABASE_URL: proxied.href })
    const written = outputOf(server)
    await waitFor('the start to wait', () => written().includes('Waiting for another process that migrates'))
    if (!written().includes(line)) await proxy.become('gone')
    await waitFor(line, () => written().includes(line))
    await expectGoodEnd(server)
  })
})

/** Tells a server to stop while it waits for the rest of a request. */
async function stopAmidRequest({ child, ready }: ServerProcess): Promise<Socket> {
  const { port } = new URL(await ready)
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => {}) // it breaks when the server ends
  onTestFinished(() => void socket.destroy())
  const headers = 'Host: console.localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue'
  socket.write(`POST /api/session HTTP/1.1\r\n${headers}\r\n\r\n`)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString()).toMatch(/^HTTP\/1.1 100 Continue/)
  child.kill('SIGTERM')
  return socket
}

/** Makes a server run JavaScript during its stop, late enough for a second signal not to be taken for the first one. */
function laterInStop(code: string): { NODE_OPTIONS: string } {
  return { NODE_OPTIONS: `--import=${moduleOf(`process.once('SIGTERM', () => setTimeout(() => { ${code} }, 1100))`)}` }
}

/** Returns what the process has written so far. */
function outputOf({ child }: ServerProcess): () => string {
  let output = ''
  child.stdout!.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return () => output
}

function moduleOf(code: string): string {
  return `data:text/javascript,${encodeURIComponent(code)}`
}

const PROGRAM = fileURLToPath(new URL('./main.ts', import.meta.url))

test('design §8 a port in use gives one line that names the process that has it, and exit code 1', async () => {
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
  'design §8 a DATA_DIR that cannot be created gives one clear line and exit code 1: %j',
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
