/** Webhooks (ADR 20): queued with the act, signed, retried, switched off; endpoints that hang, redirect or answer without end. */
import { createHmac } from 'node:crypto'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { MAX_WEBHOOKS } from '@arcade/contract/webhooks/fields'
import { pauseScheduledWork } from '#src/db/scheduled-work.ts'
import { auditTrail } from '#test/audit-trail.ts'
import { openAgain } from '#test/test-database.ts'
import { add, endpoint, last, LOOPBACK, type Opening, opening, sendTest, silent as log } from '#test/webhooks.ts'
import { createDeliveries, signedHeaders } from '#src/webhooks/deliveries.ts'
import { openSecretKey, secretKey } from '#src/webhooks/secret-key.ts'

/** Makes waiting deliveries due. */
async function hurry({ app }: Opening): Promise<void> {
  await sql`update webhook_deliveries set next_at = now() where next_at is not null`.execute(app.database.db)
}

async function activate({ admin }: Opening): Promise<string> {
  const made = await admin.call('POST', '/api/announcements', { type: 'desc', title: 'Season 2', subtitle: 'Today', reward: 5 })
  await admin.call('POST', `/api/announcements/${made.body.id}/status`, { status: false })
  return made.body.id as string
}

describe('webhooks', () => {
  test('are signed according to Standard Webhooks 1.0', () => {
    const headers = signedHeaders(
      { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', payload: '{"test": 2432232314}', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
      new Date(1_614_265_330_000),
    )
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
    expect(headers['webhook-timestamp']).toBe('1614265330')
  })

  test('get an activation, with an id and a signature by their own secret', async () => {
    const all = await opening()
    const bot = await endpoint()
    const { secret } = await add(all, bot.url)
    await add(all, bot.url, ['task.changed'])
    const id = await activate(all)
    await all.deliveries.sendDue()
    expect(bot.received).toHaveLength(1)
    const { headers, body } = bot.received[0]!
    expect(JSON.parse(body)).toEqual({
      type: 'announcement.activated',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      data: { change: 'activated', items: [{ kind: 'announcement', id, title: 'Season 2' }] },
    })
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
    await all.deliveries.sendDue()
    expect(bot.received).toHaveLength(1)
  })

  test('get each change of tasks, a hundred tasks at a time', async () => {
    const all = await opening()
    const bot = await endpoint()
    await add(all, bot.url, ['task.changed'])
    await sql`insert into tasks (collection, id, image, title, reward, priority)
      select 'social', 't' || n, 'email', 'Task ' || n, 1, n from generate_series(1, 150) n`.execute(all.app.database.db)
    const { body } = await all.admin.call('POST', '/api/social-tasks', { type: 'email', title: 'New', priority: 200, reward: 1 })
    await all.admin.call('POST', '/api/social-tasks/remove', { target: { filter: {} } })
    await all.deliveries.sendDue()
    const events = bot.received.map(({ body: text }) => JSON.parse(text).data as { change: string; items: { id: string }[] })
    const counted = events.map(({ change, items }) => `${change} ${items.length}`)
    expect(counted.toSorted()).toEqual(['added 1', 'deleted 100', 'deleted 51'])
    expect(events.find(({ change }) => change === 'added')?.items[0]?.id).toBe(body.id)
  })

  test('get announcements that GET /update-users-status makes news, once', async () => {
    const all = await opening()
    const bot = await endpoint()
    await add(all, bot.url)
    await sql`insert into announcements (id, type, title, subtitle, reward, status) values ('x', 'desc', 'Old', '', 1, true)`.execute(
      all.app.database.db,
    )
    for (let n = 0; n < 2; n += 1) expect((await all.admin.call('GET', '/update-users-status')).status).toBe(200)
    await all.deliveries.sendDue()
    expect(bot.received.map(({ body }) => JSON.parse(body).data)).toEqual([
      { change: 'activated', items: [{ kind: 'announcement', id: 'x', title: 'Old' }] },
    ])
  })

  test('get nothing of an act that failed', async () => {
    const all = await opening()
    const bot = await endpoint()
    await add(all, bot.url, ['task.changed'])
    const task = { type: 'email', title: 'New', priority: 1, reward: 1 }
    expect((await all.admin.call('POST', '/api/social-tasks', task)).status).toBe(200)
    expect((await all.admin.call('POST', '/api/social-tasks', task)).status).toBe(409)
    await all.deliveries.sendDue()
    expect(bot.received).toHaveLength(1)
  })

  test('get each event once if two servers send at once, and again if the server that was sending has died', async () => {
    const all = await opening()
    const bot = await endpoint()
    const { id } = await add(all, bot.url)
    const other = createDeliveries({ database: await openAgain(), key: secretKey('of the tests'), networks: LOOPBACK, log })
    for (let n = 0; n < 12; n += 1) await all.admin.call('POST', `/api/webhooks/${id}/test`, {})
    await Promise.all(Array.from({ length: 10 }, (_, n) => (n % 2 ? other : all.deliveries).sendDue()))
    expect(new Set(bot.received.map(({ headers }) => headers['webhook-id'])).size).toBe(12)
    expect(bot.received).toHaveLength(12)
    // The state after a server was killed while sending.
    await sql`update webhook_deliveries set next_at = now() - interval '1 second', delivered_at = null
      where id = (select min(id) from webhook_deliveries)`.execute(all.app.database.db)
    await all.deliveries.sendDue()
    expect(bot.received).toHaveLength(13)
  })

  test('wait while scheduled work is paused after a restore', async () => {
    const all = await opening()
    const bot = await endpoint()
    const { id } = await add(all, bot.url)
    await pauseScheduledWork(all.app.database.db, 'Restored.')
    expect(await sendTest(all, id)).toMatchObject({ state: 'waiting', attempts: 0 })
    expect(bot.received).toHaveLength(0)
  })
})

describe('webhooks: an endpoint that', () => {
  test('fails is tried again after a pause under the same id, until it succeeds', async () => {
    const all = await opening()
    let status = 500
    const bot = await endpoint((response) => response.writeHead(status).end())
    const { id } = await add(all, bot.url)
    expect(await sendTest(all, id)).toMatchObject({ state: 'waiting', attempts: 1, result: 'Answered 500' })
    expect((await all.admin.call('GET', '/api/webhooks')).body.webhooks[0]).toMatchObject({
      isActive: true,
      failingSince: expect.any(String),
      waiting: 1,
    })
    await all.deliveries.sendDue()
    expect(bot.received).toHaveLength(1)
    status = 204
    await hurry(all)
    await all.deliveries.sendDue()
    expect(await last(all.admin, id)).toMatchObject({ state: 'delivered', attempts: 2, result: 'Answered 204', nextAt: null })
    expect(bot.received[1]!.headers['webhook-id']).toBe(bot.received[0]!.headers['webhook-id'])
    expect((await all.admin.call('GET', '/api/webhooks')).body.webhooks[0]).toMatchObject({ failingSince: null, waiting: 0 })
  })

  test('always fails is given up after ten attempts, and can be sent to again by hand', async () => {
    const all = await opening()
    let status = 503
    const bot = await endpoint((response) => response.writeHead(status).end())
    const { id } = await add(all, bot.url)
    await sendTest(all, id)
    for (let n = 1; n < 10; n += 1) {
      await hurry(all)
      await all.deliveries.sendDue()
    }
    const failed = await last(all.admin, id)
    expect(failed).toMatchObject({ state: 'failed', attempts: 10, nextAt: null })
    status = 200
    expect((await all.admin.call('POST', `/api/webhooks/${id}/deliveries/${failed.id}/replay`, {})).status).toBe(200)
    await all.deliveries.sendDue()
    expect(await last(all.admin, id)).toMatchObject({ id: failed.id, state: 'delivered', attempts: 1 })
    expect((await all.admin.call('POST', `/api/webhooks/${id}/deliveries/none/replay`, {})).body.code).toBe('NO_SUCH_WEBHOOK')
  })

  test('fails for a day is switched off with a notice; events wait until somebody switches it on', async () => {
    const all = await opening()
    let status = 500
    const bot = await endpoint((response) => response.writeHead(status).end())
    const { id } = await add(all, bot.url)
    await sendTest(all, id)
    await sql`update webhooks set failing_since = now() - interval '24 hours'`.execute(all.app.database.db)
    await hurry(all)
    await all.deliveries.sendDue()
    const { body } = await all.admin.call('GET', '/api/webhooks')
    expect(body.webhooks[0]).toMatchObject({ isActive: false, alert: expect.stringContaining('failed for a day'), waiting: 1 })
    const [entry] = await auditTrail(all.app.database.db, 'webhook.switch')
    expect(entry).toMatchObject({ actorKind: 'system', recordId: id })
    expect(JSON.stringify(entry)).not.toContain('key=1')
    await activate(all)
    await hurry(all)
    await all.deliveries.sendDue()
    expect(bot.received).toHaveLength(2)
    status = 200
    await all.admin.call('POST', `/api/webhooks/${id}/status`, { isActive: true })
    await all.deliveries.sendDue()
    expect(bot.received).toHaveLength(3)
    expect((await all.admin.call('GET', '/api/webhooks')).body.webhooks[0]).toMatchObject({ isActive: true, alert: null })
  })

  test('says that it is gone is switched off at once', async () => {
    const all = await opening()
    const bot = await endpoint((response) => response.writeHead(410).end())
    const { id } = await add(all, bot.url)
    await sendTest(all, id)
    expect((await all.admin.call('GET', '/api/webhooks')).body.webhooks[0]).toMatchObject({
      isActive: false,
      alert: 'It answered that it is gone (410), so it was switched off.',
    })
    expect(await auditTrail(all.app.database.db, 'webhook.switch')).toMatchObject([{ actorKind: 'system', recordId: id }])
    await hurry(all)
    await all.deliveries.sendDue()
    expect(bot.received).toHaveLength(1)
  })

  test('hangs is given up after a timeout and delays no other webhook, however many hang', async () => {
    const all = await opening({ timeoutMs: 6000 })
    const [stuck, good] = [await endpoint(() => {}), await endpoint()]
    const hanging = await add(all, stuck.url)
    const { db } = all.app.database
    await sql`insert into webhooks (id, url, events, secret)
      select id || n, url, events, secret from webhooks, generate_series(2, ${MAX_WEBHOOKS - 1}::int) as n`.execute(db)
    await sql`insert into webhook_deliveries (id, webhook_id, event, payload)
      select gen_random_uuid(), id, 'test', '{}' from webhooks, generate_series(1, 6)`.execute(db)
    await add(all, good.url)
    const first = Promise.all(Array.from({ length: 10 }, () => all.deliveries.sendDue()))
    await expect.poll(() => stuck.received.length, { timeout: 20_000 }).toBe((MAX_WEBHOOKS - 1) * 4) // no more than this at once
    await activate(all)
    await all.deliveries.sendDue()
    expect(good.received).toHaveLength(1)
    await first
    expect(await last(all.admin, hanging.id)).toMatchObject({ state: 'waiting', result: 'No answer within 6 s' })
  })

  test('is switched off gets no test; the call is refused with a message', async () => {
    const all = await opening()
    const { id } = await add(all, (await endpoint()).url)
    await all.admin.call('POST', `/api/webhooks/${id}/status`, { isActive: false })
    const { status, body } = await all.admin.call('POST', `/api/webhooks/${id}/test`, {})
    expect([status, body.code]).toEqual([409, 'WEBHOOK_OFF'])
    expect((await all.admin.call('GET', `/api/webhooks/${id}/deliveries`)).body.deliveries).toEqual([])
  })

  test('redirects is not followed', async () => {
    const all = await opening()
    const target = await endpoint()
    const bot = await endpoint((response) => response.writeHead(307, { location: target.url }).end())
    const { id } = await add(all, bot.url)
    expect(await sendTest(all, id)).toMatchObject({ state: 'waiting', result: 'Answered 307' })
    expect(target.received).toHaveLength(0)
  })

  test('answers without end is read no further than its status', async () => {
    const all = await opening()
    let written = 0
    const bot = await endpoint((response) => {
      response.writeHead(200)
      const write = (): void => {
        while (!response.destroyed && written < 1e9) {
          written += 65_536
          if (!response.write(Buffer.alloc(65_536))) return
        }
      }
      response.on('drain', write)
      write()
    })
    const { id } = await add(all, bot.url)
    expect(await sendTest(all, id)).toMatchObject({ state: 'delivered', result: 'Answered 200' })
    expect(written).toBeLessThan(16e6)
  })

  test('cannot be reached is reported as such', async () => {
    const all = await opening()
    const { id } = await add(all, 'http://127.0.0.1:1/')
    expect(await sendTest(all, id)).toMatchObject({ state: 'waiting', result: 'Not reached: ECONNREFUSED' })
  })
})

describe('webhooks: their secrets', () => {
  test('security: are shown once, and are neither in the database nor in the audit', async () => {
    const all = await opening()
    const { secret } = await add(all, 'https://bot.example/')
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/)
    const { rows } = await sql<{ all: string }>`
      select string_agg(kept::text, '') as all from (select to_jsonb(webhooks) as kept from webhooks
        union all select to_jsonb(audit_trail) from audit_trail) as tables`.execute(all.app.database.db)
    expect(rows[0]!.all).not.toContain(secret.slice(6))
    expect(JSON.stringify((await all.admin.call('GET', '/api/webhooks')).body)).not.toContain(secret.slice(6))
  })

  test('cannot be read with another key; the delivery says so', async () => {
    const all = await opening()
    const bot = await endpoint()
    const { id } = await add(all, bot.url)
    const other = createDeliveries({ database: all.app.database, key: secretKey('another one'), networks: LOOPBACK, log })
    expect(await sendTest({ ...all, deliveries: other }, id)).toMatchObject({ result: expect.stringContaining('SECRET_KEY') })
    expect(bot.received).toHaveLength(0)
  })

  test('are encrypted with a key file that is created once, readable by its owner only, unless a key is configured', async () => {
    const dataDir = await mkdtemp(join(os.tmpdir(), 'arcade-test-key-'))
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
    const keys = await Promise.all(Array.from({ length: 5 }, () => openSecretKey({ given: undefined, dataDir })))
    const hidden = keys[0]!.encrypt('secret')
    for (const key of keys) expect(key.decrypt(hidden)).toBe('secret')
    expect(keys[0]!.encrypt('secret')).not.toEqual(hidden)
    expect(await readdir(dataDir)).toEqual(['secret-key'])
    expect((await stat(join(dataDir, 'secret-key'))).mode & 0o777).toBe(0o600)
    const configured = await openSecretKey({ given: 'x'.repeat(32), dataDir })
    expect(() => configured.decrypt(hidden)).toThrow('unable to authenticate data')
  })
})
