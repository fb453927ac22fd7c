/** The reader of `firebase auth:export`: accounts with and without passwords, and files that are no such export. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type AuthUser, readAuthUsers, readHashFile } from './auth-export.ts'

async function fileOf(text: string): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-move-in-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'auth.json')
  await writeFile(file, text)
  return file
}

async function read(content: unknown): Promise<AuthUser[]> {
  const users: AuthUser[] = []
  for await (const user of readAuthUsers(await fileOf(typeof content === 'string' ? content : JSON.stringify(content))))
    users.push(user)
  return users
}

test('accounts are read with providers, times and passwords', async () => {
  const [ada, bo, eve] = await read({
    users: [
      {
        localId: 'a,}]"\\é',
        email: 'ada@gmail.com',
        emailVerified: true,
        passwordHash: 'aGFzaA==',
        salt: 'c2Fs-_8=',
        createdAt: '1508893925000',
        lastSignedInAt: '1608893925000',
        providerUserInfo: [{ providerId: 'google.com', rawId: '1' }],
      },
      { localId: 'bo', phoneNumber: '+49', disabled: true, providerUserInfo: [] },
      { localId: 'eve', email: 'eve@gmail.com', passwordHash: 'fakeHash:salt=1:password=secret', salt: 'x', createdAt: 'never' },
    ],
  })
  expect(ada).toEqual({
    uid: 'a,}]"\\é',
    email: 'ada@gmail.com',
    isVerified: true,
    isDisabled: false,
    createdAt: '2017-10-25T01:12:05.000Z',
    lastSignInAt: '2020-12-25T10:58:45.000Z',
    providers: ['password', 'google.com'],
    password: { hash: 'aGFzaA==', salt: 'c2Fs-_8=' },
  })
  expect(bo).toMatchObject({ email: null, isDisabled: true, providers: ['phone'], createdAt: null })
  expect(bo).not.toHaveProperty('password')
  expect(eve).toMatchObject({ problem: expect.stringContaining('fakeHash:') as string })
})

test('a file of any size is read account by account', async () => {
  const users = Array.from({ length: 5000 }, (_, n) => ({ localId: `u${n}`, email: `u${n}@gmail.com`, displayName: '"{[\\' }))
  expect((await read(`\uFEFF${JSON.stringify({ kind: { users: [] }, users }, null, 2)}`)).map(({ uid }) => uid)).toEqual(
    users.map(({ localId }) => localId),
  )
})

test.each([
  ['uid,email\na,b', 'is not JSON. A CSV file does not say enough: run firebase auth:export auth.json --format=JSON.'],
  ['', 'is not JSON'],
  ['{"users": [{"localId": "a"}, {"email": "b"}]}', 'account 2 has no localId'],
  ['{"users": [{"localId": "a"}, {"email": ', 'ends in the middle of its JSON'],
  ['{"users": [{"localId": a}]}', 'account 1 is not valid JSON'],
])('%j is refused', async (text, reason) => {
  await expect(read(text)).rejects.toThrow(reason)
})

test('a missing or wrong file of hash parameters is named', async () => {
  await expect(readHashFile('/nowhere/hash.json')).rejects.toThrow('/nowhere/hash.json cannot be read')
  await expect(readHashFile(await fileOf('{}'))).rejects.toThrow('base64_signer_key is missing')
})
