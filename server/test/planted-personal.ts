/** A player whose personal fields, and every other place that can hold them, have values that nothing else has. */
import { sql } from 'kysely'
import { expect } from 'vitest'
import { actOfProcess, audit } from '#src/audit/audit.ts'
import { sealEntries } from '#src/audit/chain.ts'
import { addCount } from './activity.ts'
import type { Client, TestApp } from './test-app.ts'

/** The values of the planted player's personal fields. Each contains a text that nothing else contains. */
export const planted = {
  email: 'zqmail@zqhost.example',
  phoneNumber: '+9990001112223',
  twitterUsername: 'zqtwitter',
  instagramUsername: 'zqinstagram',
  linkedInUsername: 'zqlinkedin',
  discordUsername: 'zqdiscord',
  youtubeUsername: 'zqyoutube',
  tonWalletAddress: 'UQzqton1234567890',
  bscWallet: '0xzqbsc1234567890',
}
/** What each planted value is recognised by, also within an address. */
export const traces = ['zqmail', 'zqhost', '999000111', ...Object.values(planted).slice(2), 'zqinput', 'zqbefore', 'zqnote']
export const AT = '2026-05-05T17:20:00.000Z'
export const KINDS = ['social', 'daily', 'announcement'] as const
export const OLD_ACT = '11111111-1111-4111-8111-111111111111'

/** Writes the planted values into every place that can hold them. */
export async function plant(app: TestApp): Promise<void> {
  const { database } = app
  const { db } = database
  const bot = await app.bot()
  const player = { firstName: 'Ada', lastName: 'Day', username: 'ada_day', ...planted }
  expect((await bot.call('PUT', '/bot/v1/players/7', player)).status).toBe(200)
  expect((await bot.call('PUT', '/bot/v1/players/8', { username: 'plain' })).status).toBe(200)
  await sql`update telegram_users set from_before = '{"note":"zqbefore"}' where user_id = 7`.execute(db)
  await sql`insert into tasks (collection, id, image, priority, title, reward) values
    ('social', 'item', 'twitter', 1, 'A social task', 1), ('daily', 'item', 'twitter', 1, 'A daily task', 1)`.execute(db)
  await sql`insert into announcements (id, type, title, subtitle, reward, status) values ('item', 'desc', 'News', 'S', 1, true)`.execute(
    db,
  )
  for (const kind of KINDS) {
    await sql`insert into history_items (kind, item_id, title, type, reward) values (${kind}, 'item', 'Item', 'twitter', 1)`.execute(
      db,
    )
    await sql`insert into participations (user_id, kind, item_id, username, user_input, at, from_before) values
      (7, ${kind}, 'item', 'ada_day', 'zqinput', ${AT}, '{"note":"zqbefore"}')`.execute(db)
    await addCount(database, { of: 'participants', kind, itemId: 'item' }, 1)
  }
  const act = { ...actOfProcess('command', 'a test'), id: OLD_ACT }
  const told = {
    changes: { email: [planted.email, 'zqnote'] },
    detail: { reason: 'zqnote', phones: [planted.phoneNumber], amount: 5 },
  } as const
  for (const kind of ['player', 'view', 'list', 'broadcast'] as const) {
    const name = kind === 'player' || kind === 'view' ? 'zqnote' : kind
    await audit(db, act, 'player.adjust', { record: { kind, id: '7', name }, ...told })
  }
  await sealEntries(database)
  await audit(db, act, 'player.adjust', { record: { kind: 'player', id: '7', name: planted.email }, ...told })
  await sql`insert into broadcasts (id, number, announcement_id, title, filter, state)
    values ('item', 1, 'item', 'News', ${JSON.stringify({ search: planted.email, has: 'email', balanceMin: 1 })}, 'done')`.execute(
    db,
  )
  await sql`insert into broadcast_chunks (broadcast, chunk, size, counts) values (1, 0, 1, '{"0":1}')`.execute(db)
  await sql`insert into broadcast_recipients (user_id, broadcast, chunk, outcome) values (7, 1, 0, 0)`.execute(db)
  await sql`insert into webhooks (id, url, events, secret) values ('item', 'https://bot.example/zqnote', '{}', '\\x06')`.execute(
    db,
  )
  await sql`insert into webhook_deliveries (id, webhook_id, event, payload) values ('msg', 'item', 'task.changed', '{"note":"zqnote"}')`.execute(
    db,
  )
}

/** What owners do with the planted values, and the ids of what they make. */
export async function plantByCalls(app: TestApp, owner: Client): Promise<string[]> {
  const search = `q=${encodeURIComponent(planted.email)}`
  const ids: string[] = []
  for (const [index, address] of [search, 'has=email&q=zqnote', `any=${encodeURIComponent('[{"has":"email"}]')}`].entries()) {
    const view = { list: 'telegramUsers', name: `View ${index}`, address, isShared: true }
    ids.push((await owner.call('POST', '/api/views', view)).body.id)
  }
  ids.push((await owner.call('POST', '/api/views', { list: 'audit', name: 'Audit', address: search, isShared: true })).body.id)
  const target = { filter: { search: planted.email, has: 'email' } }
  expect((await owner.call('POST', '/api/exports', { list: 'telegramUsers', target })).status).toBe(200)
  const data = { kind: 'social', id: 'item', search: 'zqnote' }
  expect((await owner.call('POST', '/download-history', { data })).status).toBe(200)
  const reason = 'Wrote from ZQMAIL @ zqhost.example'
  expect((await owner.call('POST', '/api/telegram-users/block', { target: { ids: ['7'] }, reason })).body.affected).toBe(1)
  expect((await owner.call('POST', '/api/telegram-users/7/adjustments', { amount: 5, reason })).status).toBe(200)
  const removed = await app.signUp('user')
  await owner.call('DELETE', `/removeUser/${removed.id}`)
  const { body } = await owner.call('GET', '/api/trash')
  return [...ids, removed.id, body.records[0].id, owner.id]
}
