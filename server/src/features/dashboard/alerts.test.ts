import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { permissions } from '@arcade/contract/team/permissions'
import { backupState } from '#src/backup/state.ts'
import type { Database } from '#src/db/database.ts'
import type { ReplicaState } from '#src/postgres/replica-watch.ts'
import { testApp } from '#test/test-app.ts'
import { testDatabase } from '#test/test-database.ts'
import { createAlerts } from './alerts.ts'

const GB = 1024 ** 3

/** @param times when backups are scheduled; never by default */
function backupsOf(database: Database, times?: string) {
  return { state: () => backupState(database, { address: '/tmp/none', times, keep: 2 }) }
}

test('What needs you: nothing if all is well', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const { body } = await admin.call('GET', '/api/alerts')
  // The disk of the machine that runs the tests may be nearly full.
  expect(body.alerts.filter(({ about }: { about: string }) => about !== 'disk')).toEqual([])
})

test('What needs you: webhooks that were switched off or have failed for an hour, without the rest of their addresses', async () => {
  const database = await testDatabase()
  await sql`insert into webhooks (id, url, events, secret, failing_since, switched_off_at, alert) values
    ('a', 'https://fine.example.org/?key=secret', '{}', '', null, null, null),
    ('b', 'https://new.example.org/', '{}', '', now() - interval '59 minutes', null, null),
    ('c', 'https://hours.example.org/?key=secret', '{}', '', now() - interval '185 minutes', null, null),
    ('d', 'https://hour.example.org/', '{}', '', now() - interval '61 minutes', null, null),
    ('e', 'https://by-hand.example.org/', '{}', '', null, now(), null),
    ('f', 'https://gone.example.org/?key=secret', '{}', '', now(), now(), 'It answered that it is gone.')`.execute(database.db)
  const alerts = await createAlerts({
    database: { ...database, writableBytes: async () => Infinity },
    backups: backupsOf(database),
  }).read(permissions)
  expect(alerts).toEqual([
    { id: 'webhook f', about: 'webhook', text: 'The webhook to gone.example.org: It answered that it is gone.' },
    {
      id: 'webhook c',
      about: 'webhook',
      text: 'The webhook to hours.example.org: It has failed for 3 hours. After a day it is switched off.',
    },
    {
      id: 'webhook d',
      about: 'webhook',
      text: 'The webhook to hour.example.org: It has failed for an hour. After a day it is switched off.',
    },
  ])
})

test('What needs you: broadcasts that the console paused by itself', async () => {
  const database = await testDatabase()
  await sql`insert into broadcasts (id, number, announcement_id, title, filter, state, is_paused, problem) values
    ('a', 1, 'x', 'Fine', '{}', 'sending', false, null),
    ('b', 2, 'x', 'By hand', '{}', 'sending', true, null),
    ('c', 3, 'x', 'News', '{}', 'sending', true, 'The image is gone.'),
    ('d', 4, 'x', 'Over', '{}', 'cancelled', false, 'It was deleted.')`.execute(database.db)
  const alerts = createAlerts({ database: { ...database, writableBytes: async () => Infinity }, backups: backupsOf(database) })
  expect(await alerts.read(permissions)).toEqual([
    { id: 'broadcast c', about: 'broadcast', text: 'The broadcast News is paused: The image is gone.' },
  ])
})

test.each([
  [Infinity, []],
  [2 * GB, []],
  [100.5 * 1024 ** 2, ['The disk has room for only 100 MB more. Then nothing can be changed.']],
  [-1, ['The disk is full: nothing can be changed until there is room again.']],
])('What needs you: with room for %d bytes: %j', async (room, texts) => {
  const database = await testDatabase()
  const alerts = createAlerts({ database: { ...database, writableBytes: async () => room }, backups: backupsOf(database) })
  expect((await alerts.read(permissions)).map(({ text }) => text)).toEqual(texts)
})

test.each([
  [{ status: 'in use', isUsed: true, lagSeconds: 0.1 }, []],
  [{ status: 'is too far behind', isUsed: false, lagSeconds: 4 }, []],
  [{ status: 'is too far behind', isUsed: false, lagSeconds: 40 }, ['The replica is not used: it is too far behind.']],
  [{ status: 'cannot be reached', isUsed: false, lagSeconds: Infinity }, ['The replica is not used: it cannot be reached.']],
])('What needs you: a replica that %j: %j', async (state, texts) => {
  const database = await testDatabase()
  const replica = { state: (): ReplicaState => ({ ...state, answered: 0, failed: 0 }), lsn: async () => '' }
  const alerts = createAlerts({
    database: { ...database, replica, writableBytes: async () => Infinity },
    backups: backupsOf(database),
  })
  expect((await alerts.read(permissions)).map(({ text }) => text)).toEqual(texts)
})

test('What needs you: a missing backup is one alert', async () => {
  const database = await testDatabase()
  await sql`insert into backups (id, place, is_scheduled, started_at, error) values ('x', 'p', true, now(), 'no room')`.execute(
    database.db,
  )
  const backups = backupsOf(database, '0 3 * * *')
  const alerts = createAlerts({ database: { ...database, writableBytes: async () => Infinity }, backups })
  expect(await alerts.read(permissions)).toEqual([
    { id: 'backups', about: 'backups', text: 'The last scheduled backup failed: no room' },
  ])
})
