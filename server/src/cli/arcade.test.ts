/** The command line (design §7, §8): what it refuses, its help, and how an interrupted command ends. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startCommand, startCommandWith } from '#test/faults/console-process.ts'
import { SAMPLE } from '#test/console-server.ts'
import { preparedDataDir, removePrepared, temporaryDataDir } from '#test/processes.ts'
import { arcade, arcadeIn } from '#test/run-arcade.ts'
import { auditTrail } from '#test/audit-trail.ts'
import { givePassword, setUpTotp } from '#test/second-factor.ts'
import { testApp } from '#test/test-app.ts'
import { testDatabase, workerUrl } from '#test/test-database.ts'

afterAll(removePrepared)

test('design §7 setup-link prints a link for the first admin, and refuses once there is one', async () => {
  const link = await arcade('setup-link')
  expect(link.code).toBe(0)
  expect(link.output).toMatch(/^http:\/\/127\.0\.0\.1:3000\/register\?setup=[\w-]{43}$/m)

  await (await testApp()).signUp('admin')
  const refused = await arcade('setup-link')
  expect(refused.code).toBe(1)
  expect(refused.output).toContain('There is an admin already.')
  expect(refused.output).not.toContain('setup=')
})

test('security: admin reset-second-factor lets somebody in who has lost it, and ends the sessions', async () => {
  const app = await testApp()
  const ada = await app.signUp('owner', 'ada@gmail.com')
  const reset = (email: string) => arcade('admin', 'reset-second-factor', email)
  expect(await reset('ada@gmail.com')).toMatchObject({ code: 1, output: 'ada@gmail.com has no second factor.\n' })
  await setUpTotp(app, ada)
  expect(await reset('Ada@gmail.com')).toMatchObject({ code: 0, output: expect.stringContaining('with the password alone now') })
  expect(await app.database.db.selectFrom('recovery_codes').selectAll().execute()).toEqual([])
  await expect.poll(async () => (await ada.call('GET', '/api/users')).status).toBe(401)
  expect((await givePassword(app, 'ada@gmail.com')).status).toBe(200)
  expect(await auditTrail(app.database.db, 'user.second-factor-end')).toMatchObject([{ actorKind: 'command', recordId: ada.id }])
  expect((await reset('eve@gmail.com')).output).toContain('There is nobody with the address eve@gmail.com.')
})

test.each([
  [['seed', '--participations', '3'], "Unknown option '--participations'.\nUsage"],
  [['seed', '--participants'], "Option '--participants <value>' argument missing.\nUsage"],
  [['seed', '--participants', 'many'], 'many is not a number of rows (0 to 999999999).\nUsage'],
  [['seed', '--participants', '-1'], "Option '--participants' argument missing.\nUsage"],
  [['audit', 'drop', '2026-02-30'], '2026-02-30 is no day such as 2026-01-31.\nUsage'],
  [
    ['audit', 'verify', '--head', '9999:abcd'],
    '9999:abcd is no head, which `audit verify` prints as NUMBER:HASH at its end.\nUsage',
  ],
  [['audit', 'verify', '--heads', '1'], "Unknown option '--heads'.\nUsage"],
  [['audit', 'verify', 'now'], "Unexpected argument 'now'.\nUsage"],
  [['import'], '`import` needs DIRECTORY.\nUsage:\n  npm run import -- DIRECTORY [--dry-run]'],
  [['import', 'one', 'two', '--dry-run'], "Unexpected argument 'two'.\nUsage"],
  [['backup'], '`backup` needs PLACE.\nUsage'],
  [['backup', 'verify'], '`backup verify` needs PLACE.\nUsage'],
  [['backup', ''], 'PLACE is empty.\nUsage'],
  [['check', '--repair=no'], "Option '--repair' does not take an argument.\nUsage"],
  [['distribute', '--shards', '0'], '0 is not a number of shards (1 to 1024).\nUsage'],
  [['admin', 'create', 'nobody'], 'nobody: '],
  [['import', 'one', '--dryrun'], "Unknown option '--dryrun'.\nUsage"],
  [['import', 'one', '--dry-run=no'], "Option '--dry-run' does not take an argument.\nUsage"],
  [['seed'], 'Give --telegram-users or --participants.\nUsage'],
  [['seeds'], "There is no command 'seeds'.\nUsage:\n  npm run arcade -- admin create EMAIL"],
  [['reconcile', '--players'], "Unknown option '--players'.\nUsage:\n  npm run arcade -- reconcile"],
])('design §8 arcade %j ends with 1 and says why', async (args, reason) => {
  const { code, output } = await arcadeIn({}, ...args)
  expect(code).toBe(1)
  expect(output).toContain(reason)
})

test('design §8 arcade --help lists all commands, and after a command only that one; --version prints the version', async () => {
  const all = await startCommand(await temporaryDataDir(), '--help').ended
  expect(all.code).toBe(0)
  expect(all.output).toMatch(/^Usage:\n[^]*arcade -- reconcile/)
  for (const args of [['help'], ['-h'], ['nothing', '--help']]) expect((await arcadeIn({}, ...args)).output).toBe(all.output)
  const audit = await arcadeIn({ PORT: 'wrong' }, 'audit', '--help')
  expect(audit.code).toBe(0)
  expect(audit.output.match(/arcade -- \w+ \w+/g)).toEqual(['verify', 'drop', 'erase'].map((verb) => `arcade -- audit ${verb}`))
  expect((await arcadeIn({}, 'audit', 'drop', '--help')).output).toMatch(/^Usage:\n.*audit drop DAY\s.*\n$/)
  expect(await arcadeIn({}, '--version')).toEqual({ code: 0, output: expect.stringMatching(/^Arcade Console \d+\.\d+\.\d+\n$/) })
})

test('a command runs to its end although nobody reads its output any more', async () => {
  await testDatabase()
  const env = { DATABASE_URL: workerUrl() }
  const { child, ended } = startCommandWith(env, await temporaryDataDir(), 'import', SAMPLE)
  child.stdout?.destroy()
  expect(await ended).toMatchObject({ code: 0 })
  expect((await arcade('import', SAMPLE)).output).toMatch(/announcementHistory.users.ndjson: .* 0 loaded/)
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  'design §7 a command that %s interrupts says so and leaves no PostgreSQL running; the next one succeeds',
  async (signal, exitCode) => {
    const dataDir = await preparedDataDir()
    const directory = await temporaryDataDir()
    await mkdir(directory)
    const pipe = join(directory, 'telegramUsers.ndjson')
    execFileSync('mkfifo', [pipe])
    const { child, ended } = startCommand(dataDir, 'import', directory)
    const lines = await open(pipe, 'w') // opens once the import reads from the pipe
    child.kill(signal)
    await once(child.stderr!, 'data') // the message comes at once, but the process cannot end while it reads from the pipe
    await lines.close()
    expect(await ended).toEqual({ code: exitCode, output: expect.stringContaining('Broken off.') })
    expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false)
    expect((await startCommand(dataDir, 'token', 'list').ended).code).toBe(0)
  },
)
