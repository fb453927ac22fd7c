/** The server as a process: what it says when it cannot start. */
import { execFile } from 'node:child_process'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { createDatabase } from '#src/testing/test-database.ts'

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
    DATA_DIR: '/nowhere',
  }
  const failure = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    execFile(process.execPath, [PROGRAM], { env }, (error, _, stderr) => resolve({ code: error?.code, stderr }))
  })
  expect(failure).toEqual({
    code: 1,
    stderr: `Arcade Console cannot start: port ${port} is in use by process ${process.pid} (kill ${process.pid} ends it); set PORT to another one\n`,
  })
})
