/** Accounts and files move in from Firebase, along with the documents that they belong to. */
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import * as firestore from '#test/firestore-export.ts'
import { account, hashing, MOVED_PASSWORD, moved } from '#test/auth-export.ts'
import { counts, created, folderOf, run } from '#test/move-in.ts'
import { testApp } from '#test/test-app.ts'
import { download, png } from '#test/test-images.ts'

const person = (name: string, userType = 'user') => ({ fname: name, lname: 'X', email: `${name}@gmail.com`, userType })

test('accounts move in with their passwords; those without get a link, disabled ones none', async () => {
  const app = await testApp()
  const people = Object.fromEntries(
    ['ada', 'bo', 'cy', 'di', 'el'].map((name) => [`users/${name}`, person(name, name === 'ada' ? 'admin' : 'user')]),
  )
  const google = { providerUserInfo: [{ providerId: 'google.com' }] }
  const folder = await folderOf(people, {
    'hash.json': hashing,
    'auth.json': {
      users: [
        account('ada', { ...moved, emailVerified: true, lastSignedInAt: '1608893925000' }),
        account('bo', google),
        account('cy', { ...moved, disabled: true }),
        account('di', { passwordHash: 'fakeHash:salt=1:password=secret', salt: 'x' }),
        account('stranger', moved),
      ],
    },
  })
  const dry = await run(app, folder, { isDryRun: true })
  const { accounts } = await run(app, folder)
  expect(accounts).toEqual({
    read: 5,
    new: 2,
    changed: 0,
    unchanged: 2,
    refused: 1,
    unverified: 4,
    withoutDocument: 1,
    usersWithoutAccount: 1,
    kept: { count: 0, documents: [] },
    reasons: { 'the hash is one of the emulator (fakeHash:), which checks no password': { count: 1, documents: ['auth/di'] } },
    disabled: { count: 1, documents: ['auth/cy'] },
    withoutPassword: {
      count: 2,
      users: [
        {
          id: 'bo',
          email: 'bo@gmail.com',
          providers: ['google.com'],
          link: expect.stringMatching(/^\/set-password\?link=/) as unknown,
        },
        { id: 'di', email: 'di@gmail.com', providers: [], link: expect.any(String) as unknown },
      ],
    },
  })
  const withoutLinks = accounts!.withoutPassword.users.map(({ link: _link, ...user }) => user)
  expect(dry.accounts).toEqual({ ...accounts, withoutPassword: { count: 2, users: withoutLinks } })

  const signIn = (email: string) => app.guest.call('POST', '/api/session', { email, password: MOVED_PASSWORD })
  expect(await signIn('ada@gmail.com')).toMatchObject({ status: 200, body: { user: { id: 'ada', userType: 'admin' } } })
  expect((await signIn('cy@gmail.com')).status).toBe(401)
  expect((await signIn('stranger@gmail.com')).body.message).toBe('No such document!')
  const stored = await app.database.db
    .selectFrom('users')
    .select(['created_at', 'last_seen_at'])
    .where('id', '=', 'bo')
    .executeTakeFirst()
  expect(stored).toEqual({ created_at: new Date(1508893925000), last_seen_at: null })
  const { rows: made } = await sql`select record_id from audit_trail where action = 'user.password-link' order by 1`.execute(
    app.database.db,
  )
  expect(made).toEqual([{ record_id: 'bo' }, { record_id: 'di' }])
  const again = await run(app, folder)
  expect(again.accounts).toMatchObject({ new: 0, changed: 0, kept: { count: 1, documents: ['auth/ada'] } })
  expect(again.accounts!.withoutPassword.users[0]).not.toHaveProperty('link')
})

test('with the signer key of another project sign-ins fail as with a wrong password, nobody is locked out, and the right key mends it', async () => {
  const app = await testApp({ rateLimit: true })
  const foreign = { ...hashing, base64_signer_key: hashing.base64_signer_key.replace('jxsp', 'jxsq') }
  const people = { 'users/ada': person('ada', 'admin') }
  const accounts = { users: [account('ada', moved)] }
  expect((await run(app, await folderOf(people, { 'hash.json': foreign, 'auth.json': accounts }))).accounts?.new).toBe(1)
  const signIn = () => app.guest.call('POST', '/api/session', { email: 'ada@gmail.com', password: MOVED_PASSWORD })
  expect(await signIn()).toMatchObject({ status: 401 })
  expect(await signIn()).toMatchObject({ status: 401 })
  const again = await run(app, await folderOf(people, { 'hash.json': hashing, 'auth.json': accounts }))
  expect(again.accounts).toMatchObject({ read: 1, new: 0, changed: 1, refused: 0 })
  expect(await signIn()).toMatchObject({ status: 200, body: { user: { id: 'ada' } } })
})

