/** An erased former user leaves no trace in any table or file, whatever the person did and others did with the person (docs/erasing.md). */
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { sealEntries } from '#src/audit/chain.ts'
import { verifyAudit } from '#src/audit/verify.ts'
import { diskStore } from '#src/files/disk.ts'
import { expectReconciled } from '#test/ledger.ts'
import { findInFiles, findInTables, userColumns } from '#test/personal-data.ts'
import { arcade } from '#test/run-arcade.ts'
import { type Client, PASSWORD, testApp, type TestApp } from '#test/test-app.ts'
import { png, upload } from '#test/test-images.ts'

const EMAIL = 'wilhelmina.q@gmail.com'
const ADDRESS = '203.0.113.77'
const names = { fname: 'Wilhelmina', lname: 'Qxzvw' }
const planted = [EMAIL, ADDRESS, names.fname, names.lname, 'Renamed', 'view-of-boss', 'private-words']
/** What stays, where, and why (docs/erasing.md). */
const typed = { value: 'reason-of-wilma', columns: ['ledger_entries.reason', 'audit_open.detail', 'audit_entries.detail'] }

const done = async (answer: ReturnType<Client['call']>) => {
  const { status, body } = await answer
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

/** The boss invites the user, adds the account and makes it an admin. Returns the user, signed in. */
async function addPerson(app: TestApp, boss: Client): Promise<Client> {
  await done(boss.call('POST', '/api/invitations', { email: EMAIL, role: 'user' }))
  const input = { ...names, email: EMAIL, password: PASSWORD, confirmPassword: PASSWORD }
  const { id } = await done(boss.call('POST', '/registerUser', input, { 'idempotency-key': 'add' }))
  await done(boss.call('PUT', `/api/users/${id}/user-type`, { userType: 'admin' }))
  for (const password of ['wrong one', PASSWORD]) {
    const body = JSON.stringify({ email: EMAIL, password })
    await app.fetch('/api/session', { method: 'POST', headers: { 'content-type': 'application/json' }, body }, ADDRESS)
  }
  return { ...boss, id, headers: { cookie: `session=${await app.sessions.begin(id)}` }, call: callAs(app, id) }
}

function callAs(app: TestApp, id: string): Client['call'] {
  const session = app.sessions.begin(id)
  return async (method, path, body, headers = {}) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body) }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const answer = await app.fetch(
      path,
      { method, headers: { ...type, cookie: `session=${await session}`, ...headers }, ...json },
      ADDRESS,
    )
    const isJson = answer.headers.get('content-type')?.startsWith('application/json')
    return { status: answer.status, headers: answer.headers, body: isJson ? await answer.json() : await answer.text() }
  }
}

/** The person does something of everything. */
async function act(person: Client, { boss, round }: { boss: Client; round: number }): Promise<void> {
  await done(person.call('POST', '/api/today/look'))
  await done(person.call('POST', '/api/password-links', { id: boss.id }))
  const task = { type: 'twitter', title: `Task ${round}`, link: 'https://x.com/a', reward: 1, priority: round }
  const { id } = await done(person.call('POST', '/api/social-tasks', task, { 'idempotency-key': `task-${round}` }))
  await done(person.call('DELETE', `/api/social-tasks/${id}`))
  await done(person.call('POST', '/api/telegram-users/7/adjustments', { amount: 3, reason: 'reason-of-wilma' }))
  await done(person.call('POST', '/api/notes/player/7', { text: `Note ${round}` }, { 'idempotency-key': `note-${round}` }))
  const target = { ids: [String(10 + round)] }
  await done(person.call('POST', '/api/telegram-users/block', { target, reason: 'spam' }))
  for (const isShared of [true, false]) {
    const view = { list: 'telegramUsers', name: `View ${round} ${isShared}`, address: 'balanceMin=5', isShared }
    const { id: viewId } = await done(person.call('POST', '/api/views', view))
    await done(person.call('PUT', '/api/default-views/telegramUsers', { id: viewId }))
  }
  const own = { list: 'socialTasks', name: `private-words ${round}`, address: '', isShared: false }
  await done(person.call('POST', '/api/views', own))
}

