/** Searching an item's participants (§2 /history): a scan of the list and the index of players give the same result. */
import { expect, test } from 'vitest'
import { sql } from 'kysely'
import type { HistoryParticipant } from '@arcade/contract/history/fields'
import { addCount } from '#test/activity.ts'
import { auditTrail } from '#test/audit-trail.ts'
import { readSheets } from '#test/read-sheets.ts'
import { type Client, testApp } from '#test/test-app.ts'

const path = '/api/history/social/t/participants'

/** Returns all that a search finds, reading forwards and then back from the last page. */
async function found(client: Client, search: string): Promise<{ ids: number[]; total: number }> {
  const read = async (extra: Record<string, string>) => {
    const answer = await client.call('GET', `${path}?${new URLSearchParams({ search, ...extra }).toString()}`)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    return answer.body as { participants: HistoryParticipant[]; total: number; after: string | null; before: string | null }
  }
  const idsOf = (page: { participants: HistoryParticipant[] }) => page.participants.map(({ id }) => id)
  let page = await read({})
  const ids = idsOf(page)
  while (page.after !== null) {
    page = await read({ after: page.after })
    ids.push(...idsOf(page))
    expect(page.total).toBe(ids.length > page.total ? -1 : page.total)
  }
  const back = idsOf(page)
  while (page.before !== null) {
    page = await read({ before: page.before })
    back.unshift(...idsOf(page))
  }
  expect(back).toEqual(ids)
  return { ids, total: page.total }
}

for (const participants of [400, 21_000]) {
  test(`Lists: participants are found by part of a name or by whole id, of ${participants}`, async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const { db } = app.database
    await sql`insert into history_items (kind, item_id, title, type, reward) values ('social', 't', 'T', 'twitter', 1)`.execute(
      db,
    )
    await sql`insert into telegram_users (user_id, username, first_name, email)
      select n, 'moon_' || n, case when n % 4 = 0 then 'Виктор' else 'Sky' end, 'rare' || n || '@example.org' from generate_series(1, ${sql.lit(participants)}) n`.execute(
      db,
    )
    await sql`insert into participations (user_id, kind, item_id, username, first_name, last_name, at)
      select user_id, 'social', 't', username, first_name, null, timestamptz '2026-01-01' + user_id / 7 * interval '1 minute' from telegram_users`.execute(
      db,
    )
    await addCount(app.database, { of: 'participants', kind: 'social', itemId: 't' }, participants)
    await sql`analyze telegram_users, participations`.execute(db)
    const all = Array.from({ length: participants }, (_, index) => index + 1)
    const newestFirst = (ids: number[]) => ids.toSorted((a, b) => Math.floor(b / 7) - Math.floor(a / 7) || a - b)

    const some = newestFirst(all.filter((n) => `moon_${n}`.includes('oon_3') && n < 400))
    const few = await found(admin, participants > 400 ? 'moon_39' : 'OON_3')
    const expected = participants > 400 ? newestFirst(all.filter((n) => `moon_${n}`.includes('moon_39'))) : some
    expect(few).toEqual({ ids: expected, total: expected.length })
    expect(await found(admin, '377')).toMatchObject({ ids: newestFirst(all.filter((n) => String(n).includes('377'))) })
    expect(await found(admin, 'rare')).toEqual({ ids: [], total: 0 })
    const common = await admin.call('GET', `${path}?${new URLSearchParams({ search: 'виктор' }).toString()}`)
    expect(common.body).toMatchObject({ total: Math.floor(participants / 4) })
    expect(common.body.participants).toHaveLength(50)
    expect((await admin.call('GET', '/api/history/social/none/participants?search=x')).status).toBe(404)
  })
}

test('Lists: a download with a search has only the participants that the page shows, and a name that says so', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const { db } = app.database
  await sql`insert into history_items (kind, item_id, title, type, reward) values ('social', 'so1', 'Follow us', 'twitter', 1)`.execute(
    db,
  )
  await sql`insert into participations (user_id, kind, item_id, username, at)
      select n, 'social', 'so1', (array['moon_1', 'sun_2', 'Moon_3', 'sun_4', null])[n], timestamptz '2026-01-01' - n * interval '1 minute'
        from generate_series(1, 5) n`.execute(db)
  await addCount(app.database, { of: 'participants', kind: 'social', itemId: 'so1' }, 5)
  const data = { kind: 'social', id: 'so1', search: 'moon' }
  const answer = await admin.call('POST', '/download-history', { data })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-disposition')).toMatch(
    /^attachment; filename="history-Follow-us-filtered-\d{4}-\d\d-\d\d\.xlsx"$/,
  )
  const rowsOf = (body: ArrayBuffer) => Object.values(readSheets(body))[0]!
  expect(answer.headers.get('x-row-count')).toBe('2')
  expect(rowsOf(answer.body).map((row) => row.slice(0, 2))).toEqual([
    ['ID', 'Username'],
    [1, 'moon_1'],
    [3, 'Moon_3'],
  ])
  const none = await admin.call('POST', '/download-history', { data: { ...data, search: 'nobody' } })
  expect(rowsOf(none.body)).toHaveLength(1)
  const blank = await admin.call('POST', '/download-history', { data: { ...data, search: ' ' } })
  expect(blank.headers.get('content-disposition')).toBe('attachment; filename="data.xlsx"')
  expect(rowsOf(blank.body)).toHaveLength(6)
  const entries = await auditTrail(app.database.db, 'export')
  expect(entries.map(({ detail }) => detail)).toContainEqual({ filter: { search: 'moon' }, format: 'xlsx', rows: 2 })
})
