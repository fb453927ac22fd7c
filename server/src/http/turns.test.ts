/** The turns of guests: an address with many requests delays neither other addresses nor people and bots with a credential. */
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { Failure } from '#src/calls.ts'
import { testApp } from '#test/test-app.ts'
import { openAgain } from '#test/test-database.ts'
import { createTurns, MAX_WAITING } from './turns.ts'

/** Locks tables, so that requests that read them are stuck. Returns a function that unlocks them. */
async function lockTables(names: string): Promise<() => Promise<void>> {
  const holder = await openAgain({ use: 'command' }) // without time limits
  const isOver = Promise.withResolvers<void>()
  const isLocked = Promise.withResolvers<void>()
  const holding = holder.transaction(async (tx) => {
    await sql.raw(`lock table ${names} in access exclusive mode`).execute(tx)
    isLocked.resolve()
    await isOver.promise
  })
  await isLocked.promise
  return async () => {
    isOver.resolve()
    await holding
  }
}

test('security: four requests of an address run at a time, in their order, and others are not affected', async () => {
  const turns = createTurns()
  const begun: string[] = []
  const gates = Array.from({ length: 6 }, () => Promise.withResolvers<void>())
  const all = gates.map(({ promise }, index) =>
    turns.run('a', async () => {
      begun.push(`a${index}`)
      await promise
    }),
  )
  await turns.run('b', () => void begun.push('b'))
  expect(begun).toEqual(['a0', 'a1', 'a2', 'a3', 'b'])
  gates[2]!.resolve()
  await all[2]
  gates[4]!.resolve()
  await all[4]
  expect(begun.slice(5)).toEqual(['a4'])
  for (const { resolve } of gates) resolve()
  await Promise.all(all)
  expect(begun.slice(5)).toEqual(['a4', 'a5'])
})

test('security: four requests of an address are answered in one turn of the event loop, and then one in each turn', async () => {
  const turns = createTurns()
  let answered = 0
  const all = Array.from({ length: 9 }, () => turns.run('a', () => void (answered += 1)))
  const counts: number[] = []
  while (answered < all.length) {
    await setImmediate()
    if (counts.at(-1) !== answered) counts.push(answered)
  }
  expect(counts).toEqual([4, 5, 6, 7, 8, 9])
  await Promise.all(all)
})

test('security: a turn ends with a failure, too, and too many waiting requests of an address are refused at once', async () => {
  const turns = createTurns()
  for (let round = 0; round < 5; round += 1)
    await expect(turns.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  await setImmediate()
  const gate = Promise.withResolvers<void>()
  const all = Array.from({ length: 4 + MAX_WAITING }, () => turns.run('a', () => gate.promise))
  const refused: unknown = await turns.run('a', () => {}).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(Failure)
  expect(refused).toMatchObject({ code: 'BUSY', status: 429, retryAfterSeconds: 1 })
  expect(await turns.run('b', () => 'answered')).toBe('answered')
  gate.resolve()
  await Promise.all(all)
  expect(await turns.run('a', () => 'answered')).toBe('answered')
})

test('security: guests whose calls are stuck delay only guests of their address', async () => {
  const app = await testApp({ database: await openAgain({ limits: { size: 16 } }) })
  const [admin, bot] = [await app.signUp('admin'), await app.bot()]
  const unlock = await lockTables('setup_links')
  const askState = (peer: string): Promise<Response> => {
    const body = JSON.stringify({ setup: 'x'.repeat(43) })
    return app.fetch('/api/setup-link', { method: 'POST', headers: { 'content-type': 'application/json' }, body }, peer)
  }
  const stuck = Array.from({ length: 4 + MAX_WAITING }, () => askState('192.0.2.1'))
  const refused = await askState('192.0.2.1')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
  expect(await refused.json()).toMatchObject({
    code: 'BUSY',
    message: 'Too many of your requests are waiting already. Please try again in a moment.',
  })

  const statusOf = async (path: string, peer: string, headers: Record<string, string> = {}): Promise<number> =>
    (await app.fetch(path, { headers }, peer)).status
  expect(await statusOf('/api/docs', '192.0.2.1')).toBe(429)
  expect(await statusOf('/api/docs', '192.0.2.2')).toBe(200)
  expect(await statusOf('/healthz', '192.0.2.1')).toBe(200)
  for (const [path, { headers }] of [
    ['/api/users', admin],
    ['/api/session', admin],
    ['/api/docs', admin],
    ['/bot/v1/leaderboard', bot],
    ['/bot/v1/leaderboard', app.player(7)],
  ] as const)
    expect(await statusOf(path, '192.0.2.1', headers), path).toBe(200)
  await unlock()
  for (const { status } of await Promise.all(stuck)) expect([200, 503]).toContain(status)
})

test('security: a player whose calls are stuck delays no other player', async () => {
  const app = await testApp({ database: await openAgain({ limits: { size: 16 } }) })
  const unlock = await lockTables('ledger_entries')
  const stuck = Array.from({ length: 4 + MAX_WAITING }, () => app.player(7).call('GET', '/bot/v1/players/me/entries'))
  expect((await app.player(7).call('GET', '/bot/v1/leaderboard')).body).toMatchObject({ code: 'BUSY' })
  expect((await app.player(8).call('GET', '/bot/v1/leaderboard')).status).toBe(200)
  await unlock()
  for (const { status } of await Promise.all(stuck)) expect(status).not.toBe(429)
})

test('security: invented credentials are looked up in turn, and known ones at once', async () => {
  const app = await testApp({ database: await openAgain({ limits: { size: 16 } }) })
  const [admin, bot] = [await app.signUp('admin'), await app.bot()]
  for (const client of [admin, bot]) await client.call('GET', '/api/session')
  const unlock = await lockTables('sessions, bot_tokens')
  const invented = Array.from({ length: 4 + MAX_WAITING }, (_, index) =>
    app.fetch('/api/users', { headers: { cookie: `session=${String(index).padStart(43, 'x')}` } }),
  )
  const invention = { authorization: `Bearer arcade_${'x'.repeat(43)}` }
  expect((await app.guest.call('GET', '/api/users', undefined, invention)).body).toMatchObject({ code: 'BUSY' })
  expect((await app.guest.call('GET', '/api/session')).status).toBe(200)
  expect((await admin.call('GET', '/api/users')).status).toBe(200)
  expect((await bot.call('GET', '/bot/v1/leaderboard')).status).toBe(200)
  await unlock()
  for (const { status } of await Promise.all(invented)) expect([401, 503]).toContain(status)
})