test('accounts that cannot be stored or used are refused one by one, and the others move in', async () => {
  const app = await testApp()
  const folder = await folderOf(
    { 'users/ada': person('ada', 'admin'), 'users/short': person('short'), 'users/salty': person('salty') },
    {
      'hash.json': hashing,
      'auth.json': {
        users: [
          account('nul\0', moved),
          account('\ud800', moved),
          account('mail', { ...moved, email: 'u\0@gmail.com' }),
          account('x'.repeat(129), moved),
          account('short', { ...moved, passwordHash: 'AA==' }),
          account('salty', { ...moved, salt: 'A'.repeat(100_000) }),
          account('ada', { ...moved, email: 'ada@gmail.com' }),
          account('ada', { ...moved, email: 'second@gmail.com' }),
        ],
      },
    },
  )
  const { accounts } = await run(app, folder)
  expect(accounts).toMatchObject({ read: 8, new: 1, refused: 7, withoutPassword: { count: 2 } })
  expect(accounts!.reasons).toEqual({
    'localId or email has a character that cannot be stored': { count: 3, documents: ['auth/nul\0', 'auth/\ud800', 'auth/mail'] },
    'localId is longer than 128 characters': { count: 1, documents: [`auth/${'x'.repeat(129)}`] },
    'passwordHash has another length than the signer key, so it is of another project or damaged': {
      count: 1,
      documents: ['auth/short'],
    },
    'salt is longer than 1024 characters': { count: 1, documents: ['auth/salty'] },
    'An earlier account has the same localId': { count: 1, documents: ['auth/ada'] },
  })
})

test.each([
  [
    'auth.json that ends too early',
    { 'auth.json': '{"users": [{"localId": "ada"', 'hash.json': hashing },
    'ends in the middle of its JSON',
  ],
  ['auth.json with a name that is not JSON', { 'auth.json': '{"us\u0001ers": []}', 'hash.json': hashing }, 'is not valid JSON'],
  [
    'auth.json with 200,000 levels',
    { 'auth.json': `{"users": [{"localId": "a", "x": ${'['.repeat(200_000)}` },
    'more than 200 levels',
  ],
  ['no hash.json', { 'auth.json': { users: [account('ada', moved)] } }, 'hash.json cannot be read'],
  [
    'a wrong hash.json',
    { 'auth.json': { users: [account('ada', moved)] }, 'hash.json': { ...hashing, rounds: 0 } },
    'from 1 to 64',
  ],
])('%s ends the command before anything is written', async (_what, files, message) => {
  const app = await testApp()
  const folder = await folderOf({ 'users/ada': person('ada', 'admin') }, files)
  await expect(run(app, folder)).rejects.toThrow(message)
  const { rows } = await sql`select id from users`.execute(app.database.db)
  expect(rows).toEqual([])
})

test('files of announcements move in from a copy of the bucket; missing and unacceptable ones are named, their documents load', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const news = (title: string, more = {}) => ({
    type: 'desc',
    title,
    subtitle: 'S',
    reward: 1,
    status: false,
    createdAt: created,
    ...more,
  })
  const address = (name: string) =>
    `https://firebasestorage.googleapis.com/v0/b/game.appspot.com/o/${encodeURIComponent(name)}?alt=media&token=1`
  const folder = await folderOf({
    'announcements/a': news('A', { image: address('announcements/17_Grüße 1.png'), imageName: 'Grüße 1.png', icon: null }),
    'announcements/b': news('B', {
      image: 'gs://game.appspot.com/announcements/18_b.png',
      icon: address('announcements/19_gone.png'),
    }),
    'announcements/c': news('C', { image: address('announcements/20_text.png') }),
    'announcements/d': news('D', { image: address('../auth.json'), icon: 'https://example.org/x.png' }),
    'announcements/e': news('E', { image: address('announcements/link.png') }),
  })
  await mkdir(path.join(folder, 'storage/game.appspot.com/announcements'), { recursive: true })
  const put = (name: string, bytes: Uint8Array | string) =>
    writeFile(path.join(folder, 'storage/game.appspot.com/announcements', name), bytes)
  await put('17_Grüße 1.png', png)
  await put('18_b.png', png)
  await put('20_text.png', 'no image')
  await symlink(
    path.join(folder, 'storage/game.appspot.com/announcements/18_b.png'),
    path.join(folder, 'storage/game.appspot.com/announcements/link.png'),
  )
  const dry = await run(app, folder, { isDryRun: true })
  const report = await run(app, folder)
  expect(report.files).toEqual({
    read: 7,
    new: 2,
    unchanged: 0,
    missing: [
      { document: 'announcements/b', file: address('announcements/19_gone.png') },
      { document: 'announcements/e', file: address('announcements/link.png') },
    ],
    refused: [
      { document: 'announcements/c', file: address('announcements/20_text.png'), reason: expect.any(String) as unknown },
      { document: 'announcements/d', file: address('../auth.json'), reason: 'This is no address of a file in Firebase' },
      { document: 'announcements/d', file: 'https://example.org/x.png', reason: 'This is no address of a file in Firebase' },
    ],
  })
  expect(dry.files).toEqual(report.files)
  expect(counts(report)['announcements']).toEqual([5, 5, 0, 0, 0])
  const stored = await app.database.db
    .selectFrom('announcements')
    .select(['id', 'image_key', 'image_name'])
    .orderBy('id')
    .execute()
  expect(stored.map(({ image_name: name }) => name)).toEqual(['Grüße 1.png', '18_b.png', null, null, null])
  const served = await download(app, admin, stored[0]!.image_key!)
  expect(served).toMatchObject({ status: 200 })

  expect((await run(app, folder)).files).toMatchObject({ new: 0, unchanged: 2 })
  await put('21_b.png', png)
  await firestore.writeExport(path.join(folder, 'firestore_export'), {
    files: [{ 'announcements/b': news('B', { image: address('announcements/21_b.png') }) }],
  })
  expect((await run(app, folder)).files).toMatchObject({ new: 1, unchanged: 0 })
  expect((await download(app, admin, stored[1]!.image_key!)).status).toBe(404)
})