/** Others do something with the person. */
async function actOn(app: TestApp, boss: Client, { person, round }: { person: Client; round: number }): Promise<void> {
  const { id } = person
  await done(boss.call('PATCH', `/api/users/${id}`, { fname: 'Renamed', lname: names.lname }))
  await done(boss.call('PATCH', `/api/users/${id}`, names))
  await done(boss.call('POST', '/api/password-links', { id }))
  const note = { text: `Ask @${names.fname} ${names.lname} about it`, mentions: [id] }
  await done(boss.call('POST', '/api/notes/player/11', note))
  const headers = { ...boss.headers, 'content-type': 'application/json' }
  const exports = [
    { list: 'users', target: { ids: [id] } },
    { list: 'users', target: { filter: { search: names.lname } } },
    { list: 'audit', target: { filter: { actorId: id } } },
  ]
  for (const input of exports) {
    const body = JSON.stringify({ ...input, exportId: crypto.randomUUID() })
    const answer = await app.fetch('/api/exports', { method: 'POST', headers, body })
    expect(answer.status).toBe(200)
    await answer.arrayBuffer()
  }
  const view = { list: 'users', isShared: true }
  await done(boss.call('POST', '/api/views', { ...view, name: `view-of-boss ${round}`, address: `q=${names.fname}` }))
  await done(boss.call('POST', '/api/views', { ...view, name: `Acts ${round}`, list: 'audit', address: `actorId=%22${id}%22` }))
  await done(boss.call('POST', '/api/views', { ...view, name: `For ${names.fname} ${round}`, address: 'userType=admin' }))
  await done(boss.call('POST', '/api/views', { ...view, name: `${names.lname}8903${round}`, address: 'userType=admin' }))
  const players = { list: 'telegramUsers', isShared: true }
  await done(boss.call('POST', '/api/views', { ...players, name: `Theirs ${round}`, address: `q=${names.lname}+${names.fname}` }))
}

