/** Calls that are stuck, and others that must not be affected. */
import { expect, test } from 'vitest'
import { SERVER_LIMITS } from '#src/db/database.ts'
import { testApp } from '#test/test-app.ts'
import { waitFor } from '#test/processes.ts'
import { openAgain } from '#test/test-database.ts'

const READERS = 40
const UNRELATED = ['/api/users', '/api/telegram-users', '/api/announcements', '/api/session', '/readyz']

test('security: a locked table delays only calls that read it: they get 503 after a short wait, others are answered', async () => {
  const database = await openAgain({ limits: SERVER_LIMITS })
  const app = await testApp({ database })
  const admin = await app.signUp('admin')
  const holder = await openAgain({ use: 'command' }) // without time limits
  const isOver = Promise.withResolvers<void>()
  const isLocked = Promise.withResolvers<void>()
  const holding = holder.transaction(async (tx) => {
    await tx.schema.alterTable('tasks').addColumn('spare', 'integer').execute()
    isLocked.resolve()
    await isOver.promise
    throw new Error('taken back')
  })
  await isLocked.promise

  let ended = 0
  const statuses: number[] = []
  const readers = Array.from({ length: READERS }, async (_, reader) => {
    while (ended === 0) {
      const path = reader % 2 ? '/api/social-tasks' : '/api/daily-tasks'
      statuses.push((await admin.call('GET', path)).status)
    }
  })
  await waitFor('readers who gave up', () => statuses.length > READERS)
  const unrelated: string[] = []
  for (let round = 0; round < 5; round += 1)
    for (const path of UNRELATED) unrelated.push(`${path} ${(await admin.call('GET', path)).status}`)
  ended = 1
  await Promise.all(readers)
  isOver.resolve()
  await expect(holding).rejects.toThrow('taken back')

  expect(unrelated.filter((answer) => !answer.endsWith(' 200'))).toEqual([])
  expect(new Set(statuses)).toEqual(new Set([503]))
  expect((await admin.call('GET', '/api/social-tasks')).status).toBe(200)
})
