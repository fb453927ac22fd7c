/** The rules for typed texts (contract/src/text.ts), as the server applies them to every feature. */
import { argon2Sync } from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { FAMILY, HEART, PERSIAN } from '@arcade/contract/testing/invisible'
import { addPlayers } from '#test/players.ts'
import { type Client, testApp } from '#test/test-app.ts'

const task = { priority: 1, type: 'twitter', title: 'Follow us', link: 'https://x.com/arcade', reward: 1 }
const announcement = { type: 'link', title: 'News', subtitle: 'Fresh', link: 'https://x.com/a', linkType: 'noInput', reward: 1 }
const view = { list: 'telegramUsers', name: 'Zo\xeb', address: '', isShared: false }
const UNSEEN = '\u200b\u3164\u202e\u2028'

const opening = async () => {
  const app = await testApp()
  return { app, admin: await app.signUp('admin') }
}

describe('§5 a text of invisible characters is missing', () => {
  test.each([
    ['/api/social-tasks', { ...task, title: UNSEEN }, { title: 'Title is required' }],
    ['/api/announcements', { ...announcement, title: UNSEEN }, { title: 'Title is required' }],
    ['/api/announcements', { ...announcement, subtitle: UNSEEN }, { subtitle: 'Subtitle is required' }],
    ['/api/announcements', { ...announcement, link: UNSEEN }, { link: 'Invalid URL format' }],
    ['/api/views', { ...view, name: UNSEEN }, { name: 'Name is required' }],
    ['/api/telegram-users/block', { target: { ids: ['7'] }, reason: UNSEEN }, { reason: 'Reason is required' }],
  ])('%s %j', async (path, body, fields) => {
    const { admin } = await opening()
    expect(await admin.call('POST', path, body)).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT', fields } })
  })

  test('and so is a name at the registration', async () => {
    const { app } = await opening()
    const registration = { fname: UNSEEN, lname: 'Day', email: 'a@gmail.com', password: 'secret1', confirmPassword: 'secret1' }
    const { body } = await app.guest.call('POST', '/api/register', registration)
    expect(body.fields).toEqual({ fname: 'First Name is required' })
  })
})

async function saveTask(admin: Client, changes: object) {
  const { status, body } = await admin.call('POST', '/api/social-tasks', { ...task, ...changes })
  expect(status, JSON.stringify(body)).toBe(200)
  return (await admin.call('GET', `/api/social-tasks/${body.id}`)).body
}

test.each([PERSIAN, FAMILY, HEART, `Win ${HEART} now`])('§5 a title keeps what its characters need: %s', async (title) => {
  const { admin } = await opening()
  expect((await saveTask(admin, { title: ` ${title} ` })).title).toBe(title)
})

test('§5 titles are kept in NFC, and links without invisible characters', async () => {
  const { admin } = await opening()
  const saved = await saveTask(admin, { title: 'Zoe\u0308', link: ' https://x.com/arcade\u200b\u2069' })
  expect(saved).toMatchObject({ title: 'Zo\xeb', link: 'https://x.com/arcade' })
})

test('§9 a limit counts code points', async () => {
  const { admin } = await opening()
  const save = async (subtitle: string) => (await admin.call('POST', '/api/announcements', { ...announcement, subtitle })).status
  expect(await save('😀'.repeat(60))).toBe(200)
  expect(await save('😀'.repeat(61))).toBe(400)
})

