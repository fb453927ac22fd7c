/** `GET /metrics`: only with the token, in Prometheus' format, with values that change. */
import { expect, test } from 'vitest'
import { testApp } from '#test/test-app.ts'

const TOKEN = 'a-secret-of-the-monitoring'
const authorization = `Bearer ${TOKEN}`

const read = async (app: Awaited<ReturnType<typeof testApp>>): Promise<Map<string, number>> => {
  const response = await app.fetch('/metrics', { headers: { authorization } })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4')
  expect(response.headers.get('cache-control')).toBe('no-store')
  const samples = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    samples.map((line) => {
      const [, name = '', value = ''] = /^([a-z0-9_]+(?:\{[^}]*\})?) (\S+)$/.exec(line) ?? []
      expect(name, line).not.toBe('')
      return [name, value === '+Inf' ? Infinity : Number(value)]
    }),
  )
}

test('operations: metrics count requests and describe the pool, the database, the audit and backups', async () => {
  const app = await testApp({ metricsToken: TOKEN })
  const admin = await app.signUp('admin')
  await admin.call('GET', '/api/users')
  await admin.call('GET', '/api/users/nobody')
  const metrics = await read(app)
  expect(metrics.get('arcade_request_duration_seconds_count{call="users.list",method="GET",status="200"}')).toBe(1)
  expect(metrics.get('arcade_request_duration_seconds_count{call="users.get",method="GET",status="404"}')).toBe(1)
  expect(metrics.get('arcade_pool_connections')).toBeGreaterThan(1)
  expect(metrics.get('arcade_database_up')).toBe(1)
  expect(metrics.get('arcade_database_bytes')).toBeGreaterThan(1_000_000)
  expect(metrics.get('arcade_audit_open_entries')).toBe(0)
  await admin.call('POST', '/api/social-tasks', { type: 'twitter', title: 'A', link: 'https://x.com', reward: 1, priority: 1 })
  expect((await read(app)).get('arcade_audit_open_entries')).toBe(1)
  expect(metrics.get('arcade_backup_age_seconds')).toBe(Infinity)
  expect([...metrics.keys()].filter((name) => name.startsWith('nodejs_eventloop_lag_p99'))).toHaveLength(1)
})

test('security: metrics need their token; wrong ones are limited, and without a configured token there are no metrics', async () => {
  const app = await testApp({ metricsToken: TOKEN, rateLimit: true })
  const admin = await app.signUp('admin')
  const bot = await app.bot()
  const status = async (headers: Record<string, string>) => (await app.fetch('/metrics', { headers })).status
  expect(await status({})).toBe(401)
  expect(await status(admin.headers)).toBe(401)
  expect(await status({ authorization: bot.headers['authorization']! })).toBe(401)
  expect(await status({ authorization })).toBe(200)
  const statuses = new Set<number>()
  for (let n = 0; n < 60; n += 1) statuses.add(await status({ authorization: `Bearer ${TOKEN.slice(1)}${n}` }))
  expect(statuses).toEqual(new Set([401, 429]))
  const without = await testApp()
  expect((await without.fetch('/metrics', { headers: { authorization } })).status).toBe(404)
})
