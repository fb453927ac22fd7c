/** What the game sees of tasks and announcements with dates and limits (design §7): only what is live. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { testApp, type TestApp } from '#test/test-app.ts'

/** Reads what a player sees: the ids of tasks and announcements, and whether there is news. */
async function seenBy(app: TestApp) {
  const player = app.player(7)
  const ids = (rows: { id: string }[]) => rows.map(({ id }) => id).toSorted()
  const [tasks, daily, announcements, own] = await Promise.all(
    ['/tasks?collection=social', '/tasks?collection=daily', '/announcements', ''].map((path) =>
      player.call('GET', `/bot/v1/players/me${path}`),
    ),
  )
  return {
    tasks: ids(tasks!.body.tasks),
    daily: ids(daily!.body.tasks),
    announcements: ids(announcements!.body.announcements),
    hasNews: own!.body.hasNews as boolean,
  }
}

test('design §7 a player sees the tasks and announcements that are live, and no others', async () => {
  const app = await testApp()
  const { db } = app.database
  await (await app.bot()).call('PUT', '/bot/v1/players/7', { firstName: 'Ada' })
  const states = {
    plain: '',
    begun: `starts_at = now() - interval '1 minute', ends_at = now() + interval '1 minute'`,
    limited: `max_participants = 5, daily_budget = 5, budget_spent_on = (now() at time zone 'UTC')::date - 1`,
    over: `ends_at = now()`,
    full: `full_at = now()`,
    spent: `budget_spent_on = (now() at time zone 'UTC')::date`,
  }
  for (const [id, change] of Object.entries({
    ...states,
    early: `starts_at = now() + interval '1 minute'`,
    paused: 'paused = true',
  }))
    for (const collection of ['social', 'daily']) {
      await sql`insert into tasks (collection, id, image, priority, title, reward)
        select ${collection}, ${id}, 'twitter', count(*), ${id}, 5 from tasks`.execute(db)
      if (change) await sql.raw(`update tasks set ${change} where id = '${id}'`).execute(db)
    }
  for (const [id, change] of Object.entries({
    ...states,
    draft: 'status = false',
    waits: 'status = false, start_pending = true',
  })) {
    await sql`insert into announcements (id, type, title, subtitle, reward, status) values (${id}, 'desc', ${id}, '', 5, true)`.execute(
      db,
    )
    if (change) await sql.raw(`update announcements set ${change} where id = '${id}'`).execute(db)
  }
  const live = ['begun', 'limited', 'plain']
  expect(await seenBy(app)).toEqual({ tasks: live, daily: live, announcements: live, hasNews: false })
})

test('design §7 an announcement that is over or full is no news any more', async () => {
  const app = await testApp()
  const { db } = app.database
  await (await app.bot()).call('PUT', '/bot/v1/players/7', { firstName: 'Ada' })
  await sql`update status_epoch set epoch = 1`.execute(db)
  await sql`insert into announcements (id, type, title, subtitle, reward, status, news) values ('a', 'desc', 'A', '', 5, true, 1)`.execute(
    db,
  )
  expect((await seenBy(app)).hasNews).toBe(true)
  await sql`update announcements set ends_at = now()`.execute(db)
  expect((await seenBy(app)).hasNews).toBe(false)
  await sql`update announcements set ends_at = null, full_at = now()`.execute(db)
  expect((await seenBy(app)).hasNews).toBe(false)
})
