/** Calls with an Idempotency-Key (design §7; IETF draft-ietf-httpapi-idempotency-key-header): repeated, at once, on several servers. */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { contract } from '@arcade/contract/contract'
import { listRoutes } from './routes.ts'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'
import { openAgain } from '#test/test-database.ts'
import { png } from '#test/test-images.ts'
import { sweepIdempotencyKeys } from '#src/identity/idempotency.ts'

const announcement = { type: 'desc', title: 'Season 2', subtitle: 'Fresh levels', reward: 1 }
const task = { type: 'twitter', title: 'Follow us', priority: 1, reward: 5 }
const person = { fname: 'Ada', lname: 'B', email: 'ada@gmail.com', password: 'secret1', confirmPassword: 'secret1' }

/** Adds an announcement with the id t. */
const ANNOUNCEMENT = `insert into announcements (id, type, title, subtitle, reward) values ('t', 'desc', 'T', 'S', 5)`

/** For each call that accepts a key: the body it gets, and the table it fills. */
const samples: Record<string, { body: unknown; table: string; before?: string }> = {
  'users.create': { body: person, table: 'users where email = $$ada@gmail.com$$' },
  'socialTasks.create': { body: task, table: 'tasks' },
  'dailyTasks.create': { body: { ...task, type: 'telegram' }, table: 'tasks' },
  'announcements.create': { body: announcement, table: 'announcements' },
  'announcements.duplicate': { body: {}, table: 'announcements where id <> $$t$$', before: ANNOUNCEMENT },
  'broadcasts.create': { body: { announcementId: 't' }, table: 'broadcasts', before: ANNOUNCEMENT },
  ...Object.fromEntries(
    ['social', 'daily'].map((collection) => {
      const before = `insert into tasks (collection, id, image, priority, title, reward) values ('${collection}', 't', 'twitter', 1, 'T', 5)`
      return [`${collection}Tasks.duplicate`, { body: {}, table: 'tasks where id <> $$t$$', before }]
    }),
  ),
  'announcements.upload': { body: png, table: 'file_removals' },
  'game.upsertMany': { body: { players: [{ userId: 7, firstName: 'Ada' }] }, table: 'telegram_users' },
  'game.seen': {
    body: { upTo: 1 },
    table: 'telegram_users where seen_status_epoch = 1',
    before: 'insert into telegram_users (user_id) values (7); update status_epoch set epoch = 1',
  },
  'ledger.claim': {
    body: { kind: 'social', id: 't' },
    table: 'ledger_entries',
    before: `insert into telegram_users (user_id) values (7); insert into balances (user_id) values (7);
      insert into tasks (collection, id, image, priority, title, reward) values ('social', 't', 'bsc', 1, 'T', 5)`,
  },
  'ledger.enter': {
    body: { amount: 5, cause: 'round', reference: 'r-1' },
    table: 'ledger_entries',
    before: 'insert into telegram_users (user_id) values (7); insert into balances (user_id) values (7)',
  },
  ...Object.fromEntries(
    ['ledger', 'balances'].flatMap((group) => {
      const player = `insert into telegram_users (user_id) values (7); insert into balances (user_id, balance, entries) values (7, 5, 1);
        insert into ledger_entries (user_id, seq, amount, cause, balance) values (7, 1, 5, 'round', 5)`
      const table = 'ledger_entries where seq > 1'
      return [
        [`${group}.adjust`, { body: { amount: 5, reason: 'Sorry' }, table, before: player }],
        [`${group}.reverse`, { body: { entryId: '7-1', reason: 'Twice' }, table, before: player }],
      ]
    }),
  ),
  'messages.linkOperator': {
    body: { code: 'AAAA-BBBB-CCCC', userId: 7 },
    table: 'operator_telegrams',
    before: `insert into users (id, fname, lname, email, user_type) values ('z', 'Z', 'Z', 'z@gmail.com', 'admin');
      insert into telegram_link_codes (user_id, code_hash, expires_at) values ('z', sha256('AAAABBBBCCCC'), now() + interval '1 hour')`,
  },
  'notes.create': {
    body: { text: 'Call back' },
    table: 'notes',
    before: `insert into announcements (id, type, title, subtitle, reward) values ('t', 'desc', 'T', '', 5)`,
  },
  'webhooks.create': { body: { url: 'https://1.1.1.1/hook', events: ['task.changed'] }, table: 'webhooks' },
  'views.create': { body: { list: 'users', name: 'Racers', isShared: false, address: 'q=racer' }, table: 'saved_views' },
}
const calls = listRoutes(contract).filter(({ meta }) => meta.heedsIdempotencyKey)

