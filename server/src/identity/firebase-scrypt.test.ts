/** Passwords from Firebase: the published vector, bounds, and the first sign-in. */
import { expect, test } from 'vitest'
import { sql } from 'kysely'
import { pino } from 'pino'
import { secretKey } from '#src/webhooks/secret-key.ts'
import { PASSWORD, testApp } from '#test/test-app.ts'
import { checkFirebaseHash, isFirebasePassword, readFirebaseHashing } from './firebase-scrypt.ts'
import { writeMovedAccounts } from './moved-accounts.ts'

/** The example of github.com/firebase/scrypt, README. */
const CONFIG = `hash_config {
  algorithm: SCRYPT,
  base64_signer_key: jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==,
  base64_salt_separator: Bw==,
  rounds: 8,
  mem_cost: 14,
}`
const hashing = readFirebaseHashing(CONFIG)
const moved = {
  salt: '42xEC+ixf3L2lw==',
  hash: 'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
}

test('the vector of firebase/scrypt is verified, in both alphabets of base64', async () => {
  const urlSafe = (text: string): string => text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
  expect(await isFirebasePassword('user1password', hashing, moved)).toBe(true)
  expect(await isFirebasePassword('user1passwore', hashing, moved)).toBe(false)
  expect(await isFirebasePassword('user1password', hashing, undefined)).toBe(false)
  const other = { ...hashing, signerKey: urlSafe(hashing.signerKey) }
  const again = { salt: urlSafe(moved.salt), hash: urlSafe(moved.hash) }
  checkFirebaseHash(again)
  expect(await isFirebasePassword('user1password', other, again)).toBe(true)
})

test('parameters are read as JSON, too, and costly or foreign ones are refused', () => {
  const { signerKey, saltSeparator } = hashing
  const named = { base64_signer_key: signerKey, base64_salt_separator: saltSeparator, rounds: 8, mem_cost: 14 }
  expect(readFirebaseHashing(JSON.stringify(named))).toEqual(hashing)
  expect(readFirebaseHashing(JSON.stringify({ hash_config: named }, null, 2))).toEqual(hashing)
  expect(() => readFirebaseHashing(JSON.stringify({ ...named, mem_cost: 15 }))).toThrow(
    'rounds 8 with mem_cost 15 take more than',
  )
  expect(() => readFirebaseHashing(JSON.stringify({ ...named, rounds: 16 }))).toThrow('take more than')
  expect(() => readFirebaseHashing('{"rounds": 8}')).toThrow('base64_signer_key is missing')
  expect(() => readFirebaseHashing(CONFIG.replace('SCRYPT', 'BCRYPT'))).toThrow('the algorithm BCRYPT is not SCRYPT')
  expect(() => checkFirebaseHash({ hash: 'fakeHash:salt=x:password=secret', salt: 'x' })).toThrow('fakeHash:')
  expect(() => checkFirebaseHash({ ...moved, hash: 'not base64!' })).toThrow('passwordHash is not base64')
})

async function appWithMoved(options: Parameters<typeof testApp>[0] = {}) {
  const app = await testApp(options)
  const { id } = await app.signUp('user')
  const email = 'user1@gmail.com'
  await app.database.db.deleteFrom('accounts').where('id', '=', id).execute()
  await app.database.db.updateTable('users').set({ email }).where('id', '=', id).execute()
  const account = { id, email, ...moved, createdAt: null, lastSignInAt: null }
  const write = (changes = {}) =>
    app.database.transaction((tx) =>
      writeMovedAccounts(tx, { accounts: [{ ...account, ...changes }], hashing, secretKey: secretKey('of the tests') }),
    )
  const signIn = (password: string) => app.guest.call('POST', '/api/session', { email, password })
  const stored = async () =>
    (await app.database.db.selectFrom('accounts').select('password_hash').where('id', '=', id).executeTakeFirstOrThrow())
      .password_hash
  return { app, write, signIn, stored, id }
}

test('security: a first sign-in with the password of Firebase stores argon2id, also of several at once; the parameters are encrypted', async () => {
  const { app, write, signIn, stored } = await appWithMoved()
  expect(await write()).toEqual({ added: 1, changed: 0, kept: [], taken: [] })
  expect(await write()).toEqual({ added: 0, changed: 0, kept: [], taken: [] })
  const { rows } = await sql<{ value: Buffer }>`select value from secrets where name like 'firebase-hashing:%'`.execute(
    app.database.db,
  )
  expect(rows).toHaveLength(1)
  expect(rows[0]!.value.toString('latin1')).not.toContain(hashing.signerKey.slice(0, 8))

  expect((await signIn('user1passwore')).status).toBe(401)
  expect(await stored()).toContain('$firebase-scrypt$')
  const answers = await Promise.all([1, 2, 3].map(() => signIn('user1password')))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(await stored()).toMatch(/^\$argon2id\$/)
  expect((await signIn('user1password')).status).toBe(200)
  expect((await signIn('user1passwore')).status).toBe(401)
})

test('moving in again keeps a password that the console has, brings one that changed in Firebase, and refuses a taken e-mail', async () => {
  const { app, write, signIn, stored, id } = await appWithMoved()
  await write({ salt: 'AAAA' })
  expect((await signIn('user1password')).status).toBe(401)
  expect(await write()).toMatchObject({ added: 0, changed: 1 })
  expect((await signIn('user1password')).status).toBe(200)
  const own = await stored()
  expect(await write({ salt: 'AAAA' })).toEqual({ added: 0, changed: 0, kept: [id], taken: [] })
  expect(await stored()).toBe(own)
  expect(await write({ id: 'another', email: 'USER1@gmail.com' })).toEqual({ added: 0, changed: 0, kept: [], taken: ['another'] })

  await app.passwords.sweep()
  expect((await sql`select from secrets where name like 'firebase-hashing:%'`.execute(app.database.db)).rows).toEqual([])
  expect((await signIn('user1password')).status).toBe(200)
})

test('security: if another SECRET_KEY encrypted the parameters, only own passwords sign in; the log says so once', async () => {
  const logged: { level: number; msg: string }[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void logged.push(JSON.parse(line) as (typeof logged)[0]) })
  const { app, write, signIn } = await appWithMoved({ log })
  await write()
  await app.signUp('user', 'own@gmail.com')
  const signInWithOwn = (password: string) => app.guest.call('POST', '/api/session', { email: 'own@gmail.com', password })
  await sql`update secrets set value = ${secretKey('another').encrypt('{}')} where name like 'firebase-hashing:%'`.execute(
    app.database.db,
  )
  expect((await signInWithOwn(PASSWORD)).status).toBe(200)
  const refused = await signInWithOwn('wrong password')
  expect(refused.status).toBe(401)
  expect(await signIn('user1password')).toMatchObject({
    status: 401,
    body: { ...refused.body, requestId: expect.any(String) as string } as object,
  })
  expect(logged).toMatchObject([
    {
      level: 50,
      msg: 'Passwords from Firebase cannot be checked, because their hash parameters were encrypted with another SECRET_KEY',
    },
  ])
  // Moving in again encrypts them with the present key.
  await write()
  expect((await signIn('user1password')).status).toBe(200)
})