test('Views: names that look the same are the same, also beside a name of an earlier version', async () => {
  const { app, admin } = await opening()
  const refused = { status: 409, body: { code: 'VIEW_NAME_TAKEN', fields: { name: 'You have a view of this name already' } } }
  const { body } = await admin.call('POST', '/api/views', view)
  for (const name of ['ZOE\u0308', '\u202eZo\xeb', 'Zo\u200b\xeb'])
    expect(await admin.call('POST', '/api/views', { ...view, name }), name).toMatchObject(refused)
  await sql`update saved_views set name = ${'Zoe\u0308'}`.execute(app.database.db)
  expect(await admin.call('POST', '/api/views', view)).toMatchObject(refused)
  const other = await admin.call('POST', '/api/views', { ...view, name: 'Other' })
  expect(await admin.call('PATCH', `/api/views/${other.body.id}`, { name: 'zo\xeb', isShared: false })).toMatchObject(refused)
  expect((await admin.call('PATCH', `/api/views/${body.id}`, { name: 'Zo\xeb', isShared: false })).status).toBe(200)
})

describe('§5 passwords that look the same are the same', () => {
  const typed = { nfc: 'p\xe1ssword', nfd: 'pa\u0301ssword' }
  const signIn = (client: Client, password: string) =>
    client.call('POST', '/api/session', { email: 'ada@gmail.com', password }).then(({ status }) => status)

  test.each(Object.values(typed))('chosen as %j', async (password) => {
    const { app } = await opening()
    const names = { fname: 'Ada', lname: 'Day', email: 'ada@gmail.com' }
    expect((await app.guest.call('POST', '/api/register', { ...names, password, confirmPassword: password })).status).toBe(200)
    expect(await signIn(app.guest, typed.nfc)).toBe(200)
    expect(await signIn(app.guest, typed.nfd)).toBe(200)
    expect(await signIn(app.guest, 'password')).toBe(401)
  })

  test('a password that an earlier version hashed as typed still works as typed', async () => {
    const { app } = await opening()
    await app.signUp('user', 'ada@gmail.com')
    const nonce = Buffer.from('a salt of sixteen')
    const tag = argon2Sync('argon2id', {
      message: Buffer.from(typed.nfd),
      nonce,
      memory: 19_456,
      passes: 2,
      parallelism: 1,
      tagLength: 32,
    })
    const hash = `$argon2id$v=19$m=19456,t=2,p=1$${nonce.toString('base64')}$${tag.toString('base64')}`
    await sql`update accounts set password_hash = ${hash} where email = 'ada@gmail.com'`.execute(app.database.db)
    expect(await signIn(app.guest, typed.nfd)).toBe(200)
    expect(await signIn(app.guest, typed.nfc)).toBe(401)
  })
})

test('§3 the confirmation and the audit call a player whose name cannot be seen by username, or else by id', async () => {
  const { app, admin } = await opening()
  await addPlayers(app.database.db, [
    { user_id: 7, first_name: '\u3164', last_name: '\u200b', username: 'ada' },
    { user_id: 8, first_name: '\u2800' },
  ])
  const block = { target: { ids: ['7', '8'] }, reason: 'Farm' }
  const { body } = await admin.call('POST', '/api/telegram-users/block', block)
  expect(body.named).toEqual([
    { id: '7', title: '@ada' },
    { id: '8', title: '8' },
  ])
  const { rows } = await sql`select record_name as name from audit_trail where action = 'player.block' order by seq`.execute(
    app.database.db,
  )
  expect(rows).toEqual([{ name: '@ada' }, { name: '8' }])
})

test('a message that names records cannot be turned around by their titles', async () => {
  const { admin } = await opening()
  await saveTask(admin, { title: 'Follow\u202e us' })
  await saveTask(admin, { title: 'שלום', priority: 2 })
  const { id } = await saveTask(admin, { title: 'Third', priority: 3 })
  const numbers = { target: { ids: [id] }, first: 2, step: 1 }
  const { body } = await admin.call('POST', '/api/social-tasks/priorities', numbers)
  expect(body.fields).toEqual({ first: 'Already taken: 2 by \u2068שלום\u2069' })
  const again = await admin.call('POST', '/api/social-tasks/priorities', { ...numbers, first: 1 })
  expect(again.body.fields).toEqual({ first: 'Already taken: 1 by Follow us' })
})
