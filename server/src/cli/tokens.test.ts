/** `npm run arcade -- token …` (design §8), beside a running server and without one. */
import { expect, test } from 'vitest'
import { startServer } from '#test/faults/console-process.ts'
import { temporaryDataDir, waitFor } from '#test/processes.ts'
import { arcade } from '#test/run-arcade.ts'
import { testDatabase, workerUrl } from '#test/test-database.ts'

const token = (...args: string[]) => arcade('token', ...args)

test('design §8 token create, list, rotate, retire and revoke, which a running server heeds', async () => {
  await testDatabase()
  const secretOf = (output: string): string => /^arcade_[\w-]{43}$/m.exec(output)?.[0] ?? 'none'
  expect(await token('list')).toMatchObject({ code: 0, output: expect.stringContaining('There is no bot token.') })
  const made = await token('create', 'game')
  expect(made.code).toBe(0)
  const first = secretOf(made.output)

  const server = startServer(await temporaryDataDir(), { DATABASE_URL: workerUrl() })
  const url = await server.ready
  const statusWith = async (secret: string): Promise<number> => {
    const answer = await fetch(`${url}/update-users-status`, { headers: { authorization: `Bearer ${secret}` } })
    return answer.status
  }
  expect(await statusWith(first)).toBe(200)
  const second = secretOf((await token('rotate', 'game')).output)
  expect([await statusWith(first), await statusWith(second)]).toEqual([200, 200])
  const third = secretOf((await token('rotate', 'game')).output)
  await waitFor('the first to end', async () => (await statusWith(first)) === 401)
  expect(await statusWith(third)).toBe(200)
  expect((await token('create', 'reader', '--scope', 'read')).code).toBe(0)
  const { output } = await token('list')
  expect(output).toMatch(/^game {4}play {3}last used \S+; the one before it last used \S+$/m)
  expect(output).toMatch(/^reader {2}read {3}never used$/m)
  expect(output).not.toContain('arcade_')
  expect(await token('retire', 'game')).toMatchObject({ code: 0, output: 'The old token of game works no longer.\n' })
  expect(await token('retire', 'game')).toMatchObject({ code: 0, output: 'There is no old token of game to end.\n' })
  await waitFor('the second to end', async () => (await statusWith(second)) === 401)
  expect(await statusWith(third)).toBe(200)
  expect((await token('list')).output).toMatch(/^game {4}play {3}last used \S+$/m)
  expect((await token('revoke', 'game')).code).toBe(0)
  await waitFor('the token to end', async () => (await statusWith(third)) === 401)
  server.child.kill('SIGTERM')
  await server.ended
})

test.each([
  [['create', 'game'], 'There is a token called game already.'],
  [['create', 'a/b'], 'A token needs a name'],
  [['create', 'other', '--scope', 'all'], 'read, play, admin'],
  [['rotate', 'none'], 'This bot token does not exist any more.'],
  [['retire', 'none'], 'This bot token does not exist any more.'],
  [['revoke', 'none'], 'This bot token does not exist any more.'],
  [['create', 'other', '--scopes', 'read'], "Unknown option '--scopes'.\nUsage"],
  [['create'], '`token create` needs NAME.\nUsage:\n  npm run arcade -- token create NAME [--scope'],
  [['list', 'extra'], "Unexpected argument 'extra'.\nUsage"],
  [['rotate'], '`token rotate` needs NAME.\nUsage'],
  [['lists'], "There is no command 'token lists'.\nUsage:\n  npm run arcade -- token create"],
])('design §8 token %j ends with 1 and says why', async (args, reason) => {
  expect((await token('create', 'game')).code).toBe(0)
  const { code, output } = await token(...args)
  expect(code).toBe(1)
  expect(output).toContain(reason)
})
