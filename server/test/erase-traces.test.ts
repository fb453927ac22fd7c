/** An erased player leaves no trace in any table or file, whatever the console was told about the person (docs/erasing.md). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { sealEntries } from '#src/audit/chain.ts'
import { verifyAudit } from '#src/audit/verify.ts'
import { diskStore } from '#src/files/disk.ts'
import { importDirectory } from '#src/import/import.ts'
import { expectReconciled } from '#test/ledger.ts'
import { findInFiles, findInTables, playerColumns, unknownColumns } from '#test/personal-data.ts'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'
import { png, upload } from '#test/test-images.ts'
import { BOT_TOKEN } from '#test/telegram.ts'
import { endpoint } from '#test/webhooks.ts'

const ID = 7_310_293_847_561
const PATH = `/api/telegram-users/${ID}`
const fields = {
  firstName: 'Adelheid',
  lastName: 'Zyxwvut',
  username: 'adelheid_z',
  twitterUsername: 'zyx_tweets',
  instagramUsername: 'zyx_pictures',
  linkedInUsername: 'zyx_works',
  discordUsername: 'zyx_talks',
  youtubeUsername: 'zyx_films',
  email: 'a.zyxwvut@example.org',
  phoneNumber: '4915112345678',
  tonWalletAddress: 'EQCzyxTonWallet0123456789',
  bscWallet: '0xzyxBscWallet0123456789',
}
const texts = [
  'zyx_before',
  'ImportedName',
  'input-of-player',
  'unknown_field_zyx',
  'kept_of_zyx',
  'round-of-zyx',
  'reason-adjusted',
  'noteofzyx',
  'reason-reversed',
  'reason-blocked',
  'reason-shared',
  'view-of-farmgirl',
]
const planted = [String(ID), ...Object.values(fields), ...texts]
/** What stays, where, and why (docs/erasing.md). */
const staying = [
  { value: 'invited-7310', columns: ['ledger_entries.reference'], why: 'the game’s name of another player’s payment' },
  {
    value: 'reason-of-another',
    columns: ['ledger_entries.reason', 'audit_open.detail'],
    why: 'a reason given to another player alone',
  },
  {
    value: 'winner-of-may',
    columns: ['announcements.title', 'history_items.title', 'audit_open.record_name', 'audit_open.changes'],
    why: 'published',
  },
  {
    value: 'photo-of-winner',
    columns: ['file_removals.key', 'audit_open.record_id', 'audit_open.record_name'],
    why: 'published',
  },
]

