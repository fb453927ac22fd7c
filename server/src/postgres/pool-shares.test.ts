/** Which kinds of calls get connections when they want more than there are. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Shares, withPoolShareOf, createShares } from './pool-shares.ts'

const NEVER_SLOW = { waitMs: 60_000, slowMs: 60_000 }

/** Takes as many connections as it gets at once, without waiting for the others. */
async function takeAll(shares: Shares, kind: string, count: number) {
  const taken: (() => void)[] = []
  for (let index = 0; index < count; index += 1) {
    void withPoolShareOf(kind, () => shares.take()).then((giveBack) => taken.push(giveBack))
  }
  await pause(0)
  return taken
}

test('security: one kind of call holds at most three quarters of the connections, others get the rest', async () => {
  const shares = createShares({ size: 8, ...NEVER_SLOW })
  expect(await takeAll(shares, 'tasks', 20)).toHaveLength(6)
  expect(await takeAll(shares, 'players', 20)).toHaveLength(2)
})

test('security: a freed connection goes to the call that has waited longest among those allowed to take it', async () => {
  const shares = createShares({ size: 4, ...NEVER_SLOW })
  const tasks = await takeAll(shares, 'tasks', 5)
  const players = await takeAll(shares, 'players', 2)
  expect([tasks.length, players.length]).toEqual([3, 1])
  players[0]?.()
  await pause(0)
  expect([tasks.length, players.length]).toEqual([3, 2]) // tasks have their share already
  tasks[0]?.()
  await pause(0)
  expect([tasks.length, players.length]).toEqual([4, 2])
})

test('security: kinds of calls that were slow leave a quarter free together, until they are fast again', async () => {
  let time = 0
  const shares = createShares({ size: 8, waitMs: 60_000, slowMs: 20, now: () => time })
  const slow = [...(await takeAll(shares, 'tasks', 6)), ...(await takeAll(shares, 'daily tasks', 2))]
  time += 30
  for (const giveBack of slow) giveBack()
  const tasks = await takeAll(shares, 'tasks', 20)
  const dailyTasks = await takeAll(shares, 'daily tasks', 20)
  expect([tasks.length, dailyTasks.length]).toEqual([6, 0])
  expect(await takeAll(shares, 'players', 1)).toHaveLength(1)
  tasks.shift()?.() // fast this time, but the others are held for long
  time += 30
  expect(await takeAll(shares, 'users', 2)).toHaveLength(1)
})

test('security: a call that waits too long is refused, and a connection freed later goes to others', async () => {
  const shares = createShares({ size: 1, waitMs: 20, slowMs: 60_000 })
  const giveBack = await shares.take()
  await expect(shares.take()).rejects.toThrow('No database connection was free within 20 ms')
  giveBack()
  expect(await shares.take()).toBeTypeOf('function')
})
