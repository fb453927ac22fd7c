/** Bot tokens: created, rotated with two secrets valid at once, revoked, with a scope, on several servers. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { auditTrail } from '#test/audit-trail.ts'
import { waitFor } from '#test/processes.ts'
import { testApp, type TestApp } from '#test/test-app.ts'

/** Returns the status that a bot with this token gets. */
async function statusWith(app: TestApp, token: string): Promise<number> {
  const answer = await app.fetch('/update-users-status', { headers: { authorization: `Bearer ${token}` } })
  return answer.status
}

test('§8 a token works as soon as it is created, and is never shown again', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const made = await admin.call('POST', '/api/bot-tokens', { name: ' game bot ' })
  expect(made.body).toEqual({ success: true, id: expect.any(String), token: expect.stringMatching(/^arcade_[\w-]{43}$/) })
  expect(await statusWith(app, made.body.token)).toBe(200)

  const body = await waitFor('the use to be noted', async () => {
    const answer = await admin.call('GET', '/api/bot-tokens')
    return answer.body.tokens[0].lastUsedAt !== null && answer.body
  })
  expect(body).toEqual({
    tokens: [
      {
        id: made.body.id,
        name: 'game bot',
        scope: 'play',
        createdAt: expect.any(String),
        rotatedAt: null,
        lastUsedAt: expect.any(String),
        previous: null,
      },
    ],
  })
  const { rows } = await sql<{ all: string }>`
    select string_agg(kept::text, '') as all from (select to_jsonb(bot_tokens) as kept from bot_tokens
      union all select to_jsonb(audit_trail) from audit_trail) as tables`.execute(app.database.db)
  expect(rows[0]!.all).not.toContain(made.body.token.slice(7))
})

test('§8 a name can be used only once', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  await admin.call('POST', '/api/bot-tokens', { name: 'game' })
  const again = await admin.call('POST', '/api/bot-tokens', { name: 'game', scope: 'read' })
  expect([again.status, again.body.code]).toEqual([409, 'TOKEN_NAME_TAKEN'])
  const odd = await admin.call('POST', '/api/bot-tokens', { name: 'a/b', scope: 'play' })
  expect([odd.status, odd.body.code]).toEqual([400, 'INVALID_INPUT'])
})

test('§8 after a rotation two secrets work; after the next one the first no longer does', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const { id, token: first } = (await admin.call('POST', '/api/bot-tokens', { name: 'game' })).body
  const second = (await admin.call('POST', `/api/bot-tokens/${id}/rotate`, {})).body.token
  expect([await statusWith(app, first), await statusWith(app, second)]).toEqual([200, 200])
  const third = (await admin.call('POST', `/api/bot-tokens/${id}/rotate`, {})).body.token
  expect([await statusWith(app, first), await statusWith(app, second), await statusWith(app, third)]).toEqual([401, 200, 200])

  expect((await admin.call('DELETE', `/api/bot-tokens/${id}/previous`)).body).toEqual({ success: true })
  expect([await statusWith(app, second), await statusWith(app, third)]).toEqual([401, 200])
})

test('§8 a revoked token is refused at once by every server', async () => {
  const app = await testApp()
  const other = await testApp({ database: app.database })
  const admin = await app.signUp('admin')
  const { id, token } = (await admin.call('POST', '/api/bot-tokens', { name: 'game' })).body
  await admin.call('POST', `/api/bot-tokens/${id}/rotate`, {})
  expect([await statusWith(app, token), await statusWith(other, token)]).toEqual([200, 200])
  expect((await admin.call('DELETE', `/api/bot-tokens/${id}`)).body).toEqual({ success: true })
  expect(await statusWith(app, token)).toBe(401)
  await waitFor('the other server to hear of it', async () => (await statusWith(other, token)) === 401)
  for (const [method, path] of [
    ['DELETE', `/api/bot-tokens/${id}`],
    ['DELETE', `/api/bot-tokens/${id}/previous`],
    ['POST', `/api/bot-tokens/${id}/rotate`],
  ] as const) {
    const answer = await admin.call(method, path, method === 'POST' ? {} : undefined)
    expect([answer.status, answer.body.code]).toEqual([404, 'NO_SUCH_TOKEN'])
  }
})

test('security: a bot that keeps using a revoked token learns so, even after too many attempts', async () => {
  const app = await testApp({ rateLimit: true })
  const admin = await app.signUp('admin')
  const [revoked, good] = [await admin.call('POST', '/api/bot-tokens', { name: 'old' }), await app.bot()]
  await admin.call('DELETE', `/api/bot-tokens/${revoked.body.id}`)
  const ask = () => app.guest.call('GET', '/bot/v1/leaderboard', undefined, { authorization: `Bearer ${revoked.body.token}` })
  for (let n = 0; n < 30; n += 1)
    expect(await ask()).toMatchObject({
      status: 401,
      body: { code: 'SIGNED_OUT', message: 'This bot token is wrong, or was revoked or replaced.' },
    })
  const late = await ask()
  expect(late).toMatchObject({ status: 429, body: { code: 'TOO_MANY_ATTEMPTS' } })
  expect(late.body.message).toMatch(/^This bot token is wrong, or was revoked or replaced\. Too many /)
  expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await good.call('GET', '/bot/v1/leaderboard')).status).toBe(200)
})

test('§8 after twenty simultaneous rotations two secrets work', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const { id } = (await admin.call('POST', '/api/bot-tokens', { name: 'game' })).body
  const made = await Promise.all(Array.from({ length: 20 }, () => admin.call('POST', `/api/bot-tokens/${id}/rotate`, {})))
  const statuses = await Promise.all(made.map(({ body }) => statusWith(app, body.token)))
  expect(statuses.filter((status) => status === 200)).toHaveLength(2)
})

test('§8 one of twenty simultaneous rotations of what their callers have seen succeeds, and the secret in use works on', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const { id, token: first } = (await admin.call('POST', '/api/bot-tokens', { name: 'game' })).body
  const rotate = async (rotatedAt: string | null) => admin.call('POST', `/api/bot-tokens/${id}/rotate`, { rotatedAt })
  const made = await Promise.all(Array.from({ length: 20 }, () => rotate(null)))
  const [rotated, ...others] = made.toSorted((a, b) => a.status - b.status)
  expect(rotated!.status).toBe(200)
  for (const { status, body } of others) expect([status, body.code]).toEqual([409, 'STALE'])
  expect([await statusWith(app, first), await statusWith(app, rotated!.body.token)]).toEqual([200, 200])
  const { tokens } = (await admin.call('GET', '/api/bot-tokens')).body
  expect((await rotate(tokens[0].rotatedAt)).status).toBe(200)
})

test('security: all acts on tokens are in the audit', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const { id } = (await admin.call('POST', '/api/bot-tokens', { name: 'game', scope: 'admin' })).body
  await admin.call('POST', `/api/bot-tokens/${id}/rotate`, {})
  await admin.call('DELETE', `/api/bot-tokens/${id}/previous`)
  await admin.call('DELETE', `/api/bot-tokens/${id}/previous`) // there is no previous secret left, so this is not audited
  await admin.call('DELETE', `/api/bot-tokens/${id}`)
  const entries = await auditTrail(app.database.db)
  expect(entries.filter(({ recordId }) => recordId === id).map(({ action }) => action)).toEqual([
    'token.create',
    'token.rotate',
    'token.retire',
    'token.revoke',
  ])
})
