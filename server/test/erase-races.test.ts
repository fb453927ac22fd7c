/** Erasing a player (ADR 22) while others are about to write something about the player: nothing of it is left. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { verifyAudit } from '#src/audit/verify.ts'
import { importDirectory } from '#src/import/import.ts'
import { createDeliveries } from '#src/webhooks/deliveries.ts'
import { secretKey } from '#src/webhooks/secret-key.ts'
import { expectReconciled } from '#test/ledger.ts'
import { findInTables } from '#test/personal-data.ts'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'
import { countLockWaits, openAgain } from '#test/test-database.ts'
import { endpoint, LOOPBACK, silent } from '#test/webhooks.ts'

const ID = 7_310_293_847_561
const PATH = `/api/telegram-users/${ID}`
const RACERS = 10
/** No request of these tests gives up waiting, however slow the machine is. */
const limits = { size: 20 }

interface Race {
  app: TestApp
  admin: Client
  bot: Client
}

async function opening(): Promise<Race> {
  const app = await testApp({ database: await openAgain({ limits }), webhookNetworks: LOOPBACK })
  const [admin, bot] = [await app.signUp('admin'), await app.bot()]
  await sql`insert into tasks (collection, id, image, priority, title, reward)
    values ('social', 's', 'twitter', 1, 'S', 2), ('social', 't', 'twitter', 2, 'T', 3)`.execute(app.database.db)
  await sql`insert into history_items (kind, item_id, title, type, reward) values ('social', 's', 'S', 'twitter', 2)`.execute(
    app.database.db,
  )
  await bot.call('POST', '/bot/v1/players', { players: [{ userId: ID, firstName: 'Adelheid' }, { userId: 3 }] })
  return { app, admin, bot }
}

const erase = (admin: Client) => admin.call('POST', `${PATH}/erase`, { confirmation: ID })

/**
 * Holds the erasure up when it has changed the player's rows but not the audit, starts `others`, and lets the erasure go on once `count` of
 * them wait for it or have ended.
 */
async function duringErasure<T>({ app, admin }: Race, others: () => Promise<T>[], count: number): Promise<T[]> {
  const { db } = app.database
  const { erased, racing } = await db.transaction().execute(async (tx) => {
    await sql`select from audit_head for update`.execute(tx)
    const erasing = erase(admin)
    await expect.poll(() => countLockWaits(db, '%audit_head%'), { timeout: 30_000 }).toBe(1)
    let ended = 0
    const all = others().map((one) => one.finally(() => (ended += 1)))
    await expect.poll(async () => (await countLockWaits(db)) - 1 + ended, { timeout: 30_000 }).toBe(count)
    return { erased: erasing, racing: Promise.all(all) }
  })
  expect((await erased).status).toBe(200)
  return racing
}

async function expectNoTrace({ app: { database } }: Race, ...values: string[]): Promise<void> {
  expect(Object.fromEntries(await findInTables(database.db, [String(ID), 'Adelheid', ...values]))).toEqual({})
  await expectReconciled(database)
  expect((await verifyAudit(database)).findings).toEqual([])
}

test('ADR 22 first and repeated claims with keys that wait for an erasure find no player and leave no key', async () => {
  const race = await opening()
  const claim = (id: string, key: string) =>
    race.bot.call('POST', `/bot/v1/players/${ID}/claims`, { kind: 'social', id }, { 'idempotency-key': key })
  expect((await claim('s', 'first')).status).toBe(200)
  const claims = () => Array.from({ length: RACERS }, (_, n) => claim(n % 2 === 0 ? 's' : 't', `key-${n}`))
  const answers = await duringErasure(race, claims, RACERS)
  expect(answers.map(({ body }) => body.code)).toEqual(Array.from({ length: RACERS }, () => 'NO_SUCH_PLAYER'))
  await expectNoTrace(race)
})

test('ADR 22 an import that waits for an erasure does not bring the player back', async () => {
  const race = await opening()
  const directory = await mkdtemp(path.join(os.tmpdir(), 'arcade-erase-race-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const row = { parent: 's', id: ID, first_name: 'Adelheid', timestamp: '2026-01-02T03:04:05Z' }
  await writeFile(path.join(directory, 'socialTasksHistory.users.ndjson'), JSON.stringify(row))
  const options = { database: race.app.database, directory, rejectedPath: path.join(directory, 'rejected.ndjson') }
  const [report] = await duringErasure(race, () => [importDirectory(options)], 1)
  expect(report!.files.map(({ loaded, rejected }) => [loaded, rejected])).toEqual([[0, 1]])
  await expectNoTrace(race)
})

test('ADR 22 an erasure waits for a batch under way, whose kept answer then does not name the player', async () => {
  const race = await opening()
  const { app, admin, bot } = race
  const players = [{ userId: ID }, { userId: 3, firstName: 'Bob' }]
  const { batch, erased } = await app.database.db.transaction().execute(async (tx) => {
    await sql`select from telegram_users where user_id = 3 for update`.execute(tx)
    const sending = bot.call('POST', '/bot/v1/players', { players }, { 'idempotency-key': 'batch' })
    await expect.poll(() => countLockWaits(app.database.db), { timeout: 30_000 }).toBe(1)
    const erasing = erase(admin)
    await expect.poll(() => countLockWaits(app.database.db), { timeout: 30_000 }).toBe(2)
    return { batch: sending, erased: erasing }
  })
  expect((await batch).body.results).toMatchObject([{ userId: ID, status: 'unchanged' }, { status: 'updated' }])
  expect((await erased).status).toBe(200)
  await expectNoTrace(race)
})

test('ADR 22 a delivery under way during an erasure is not sent again and never tells the new number', async () => {
  const race = await opening()
  const { app, admin } = race
  const arrived = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  const hook = await endpoint((response) => {
    arrived.resolve()
    void answered.promise.then(() => response.writeHead(500).end())
  })
  const { body: webhook } = await admin.call('POST', '/api/webhooks', { url: hook.url, events: ['player.adjusted'] })
  expect((await admin.call('POST', `${PATH}/adjustments`, { amount: 4, reason: 'Adelheid asked' })).status).toBe(200)
  const { body } = await admin.call('GET', `/api/webhooks/${webhook.id}/deliveries`)
  const deliveries = createDeliveries({ database: app.database, key: secretKey('of the tests'), networks: LOOPBACK, log: silent })
  const sending = deliveries.sendDue()
  await arrived.promise
  const { userId } = (await erase(admin)).body
  answered.resolve()
  await sending
  const replay = await admin.call('POST', `/api/webhooks/${webhook.id}/deliveries/${body.deliveries[0].id}/replay`, {})
  expect(replay.body).toMatchObject({ code: 'NO_SUCH_WEBHOOK' })
  await deliveries.sendDue()
  expect(hook.received.map((one) => one.body.includes(String(ID)))).toEqual([true])
  expect(JSON.stringify(hook.received)).not.toContain(String(userId).slice(1))
  await expectNoTrace(race)
})

test('ADR 22 an erasure and an act on players who shared a block do not fail each other', async () => {
  const race = await opening()
  const target = { ids: [String(ID), '3'] }
  const { status } = await race.admin.call('POST', '/api/telegram-users/block', { target, reason: 'both of the farm' })
  expect(status).toBe(200)
  const unblock = () => [race.admin.call('POST', '/api/telegram-users/unblock', { target })]
  const [answer] = await duringErasure(race, unblock, 1)
  expect(answer).toMatchObject({ status: 200 })
  await expectNoTrace(race, 'both of the farm')
})