async function opening() {
  const directory = await mkdtemp(join(os.tmpdir(), 'arcade-erase-user-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const app = await testApp({ fileStore: diskStore(directory) })
  const [boss, bot] = [await app.signUp('admin'), await app.bot()]
  await done(bot.call('POST', '/bot/v1/players', { players: [{ userId: 7 }, { userId: 11 }, { userId: 12 }] }))
  return { app, directory, boss, person: await addPerson(app, boss) }
}

/** Links a Telegram account of the person, who then makes another code. */
async function linkTelegram(app: TestApp, person: Client): Promise<void> {
  const { code } = await done(person.call('POST', '/api/account/telegram-code'))
  await done((await app.bot()).call('POST', '/bot/v1/operator-links', { code, userId: 7 }))
  await done(person.call('POST', '/api/account/telegram-code'))
}

/** What mails leave: links, a change of e-mail, an invitation that the person made and, after the removal, one for the person. */
async function plantMails({ database: { db } }: TestApp, { boss, person }: { boss: Client; person: Client }): Promise<void> {
  await sql`insert into password_requests (user_id) values (${person.id})`.execute(db)
  await sql`insert into password_resets (token_hash, user_id, expires_at) values ('x', ${person.id}, now())`.execute(db)
  await sql`insert into email_changes (user_id, new_email, old_email, new_hash, old_hash, expires_at)
    values (${person.id}, ${EMAIL}, ${EMAIL}, 'a', 'b', now())`.execute(db)
  await sql`insert into mails (kind, user_id, recipient, give_up_at) values ('newDevice', ${person.id}, ${EMAIL}, now())`.execute(
    db,
  )
  await sql`update sessions set second_factor_at = now() where user_id = ${person.id}`.execute(db) // asked for by an invitation
  await done(person.call('POST', '/api/invitations', { email: 'somebody@example.org', role: 'user' }))
  await done(boss.call('POST', '/api/invitations', { email: 'other@example.org', role: 'user' }))
}

async function purge(boss: Client, id: string): Promise<void> {
  const { records } = await done(boss.call('GET', '/api/trash'))
  const ids = (records as { id: string; recordId: string }[]).flatMap((record) => (record.recordId === id ? record.id : []))
  await done(boss.call('POST', '/api/trash/purge', { target: { ids } }))
}

test('no table names an erased former user; the chain and the ledger are intact', async () => {
  const { app, directory, boss, person } = await opening()
  const { db } = app.database
  expect((await upload(app, person, png)).status).toBe(200)
  const other = await app.signUp('admin')
  await done(other.call('POST', '/api/views', { list: 'users', name: 'Mine', address: `q=${names.lname}`, isShared: false }))
  await linkTelegram(app, person)
  await act(person, { boss, round: 1 })
  await actOn(app, boss, { person, round: 1 })
  await sealEntries(app.database)
  await act(person, { boss, round: 2 })
  await actOn(app, boss, { person, round: 2 })
  await done(boss.call('DELETE', `/removeUser/${other.id}`))

  await sql`insert into passkeys (user_id, credential_id, public_key, counter, transports, name, device_type, backed_up)
    values (${person.id}, '\\x01', '\\x02', 1, '{}', ${`Laptop of ${names.fname}`}, 'singleDevice', false)`.execute(db)
  await sql`insert into totp_secrets (user_id) values (${person.id})`.execute(db)
  await sql`insert into recovery_codes (user_id, code_hash) values (${person.id}, '\\x01')`.execute(db)
  await sql`insert into pending_sign_ins (token_hash, user_id, expires_at) values ('\\x02', ${person.id}, now() + interval '1 minute')`.execute(
    db,
  )
  await sql`insert into passkey_challenges (challenge_hash, purpose, user_id, expires_at)
    values ('\\x03', 'register', ${person.id}, now() + interval '1 minute')`.execute(db)
  await sql`insert into oidc_links (user_id, issuer, subject, name)
    values (${person.id}, 'https://login.example/', ${`of ${names.lname}`}, ${names.fname})`.execute(db)
  await sql`insert into oidc_flows (state_hash, browser_hash, user_id, expires_at)
    values ('\\x04', '\\x05', ${person.id}, now() + interval '1 minute')`.execute(db)
  await sql`insert into backups (id, place, is_scheduled, started_at, made_by) values ('x', '/tmp/x', false, now(), ${person.id})`.execute(
    db,
  )
  await sql`insert into broadcasts (id, number, announcement_id, title, filter, state, made_by)
    values ('x', 1, 'x', 'X', '{}', 'done', ${person.id})`.execute(db)
  await plantMails(app, { boss, person })
  await sql`update users set from_before = ${JSON.stringify({ nick: names.lname })} where id = ${person.id}`.execute(db)
  const values = [...planted, person.id]
  const present = await findInTables(db, values)
  expect(await arcade('audit', 'erase', person.id)).toMatchObject({ code: 1, output: expect.stringContaining('is a user') })
  await done(boss.call('DELETE', `/removeUser/${person.id}`))
  const removed = await findInTables(db, values)
  expect([...present.keys()].toSorted()).toEqual(values.toSorted())
  const columns = new Set([...present.values(), ...removed.values()].flat())
  expect([...columns].toSorted()).toEqual(userColumns.toSorted())
  await done(boss.call('POST', '/api/invitations', { email: EMAIL, role: 'user' })) // which goes with the erasure

  expect(await arcade('audit', 'erase', person.id)).toMatchObject({ code: 1, output: expect.stringContaining('in the trash') })
  await purge(boss, person.id)
  expect(await arcade('audit', 'erase', person.id)).toMatchObject({ code: 0, output: expect.stringContaining('Looked for were') })
  expect(Object.fromEntries(await findInTables(db, values))).toEqual({})
  expect(await findInFiles(directory, values)).toEqual([])
  const left = (await findInTables(db, [typed.value])).get(typed.value)!
  expect(typed.columns).toEqual(expect.arrayContaining(left))
  await sealEntries(app.database)
  expect((await verifyAudit(app.database)).findings).toEqual([])
  await expectReconciled(app.database)
  expect(await arcade('audit', 'erase', person.id)).toMatchObject({ code: 1, output: expect.stringContaining('Nothing names') })
})

test('longer names of others in a note stay when a user is erased', async () => {
  const { app, boss, person } = await opening()
  const { db } = app.database
  const people = [await app.signUp('admin'), await app.signUp('admin')]
  for (const [index, lname] of [`${names.lname}son`, `${names.lname} Smith`].entries())
    await db.updateTable('users').set({ fname: names.fname, lname }).where('id', '=', people[index]!.id).execute()
  const own = `@${names.fname} ${names.lname}`
  const note = {
    text: `${own}: see ${own}son, ${own} Smith, ${own}ward, ${own}\u200D👩. ${own}`,
    mentions: [person.id, ...people.map(({ id }) => id)],
  }
  const { id } = await done(boss.call('POST', '/api/notes/player/11', note))
  await done(boss.call('DELETE', `/removeUser/${person.id}`))
  await purge(boss, person.id)
  await arcade('audit', 'erase', person.id)
  const { text } = await db.selectFrom('notes').select('text').where('id', '=', id).executeTakeFirstOrThrow()
  expect(text).toBe(`@former user: see ${own}son, ${own} Smith, ${own}ward, ${own}\u200D👩. @former user`)
})

test('what an erased user did stays, without a name: the trash can be restored and a block undone', async () => {
  const { app, boss, person } = await opening()
  await act(person, { boss, round: 1 })
  await done(boss.call('DELETE', `/removeUser/${person.id}`))
  await purge(boss, person.id)
  const { rows } = await sql<{ actId: string }>`
    select act_id as "actId" from audit_trail where action = 'player.block'`.execute(app.database.db)
  await arcade('audit', 'erase', person.id)
  const { records } = await done(boss.call('GET', '/api/trash'))
  expect(records).toMatchObject([{ name: 'Task 1', deletedBy: null }])
  await done(boss.call('POST', '/api/trash/restore-one', { id: records[0].id }))
  expect((await done(boss.call('GET', '/api/telegram-users/11'))).block).toMatchObject({ reason: 'spam', by: null })
  expect(await done(boss.call('POST', `/api/acts/${rows[0]!.actId}/undo`, {}))).toMatchObject({ affected: 1 })
  expect((await done(boss.call('GET', '/api/telegram-users/11'))).block).toBeNull()
})
