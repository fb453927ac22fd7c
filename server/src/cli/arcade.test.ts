/** The operator's commands as processes (design §7, §8): what they refuse, and the one that prints a link for the first admin. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startCommand, startServer } from '#test/faults/console-process.ts'
import { SAMPLE } from '#test/console-server.ts'
import { temporaryDataDir } from '#test/processes.ts'

test('design §7 setup-link prints a link that makes the first admin, and no more once there is one', async () => {
  const dataDir = await temporaryDataDir()
  const link = await startCommand(dataDir, 'setup-link').ended
  expect(link.code).toBe(0)
  expect(link.output).toMatch(/^http:\/\/127\.0\.0\.1:3000\/register\?setup=[\w-]{43}$/m)

  const server = startServer(dataDir) // its environment names the first admin
  await server.ready
  const beside = await startCommand(dataDir, 'setup-link').ended
  expect(beside.code).toBe(1)
  expect(beside.output).toContain('There is an admin already.')
  expect(beside.output).not.toContain('setup=')
  server.child.kill('SIGTERM')
  await server.ended
})

test.each([
  [['seed', '--participations', '3'], "Unknown option '--participations'.\nUsage"],
  [['seed', '--participants'], "Option '--participants <value>' argument missing.\nUsage"],
  [['seed', '--participants', 'many'], 'many is not a number of rows.\nUsage'],
  [['seed', '--participants', '-1'], "Option '--participants' argument missing.\nUsage"],
  [['audit', 'drop', '2026-02-30'], '2026-02-30 is no day such as 2026-01-31.\nUsage'],
  [
    ['audit', 'verify', '--head', '9999:abcd'],
    '9999:abcd is no head, which `audit verify` prints as NUMBER:HASH at its end.\nUsage',
  ],
  [['audit', 'verify', '--heads', '1'], "Unknown option '--heads'.\nUsage"],
  [['audit', 'verify', 'now'], "Unexpected argument 'now'.\nUsage"],
  [['import'], 'An import needs one directory.\nUsage'],
  [['import', 'one', 'two', '--dry-run'], 'An import needs one directory.\nUsage'],
  [['import', 'one', '--dryrun'], "Unknown option '--dryrun'.\nUsage"],
  [['import', 'one', '--dry-run=no'], "Option '--dry-run' does not take an argument.\nUsage"],
  [['seed'], 'How many rows are to be made?\nUsage'],
  [['seeds'], "There is no command 'seeds'.\nUsage"],
  [['reconcile', '--players'], "There is no command 'reconcile --players'.\nUsage"],
])('design §8 arcade %j ends with 1 and says why', async (args, reason) => {
  const { code, output } = await startCommand(await temporaryDataDir(), ...args).ended
  expect(code).toBe(1)
  expect(output).toContain(reason)
})

test('design §8 arcade --help tells all commands', async () => {
  const { code, output } = await startCommand(await temporaryDataDir(), '--help').ended
  expect(code).toBe(0)
  expect(output).toMatch(/^Usage:\n[^]*arcade -- reconcile/)
})

test('a command whose output nobody reads any more goes on to its end', async () => {
  const dataDir = await temporaryDataDir()
  const { child, ended } = startCommand(dataDir, 'import', SAMPLE)
  child.stdout?.destroy()
  expect(await ended).toMatchObject({ code: 0 })
  const again = await startCommand(dataDir, 'import', SAMPLE).ended
  expect(again.output).toMatch(/announcementHistory.users.ndjson: .* 0 loaded/)
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('design §7 a command that %s breaks off says so, and leaves no PostgreSQL behind', async (signal, exitCode) => {
  const dataDir = await temporaryDataDir()
  const directory = await temporaryDataDir()
  await mkdir(directory)
  const pipe = join(directory, 'telegramUsers.ndjson')
  execFileSync('mkfifo', [pipe])
  const { child, ended } = startCommand(dataDir, 'import', directory)
  const lines = await open(pipe, 'w') // as soon as the import reads what never ends
  child.kill(signal)
  await once(child.stderr!, 'data') // it says so at once; a process that still reads from the pipe cannot end
  await lines.close()
  expect(await ended).toEqual({ code: exitCode, output: expect.stringContaining('Broken off.') })
  expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false)
  expect((await startCommand(dataDir, 'import', SAMPLE).ended).code).toBe(0)
})
