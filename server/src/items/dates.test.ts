/** Acts on the dates of items that meet other acts on the same items. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { auditTrail } from '#test/audit-trail.ts'
import { testApp } from '#test/test-app.ts'
import { endNow } from './dates.ts'

test.each([
  ['social', '/api/social-tasks', 'task.end'],
  ['announcement', '/api/announcements', 'announcement.end'],
] as const)(
  'design §7 an item (%s) that was ended after another end had begun is not ended again',
  async (kind, path, action) => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const { db } = app.database
    await db
      .insertInto('tasks')
      .values({ collection: 'social', id: 't', image: 'x', priority: 1, title: 'T', reward: 1 })
      .execute()
    await db
      .insertInto('announcements')
      .values({ id: 't', type: 'desc', title: 'T', subtitle: '', reward: 1, status: true })
      .execute()
    const again = await app.database.transaction(async (tx) => {
      await sql`select now(), pg_sleep(0.01)`.execute(tx) // this transaction's time is before the end
      const ended = await admin.call('POST', `${path}/end`, { target: { ids: ['t'] }, expected: 1 })
      expect(ended).toMatchObject({ status: 200, body: { affected: 1 } })
      return endNow(tx, kind, sql<boolean>`true`)
    })
    expect(again).toEqual([])
    expect(await auditTrail(db, action)).toHaveLength(1)
  },
)
