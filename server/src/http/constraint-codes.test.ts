/** Every constraint of the database has an error code for callers, so that a violation is never a 500. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { PASSWORD, testApp } from '#test/test-app.ts'
import { testDatabase } from '#test/test-database.ts'
import { constraintCodes } from './constraint-codes.ts'
import { toFailure } from './failures.ts'

/** New constraints must be added to the list, and dropped ones removed from it. Not-null columns count as checks. */
test('design §6 each constraint and unique index of the schema has a code, and the list has no others', async () => {
  const { db } = await testDatabase()
  const { rows } = await sql<{ name: string; table: string }>`
    select c.relname as name, t.relname as table from pg_index i join pg_class c on c.oid = i.indexrelid
      join pg_class t on t.oid = i.indrelid where i.indisunique and t.relnamespace = 'public'::regnamespace
    union
    select conname, conrelid::regclass::text from pg_constraint
      where connamespace = 'public'::regnamespace and contype in ('c', 'f', 'p', 'u', 'x')`.execute(db)
  const ours = rows.filter(({ table }) => table !== 'migrations').map(({ name }) => name)
  expect(ours.length).toBeGreaterThan(20)
  expect(Object.keys(constraintCodes).toSorted()).toEqual(ours.toSorted())
  for (const constraint of ours) {
    const failure = toFailure(Object.assign(new Error('violated'), { code: '23505', constraint }))
    expect(failure.status, constraint).toBeLessThan(500)
  }
})

test('design §6 names with the number of a shard are recognised, also if Citus only has them in the message', () => {
  const onShard = Object.assign(new Error('violated'), { code: '23505', constraint: 'tasks_priority_key_102008' })
  expect(toFailure(onShard).code).toBe(constraintCodes.tasks_priority_key)
  const message = 'duplicate key value violates unique constraint "tasks_priority_key_102008"'
  expect(toFailure(Object.assign(new Error(message), { code: 'XX000' })).code).toBe(constraintCodes.tasks_priority_key)
  expect(toFailure(Object.assign(new Error('something else'), { code: 'XX000' })).status).toBe(500)
})

test('design §6 a null in a required column is refused as invalid input', async () => {
  const { db } = await testDatabase()
  const error: unknown = await sql`insert into setup_links (token_hash) values ('x')`
    .execute(db)
    .catch((reason: unknown) => reason)
  expect(toFailure(error)).toMatchObject({ code: 'INVALID_INPUT', status: 400 })
})

test('§8 a sign-in of a user who is removed meanwhile gets Error logging in!', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  for (let round = 0; round < 15; round += 1) {
    const email = `leaver${round}@gmail.com`
    const leaver = await app.signUp('user', email)
    const signIn = () => app.guest.call('POST', '/api/session', { email, password: PASSWORD })
    const signedIn = Array.from({ length: 3 }, signIn)
    const removed = await admin.call('DELETE', `/removeUser/${leaver.id}`)
    expect(removed.status).toBe(200)
    for (const { status, body } of await Promise.all(signedIn)) {
      expect([200, 401, 403], JSON.stringify(body)).toContain(status)
      expect([undefined, 'Error logging in!', 'No such document!']).toContain(body.message)
    }
  }
})

test('§8 a session for an account that is gone gets Error logging in!', async () => {
  const { sessions } = await testApp()
  const error: unknown = await sessions.begin('nobody').catch((reason: unknown) => reason)
  expect(toFailure(error)).toMatchObject({ code: 'LOGIN_FAILED', status: 401 })
})