const done = async (answer: ReturnType<Client['call']>) => {
  const { status, body } = await answer
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

async function temporaryFolder(): Promise<string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'arcade-traces-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

interface Console {
  app: TestApp
  admin: Client
  bot: Client
  directory: string
}

async function opening(): Promise<Console> {
  const directory = await temporaryFolder()
  const app = await testApp({
    webhookNetworks: ['127.0.0.0/8'],
    fileStore: diskStore(path.join(directory, 'files')),
    telegram: { botToken: BOT_TOKEN },
  })
  const { db } = app.database
  await sql`insert into announcements (id, type, title, subtitle, link, link_type, input_text, reward, status)
    values ('a', 'link', 'A', '', 'https://x.com', 'input', 'Your name', 10, true)`.execute(db)
  await sql`insert into history_items (kind, item_id, title, type, reward)
    values ('announcement', 'a', 'A', 'link', 10), ('announcement', 'b', 'B', 'desc', 1)`.execute(db)
  return { app, directory, admin: await app.signUp('admin'), bot: await app.bot() }
}

/** The game tells about the player, who plays. */
async function play({ app, bot, directory }: Console): Promise<void> {
  const fromBefore = JSON.stringify({ friend: 'kept_of_zyx' })
  await writeFile(
    path.join(directory, 'announcementHistory.users.ndjson'),
    JSON.stringify({ parent: 'b', id: ID, first_name: 'ImportedName', timestamp: '2026-01-02T03:04:05Z', fromBefore }),
  )
  await importDirectory({ database: app.database, directory, rejectedPath: path.join(directory, 'rejected.ndjson') })
  await done(bot.call('PUT', `/bot/v1/players/${ID}`, { ...fields, username: 'zyx_before' }))
  await sql`update telegram_users set from_before = ${fromBefore} where user_id = ${ID}`.execute(app.database.db)
  await sql`insert into player_messages (user_id, unreachable_at, unreachable_reason) values (${ID}, now(), 'blocked')`.execute(
    app.database.db,
  )
  const batch = [
    { userId: ID, ...fields, username: 'zyx_before' },
    { userId: 8 },
    { userId: 9 },
    { userId: ID, unknown_field_zyx: 1 },
  ]
  await done(bot.call('POST', '/bot/v1/players', { players: batch }, { 'idempotency-key': `batch-${ID}` }))
  const claim = { kind: 'announcement', id: 'a', userInput: 'input-of-player' }
  await done(bot.call('POST', `/bot/v1/players/${ID}/claims`, claim, { 'idempotency-key': `claim-${ID}` }))
  await done(bot.call('POST', `/bot/v1/players/${ID}/claims`, claim, { 'idempotency-key': 'repeated' }))
  await done(bot.call('PUT', `/bot/v1/players/${ID}`, { username: fields.username }))
  await done(bot.call('POST', `/bot/v1/players/${ID}/entries`, { amount: 50, cause: 'round', reference: 'round-of-zyx' }))
  await done(bot.call('POST', '/bot/v1/players/8/entries', { amount: 5, cause: 'referral', reference: 'invited-7310' }))
  const seen = app.player(ID).call('POST', '/bot/v1/players/me/announcements/seen', { upTo: 0 }, { 'idempotency-key': 'seen' })
  await done(seen)
  await sql`insert into broadcast_recipients (user_id, broadcast, chunk, outcome, at) values (${ID}, 1, 0, 2, now())`.execute(
    app.database.db,
  )
}

/** An admin does everything that names the player. */
async function operate({ app, admin }: Console, round: number): Promise<void> {
  const target = { ids: [String(ID)] }
  const { id: note } = await done(admin.call('POST', `/api/notes/player/${ID}`, { text: 'noteofzyx' }))
  await done(admin.call('PUT', `/api/notes/${note}`, { text: 'noteofzyx for @Test Person', mentions: [admin.id] }))
  const { entry } = await done(admin.call('POST', `${PATH}/adjustments`, { amount: 4, reason: 'reason-adjusted' }))
  await done(admin.call('POST', `${PATH}/reversals`, { entryId: entry.id, reason: 'reason-reversed' }))
  await done(admin.call('POST', '/api/telegram-users/block', { target, reason: 'reason-blocked' }))
  await done(admin.call('POST', '/api/telegram-users/unblock', { target }))
  const several = { ids: [String(ID), '8', '9'] }
  await done(admin.call('POST', '/api/telegram-users/block', { target: several, reason: 'reason-shared' }))
  if (round === 1) await done(admin.call('POST', '/api/telegram-users/unblock', { target: several }))
  const view = { list: 'telegramUsers', isShared: true }
  const q = (text: string): string => new URLSearchParams({ q: text, rows: 'compact' }).toString()
  const views = [
    { ...view, name: `view-of-farmgirl ${round}`, address: q(fields.firstName) },
    { ...view, name: `Quoted ${round}`, address: q(`"${ID}"`) },
    { ...view, name: `Mail ${round}`, address: q(fields.email) },
    { ...view, name: `Audit of ${round}`, list: 'audit', address: `recordId=%22${ID}%22` },
    { ...view, name: `Surname first ${round}`, address: q(`${fields.lastName} ${fields.firstName}`) },
    { ...view, name: `With others ${round}`, address: q(`${fields.lastName}7561, and all`) },
    { ...view, name: `Tasks ${round}`, list: 'dailyTasks', address: q(fields.firstName) },
    { ...view, name: `News ${round}`, list: 'announcements', address: q(`the ${fields.firstName}s`) },
    { ...view, name: `About Zyxwvut ${round}`, address: 'status=blocked' },
    { ...view, name: `Adelheids ${round}`, address: 'status=blocked' },
    { ...view, name: `${fields.lastName}756${round}`, list: 'users', address: 'userType=admin' },
    { ...view, name: `Rich ${round}`, address: 'balanceMin=5', isShared: false },
  ]
  for (const one of views) await done(admin.call('POST', '/api/views', one))
  await download(app, admin, { list: 'telegramUsers', target })
  for (const search of [fields.lastName, `${fields.lastName} ${fields.firstName}`, fields.phoneNumber, String(ID)])
    await download(app, admin, { list: 'telegramUsers', target: { filter: { search } } })
  for (const search of [fields.lastName, String(ID)])
    await done(admin.call('POST', '/api/broadcasts', { announcementId: 'a', filter: { search }, sendAt: '2099-12-31T00:00:00Z' }))
  await download(app, admin, { list: 'audit', target: { filter: { recordId: String(ID) } } })
  await download(app, admin, { list: 'dailyTasks', target: { filter: { search: fields.firstName } } })
}

async function download(app: TestApp, admin: Client, input: object): Promise<void> {
  const headers = { ...admin.headers, 'content-type': 'application/json' }
  const body = JSON.stringify({ ...input, exportId: crypto.randomUUID() })
  const answer = await app.fetch('/api/exports', { method: 'POST', headers, body })
  expect(answer.status).toBe(200)
  await answer.arrayBuffer()
}

/** A removed admin's private view waits in the trash. */
async function removeAdmin({ app, admin }: Console): Promise<void> {
  const other = await app.signUp('admin')
  const view = { list: 'telegramUsers', name: 'Mine', address: `q=${fields.username}`, isShared: false }
  await done(other.call('POST', '/api/views', view))
  await done(other.call('POST', '/api/views', { ...view, name: 'Of Adelheid', address: '', isShared: true }))
  await done(admin.call('DELETE', `/removeUser/${other.id}`))
}

/** What stays: it is about others, or published. */
async function publish({ app, admin }: Console): Promise<void> {
  await upload(app, admin, png, 'photo-of-winner.png')
  await done(admin.call('POST', '/api/announcements', { type: 'desc', title: 'winner-of-may', subtitle: 'S', reward: 1 }))
  await done(admin.call('POST', '/api/telegram-users/8/adjustments', { amount: 1, reason: 'reason-of-another' }))
}

test('ADR 22 no table and no file names an erased player any more; the list of columns is complete', async () => {
  const console = await opening()
  const { app, admin, directory } = console
  const { db } = app.database
  expect(await unknownColumns(db), 'columns that test/personal-data.ts does not know').toEqual([])
  const hook = await endpoint()
  await done(admin.call('POST', '/api/webhooks', { url: hook.url, events: ['player.adjusted'] }))
  await play(console)
  await operate(console, 1)
  await sealEntries(app.database)
  await operate(console, 2)
  await removeAdmin(console)
  await publish(console)

  const before = await findInTables(db, planted)
  expect([...before.keys()].toSorted()).toEqual(planted.toSorted())
  const columns = new Set([...before.values()].flat())
  expect([...columns].toSorted()).toEqual(playerColumns.toSorted())

  const { userId } = await done(admin.call('POST', `${PATH}/erase`, { confirmation: ID }))
  expect(Object.fromEntries(await findInTables(db, planted))).toEqual({})
  expect(await findInFiles(path.join(directory, 'files'), planted)).toEqual([])
  const left = await findInTables(
    db,
    staying.map(({ value }) => value),
  )
  for (const { value, columns: allowed, why } of staying)
    expect(allowed, why).toEqual(expect.arrayContaining(left.get(value) ?? ['?']))

  await sealEntries(app.database)
  expect((await verifyAudit(app.database)).findings).toEqual([])
  await expectReconciled(app.database)
  expect((await done(admin.call('GET', `/api/telegram-users/${userId}`))).balance).toBe(60)
  expect((await done(admin.call('GET', '/api/telegram-users/8'))).block.reason).toBe('Erased together with another player')
  const { views } = await done(admin.call('GET', '/api/views'))
  const names = (views as { name: string }[]).map(({ name }) => name).toSorted()
  expect(names).toEqual([...Array.from({ length: 7 }, () => expect.stringMatching(/^Erased name \w{8}$/)), 'Rich 1', 'Rich 2'])
  // Erasing one who shared a block with the player erases what the first erasure has left.
  await done(admin.call('POST', '/api/telegram-users/8/erase', { confirmation: 8 }))
  const { rows } = await sql`select from audit_trail where record_kind = 'player' and record_id = '8'`.execute(db)
  expect(rows).toEqual([])
  expect((await verifyAudit(app.database)).findings).toEqual([])
})

test('ADR 22 words that are not only about the player stay: common names, and reasons for many players', async () => {
  const { app, admin, bot } = await opening()
  const { db } = app.database
  const many = Array.from({ length: 110 }, (_, n) => ({
    userId: 1001 + n,
    firstName: n < 2 ? 'Anna' : `Player${n}`,
    ...(n === 0 ? { lastName: 'Follow', username: 'Person' } : { lastName: 'Doe' }),
    email: `p${n}@example.org`,
  }))
  await done(bot.call('POST', '/bot/v1/players', { players: many }))
  const task = { type: 'twitter', title: 'Follow us', link: 'https://x.com/a', reward: 1, priority: 1 }
  await done(admin.call('POST', '/api/social-tasks', task))
  const view = { list: 'telegramUsers', name: 'Annas', address: 'q=Anna', isShared: true }
  await done(admin.call('POST', '/api/views', view))
  const common = [
    { ...view, name: 'All of us', address: 'q=example.org' },
    { ...view, name: 'Surname first', address: 'q=Doe+Anna' },
    { ...view, name: 'Links', list: 'socialTasks', address: 'q=follow' },
    { ...view, name: 'Team', list: 'users', address: 'q=person' },
    { ...view, name: 'Both', list: 'audit', address: 'q=follow+me' },
  ]
  for (const one of common) await done(admin.call('POST', '/api/views', one))
  const target = { filter: {} }
  await done(admin.call('POST', '/api/telegram-users/block', { target, reason: 'a farm of accounts' }))
  await done(admin.call('POST', '/api/telegram-users/unblock', { target }))
  await done(admin.call('POST', '/api/telegram-users/block', { target, reason: 'all friends of p0@example.org' }))
  await done(admin.call('POST', '/api/telegram-users/1001/erase', { confirmation: 1001 }))
  const { views } = await done(admin.call('GET', '/api/views'))
  expect((views as { name: string }[]).map(({ name }) => name).toSorted()).toEqual(
    [view, ...common].map(({ name }) => name).toSorted(),
  )
  const left = await findInTables(db, ['a farm of accounts', 'p0@example.org'])
  expect([...left]).toEqual([['a farm of accounts', ['audit_open.changes']]])
  expect((await done(admin.call('GET', '/api/telegram-users/1050'))).block.reason).toBe('Erased together with another player')
  expect((await verifyAudit(app.database)).findings).toEqual([])
})

test('ADR 22 a player with 100,000 entries is erased by one request', async () => {
  const { app, admin, bot } = await opening()
  const { db } = app.database
  await done(bot.call('PUT', `/bot/v1/players/${ID}`, fields))
  await sql`insert into ledger_entries (user_id, seq, amount, cause, reference, balance)
    select ${ID}, n, 1, 'round', 'round-of-zyx-' || n, n from generate_series(1, 100000) as n`.execute(db)
  await sql`update balances set balance = 100000, entries = 100000 where user_id = ${ID}`.execute(db)
  const { userId } = await done(admin.call('POST', `${PATH}/erase`, { confirmation: ID }))
  const { rows } =
    await sql`select count(*) as entries, count(reference) as named from ledger_entries where user_id = ${userId}`.execute(db)
  expect(rows).toEqual([{ entries: 100_000, named: 0 }])
  await expectReconciled(app.database)
})
