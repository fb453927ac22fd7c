import { expect, onTestFinished, test } from 'vitest'
import { diskStore } from '#src/files/disk.ts'
import { Failure } from '#src/calls.ts'
import { destroy } from '#src/postgres/connections.ts'
import { temporaryDataDir, waitFor } from '#test/processes.ts'
import { type TestApp, testApp } from '#test/test-app.ts'
import { countLockWaits } from '#test/test-database.ts'
import { png } from '#test/test-images.ts'
import { whileAllowed } from './still-signed-in.ts'

const TASK = { type: 'twitter', title: 'Follow us', priority: 1, reward: 5 }

/** Locks a task until `release`. */
async function holdTask({ database }: TestApp, id: string): Promise<{ release: () => Promise<void> }> {
  const holder = await database.connect('holder')
  onTestFinished(() => destroy(holder))
  await holder.query('begin')
  await holder.query('select from tasks where id = $1 for update', [id])
  return { release: async () => void (await holder.query('rollback')) }
}

test('security: an act that waited for a lock is refused if its person lost the right to it meanwhile', async () => {
  const app = await testApp()
  const [boss, ada] = [await app.signUp('owner'), await app.signUp('manager')]
  const { id } = (await boss.call('POST', '/api/social-tasks', TASK)).body
  const held = await holdTask(app, id)
  const removing = ada.call('DELETE', `/api/social-tasks/${id}`)
  await waitFor('the act to wait', async () => (await countLockWaits(app.database.db, '%tasks%')) === 1)
  expect((await boss.call('PUT', `/api/users/${ada.id}/role`, { role: 'analyst' })).status).toBe(200)
  await held.release()
  expect((await removing).status).toBeOneOf([401, 503]) // 503 if it has waited for too long
  expect((await boss.call('GET', `/api/social-tasks/${id}`)).status).toBe(200)
})

test('security: an act that waited for a lock is refused if its person may not see personal fields any more', async () => {
  const app = await testApp()
  const [boss, ada] = [await app.signUp('owner'), await app.signUp('manager')]
  const { id } = (await boss.call('POST', '/api/social-tasks', TASK)).body
  const { roles } = (await boss.call('GET', '/api/roles')).body
  const { settings } = (roles as { role: string; settings: object }[]).find(({ role }) => role === 'manager')!
  const held = await holdTask(app, id)
  const removing = ada.call('DELETE', `/api/social-tasks/${id}`)
  await waitFor('the act to wait', async () => (await countLockWaits(app.database.db, '%tasks%')) === 1)
  const seesPersonal = false
  expect((await boss.call('PUT', '/api/roles/manager', { ...settings, seesPersonal })).status).toBe(200)
  await held.release()
  expect(await removing).toMatchObject({ status: 403, body: { message: expect.stringContaining('players.personal') as string } })
  expect((await ada.call('DELETE', `/api/social-tasks/${id}`)).status).toBe(200)
})

test('security: an upload whose body is still being sent when its person is demoted stores nothing', async () => {
  const directory = await temporaryDataDir()
  const stored: string[] = []
  const store = diskStore(directory)
  const app = await testApp({
    fileStore: {
      ...store,
      put(key, ...rest) {
        stored.push(key)
        return store.put(key, ...rest)
      },
    },
  })
  const [boss, ada] = [await app.signUp('owner'), await app.signUp('manager')]
  const half = Math.floor(png.byteLength / 2)
  const demoted = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        asked.resolve() // the server reads the body only after it has found out who sends it
        await demoted.promise
        controller.enqueue(png.subarray(0, half))
        controller.enqueue(png.subarray(half))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const headers = { ...ada.headers, 'content-type': 'image/png' }
  const uploading = app.fetch('/api/files/announcements?name=a.png', { method: 'POST', headers, body, duplex: 'half' })
  await asked.promise
  expect((await boss.call('PUT', `/api/users/${ada.id}/role`, { role: 'analyst' })).status).toBe(200)
  demoted.resolve()
  expect((await uploading).status).toBe(401)
  expect(stored).toEqual([])
})

test('security: of two sessions that end each other at once, one stays', async () => {
  const app = await testApp()
  const ada = await app.signUp('owner')
  for (let round = 0; round < 5; round += 1) {
    const cookies = await Promise.all([0, 1].map(async () => `session=${await app.sessions.begin(ada.id)}`))
    const answers = await Promise.all(
      cookies.map((cookie) => app.guest.call('DELETE', '/api/account/sessions', undefined, { cookie })),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 401]))
    const left = await app.database.db.selectFrom('sessions').select('id').where('user_id', '=', ada.id).execute()
    expect(left).toHaveLength(1)
  }
})

test('an act may end its own session', async () => {
  const app = await testApp()
  const ada = await app.signUp('owner')
  const [own] = (await ada.call('GET', '/api/account/sessions')).body.sessions
  expect((await ada.call('DELETE', `/api/account/sessions/${own.id}`)).status).toBe(200)
  expect((await ada.call('GET', '/api/account/sessions')).status).toBe(401)
})

test('what an act goes on doing after its answer is not checked any more', async () => {
  const app = await testApp()
  const { database, sessions } = app
  const { id: userId } = await app.signUp('owner')
  const begun = await database.db.selectFrom('sessions').select('id').where('user_id', '=', userId).executeTakeFirstOrThrow()
  const permission = {
    session: { userId, sessionId: begun.id },
    refuse() {
      throw new Failure('FORBIDDEN')
    },
  }
  const answered = Promise.withResolvers<void>()
  let later: Promise<string> | undefined
  const act = whileAllowed({ database, sessions }, permission, async () => {
    later = answered.promise.then(() => database.transaction(async () => 'done'))
  })
  await expect(act).rejects.toMatchObject({ code: 'FORBIDDEN' })
  answered.resolve()
  expect(await later).toBe('done')
})
