/** `npm run arcade -- token …` as processes (design §8), beside a running server and without one. */
import { expect, test } from 'vitest'
import { startCommand, startServer } from '#test/faults/console-process.ts'
import { temporaryDataDir, waitFor } from '#test/processes.ts'

test('design §8 token create, list, rotate, retire and revoke, which a running server heeds', async () => {
  const dataDir = await temporaryDataDir()
  const arcade = (...args: string[]) => startCommand(dataDir, 'token', ...args).ended
  const secretOf = (output: string): string => /^arcade_[\w-]{43}$/m.exec(output)?.[0] ?? 'none'
  expect(await arcade('list')).toMatchObject({ code: 0, output: expect.stringContaining('There is no bot token.') })
  const made = await arcade('create', 'game')
  expect(made.code).toBe(0)
  const first = secretOf(made.output)

  const server = startServer(dataDir)
  const url = await server.ready
  const statusWith = async (token: string): Promise<number> => {
    const answer = await fetch(`${url}/update-users-status`, { headers: { authorization: `Bearer ${token}` } })
    return answer.status
  }
  expect(await statusWith(first)).toBe(200)
  const second = secretOf((await arcade('rotate', 'game')).output)
  expect([await statusWith(first), await statusWith(second)]).toEqual([200, 200])
  const third = secretOf((await arcade('rotate', 'game')).output)
  await waitFor('the first to end', async () => (await statusWith(first)) === 401)
  expect(await statusWith(third)).toBe(200)
  expect((await arcade('create', 'reader', '--scope', 'read')).code).toBe(0)
  const { output } = await arcade('list')
  expect(output).toMatch(/^game {4}play {3}last used \S+; the one before it last used \S+$/m)
  expect(output).toMatch(/^reader {2}read {3}never used$/m)
  expect(output).not.toContain('arcade_')
  expect(await arcade('retire', 'game')).toMatchObject({ code: 0, output: 'The old token of game works no longer.\n' })
  expect(await arcade('retire', 'game')).toMatchObject({ code: 0, output: 'There is no old token of game to end.\n' })
  await waitFor('the second to end', async () => (await statusWith(second)) === 401)
  expect(await statusWith(third)).toBe(200)
  expect((await arcade('list')).output).toMatch(/^game {4}play {3}last used \S+$/m)
  expect((await arcade('revoke', 'game')).code).toBe(0)
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
  [['create'], "There is no command 'token create'.\nUsage"],
  [['list', 'extra'], "There is no command 'token list extra'.\nUsage"],
  [['rotate'], "There is no command 'token rotate'.\nUsage"],
])('design §8 token %j ends with 1 and says why', async (args, reason) => {
  const dataDir = await temporaryDataDir()
  expect((await startCommand(dataDir, 'token', 'create', 'game').ended).code).toBe(0)
  const { code, output } = await startCommand(dataDir, 'token', ...args).ended
  expect(code).toBe(1)
  expect(output).toContain(reason)
})