async function send(app: TestApp, client: Client, { path, body, key }: { path: string; body: unknown; key: string }) {
  const isFile = body instanceof Uint8Array
  const response = await app.fetch(path, {
    method: 'POST',
    headers: { ...client.headers, 'content-type': isFile ? 'image/png' : 'application/json', 'idempotency-key': key },
    body: isFile ? new Uint8Array(body) : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, text, body: JSON.parse(text) as { code?: string; message?: string; id?: string } }
}

async function count(app: TestApp, table: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.raw(table)}`.execute(app.database.db)
  return rows[0]!.count
}

const create = { path: '/api/announcements', body: announcement }

describe('§7 Idempotency-Key', () => {
  test('§7 calls that create accept it, and each POST of the game, but not bulk calls, sign-in or creating tokens', () => {
    expect(calls.map(({ name }) => name).toSorted()).toEqual(Object.keys(samples).toSorted())
    for (const { meta, name } of calls) expect(meta.access, name).not.toContain('guest')
  })

  test.each(calls)(
    '§7 one of 20 equal $name calls at once creates, and all get its answer byte for byte',
    async ({ name, path }) => {
      const { body, table, before } = samples[name]!
      // Both servers share only the database. On a busy machine one may wait long for the other.
      const limits = { size: 16 }
      const telegram = { botToken: '1:a' } // without a bot there are no broadcasts
      const [app, other] = [
        await testApp({ database: await openAgain({ limits }), telegram }),
        await testApp({ database: await openAgain({ limits }), telegram }),
      ]
      if (before !== undefined) await sql.raw(before).execute(app.database.db)
      const caller = path.startsWith('/bot/') ? await app.bot('bot', 'admin') : await app.signUp('admin')
      const request = { path: path.replace('{userId}', '7').replace('{kind}', 'announcement').replace('{id}', 't'), body }
      const sending = Array.from({ length: 20 }, (_, n) => send(n % 2 ? app : other, caller, { ...request, key: 'k-1' }))
      const answers = await Promise.all(sending)
      expect(new Set(answers.map(({ status }) => status)), answers[0]!.text).toEqual(new Set([200]))
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      expect(await count(app, table)).toBe(1)
      const later = await send(other, caller, { ...request, key: '"k-1"' })
      expect(later).toEqual(answers[0])
      expect(await count(app, table)).toBe(1)
    },
  )

  test('§7 the same key with other input, or for another call, is refused with 422', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    expect((await send(app, admin, { ...create, key: 'k' })).status).toBe(200)
    const others = [
      { path: '/api/announcements', body: { ...announcement, title: 'Season 3' } },
      { path: '/api/social-tasks', body: task },
      { path: '/api/files/announcements', body: png },
    ]
    for (const other of others) {
      const refused = await send(app, admin, { ...other, key: 'k' })
      expect(refused.status).toBe(422)
      expect(refused.body.code).toBe('IDEMPOTENCY_KEY_REUSED')
      expect(refused.body.message).toContain('with other values')
    }
    expect(await count(app, 'announcements')).toBe(1)
    expect((await send(app, admin, { path: '/api/files/announcements?name=a', body: png, key: 'f' })).status).toBe(200)
    expect((await send(app, admin, { path: '/api/files/announcements?name=b', body: png, key: 'f' })).status).toBe(422)
  })

  test('§7 keys belong to their caller, and without a key each request creates', async () => {
    const app = await testApp()
    const [ada, bob] = [await app.signUp('admin'), await app.signUp('admin')]
    const ids = [await send(app, ada, { ...create, key: 'k' }), await send(app, bob, { ...create, key: 'k' })]
    expect(ids[0]!.body.id).not.toBe(ids[1]!.body.id)
    await ada.call('POST', '/api/announcements', announcement)
    await ada.call('POST', '/api/announcements', announcement)
    expect(await count(app, 'announcements')).toBe(4)
  })

  test.each(['', '"', '""', '"a', 'a b', 'a"b', '"a\\b"', 'é', 'k'.repeat(256)])('§7 the key %j is refused', async (key) => {
    const app = await testApp()
    const refused = await send(app, await app.signUp('admin'), { ...create, key })
    expect(refused.status).toBe(400)
    expect(refused.body.message).toBe('Idempotency-Key must be 1 to 255 ASCII characters, bare or in quotes.')
    expect(await count(app, 'announcements')).toBe(0)
  })

  test('§7 a failed request leaves nothing behind, so its key can be used again', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await admin.call('POST', '/api/social-tasks', task)
    const path = '/api/social-tasks'
    const first = await send(app, admin, { path, body: task, key: 'k' })
    expect(first.body.message).toBe('Priority is already taken!')
    expect((await send(app, admin, { path, body: { ...task, priority: 2 }, key: 'k' })).status).toBe(200)
    const files = '/api/files/announcements'
    expect((await send(app, admin, { path: files, body: Buffer.from('no image'), key: 'f' })).status).toBe(400)
    expect((await send(app, admin, { path: files, body: png, key: 'f' })).status).toBe(200)
  })

  test('§7 a key is kept for 24 hours, and what it created stays', async () => {
    const app = await testApp()
    const { db } = app.database
    const admin = await app.signUp('admin')
    const age = (time: string) => sql`update idempotency_keys set created_at = now() - ${time}::interval`.execute(db)
    await send(app, admin, { ...create, key: 'k' })
    await age('23 hours 59 minutes')
    await sweepIdempotencyKeys(app.database)
    await send(app, admin, { ...create, key: 'k' })
    expect(await count(app, 'announcements')).toBe(1)
    await age('24 hours')
    await send(app, admin, { ...create, key: 'k' })
    expect(await count(app, 'announcements')).toBe(2)
    await age('24 hours')
    await sweepIdempotencyKeys(app.database)
    expect(await count(app, 'idempotency_keys')).toBe(0)
  })

  test('§7 waiting for the first request ends with the pool’s lock timeout, and creates nothing', async () => {
    const database = await openAgain({ limits: { size: 4, lockTimeoutMs: 50 } })
    const app = await testApp({ database })
    const admin = await app.signUp('admin')
    let status: number | undefined
    const first = app.database.transaction(async (tx) => {
      await sql`insert into idempotency_keys (caller, key_hash, fingerprint)
        values (${`user:${admin.id}`}, sha256('k'), '')`.execute(tx)
      ;({ status } = await send(app, admin, { ...create, key: 'k' }))
      throw new Error('the first one’s server dies')
    })
    await expect(first).rejects.toThrow('dies')
    expect(status).toBe(503)
    expect(await count(app, 'announcements')).toBe(0)
    expect((await send(app, admin, { ...create, key: 'k' })).status).toBe(200)
  })

  test('§7 an upload whose server died can be repeated after a minute', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await sql`insert into idempotency_keys (caller, key_hash, fingerprint, created_at)
      values (${`user:${admin.id}`}, sha256('k'), '', now() - interval '1 minute')`.execute(app.database.db)
    expect((await send(app, admin, { path: '/api/files/announcements', body: png, key: 'k' })).status).toBe(200)
  })

  test('§7 a repeat gets the same answer even if what was created, and its file, are gone', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const uploaded = await send(app, admin, { path: '/api/files/announcements', body: png, key: 'f' })
    const { key: image } = uploaded.body as { key?: string }
    const withImage = { path: create.path, body: { ...announcement, image }, key: 'k' }
    const first = await send(app, admin, withImage)
    expect((await admin.call('DELETE', `/api/announcements/${first.body.id}`)).status).toBe(200)
    await app.files.sweep()
    expect(await send(app, admin, withImage)).toEqual(first)
  })

  test('§7 neither the key nor the input can be read from the table', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await send(app, admin, { path: '/registerUser', body: person, key: 'secret-key' })
    const { rows } = await sql<{ text: string }>`select k::text as text from idempotency_keys k`.execute(app.database.db)
    expect(rows[0]!.text).not.toMatch(/secret|ada/i)
  })
})
