/** Lists of announcements, and bulk calls for them: delete them with their files, or activate them, which is news to players once. */
import { describe, expect, test } from 'vitest'
import { auditTrail } from '#test/audit-trail.ts'
import { addCount } from '#test/activity.ts'
import { type Client, type TestApp, testApp } from '#test/test-app.ts'

const path = '/api/announcements'

async function opening(count = 6) {
  const app = await testApp()
  await app.database.db
    .insertInto('announcements')
    .values(
      Array.from({ length: count }, (_, index) => ({
        id: `a${index}`,
        type: index % 2 ? ('desc' as const) : ('link' as const),
        title: ['Beta', 'alpha', 'Gamma'][index % 3]!,
        subtitle: `sub ${index}`,
        link: index % 2 ? null : `https://x.com/${index}`,
        reward: [3, 1, 3][index % 3]!,
        status: index === 0,
        created_at: new Date(Date.UTC(2026, 0, 1 + Math.floor(index / 2))),
      })),
    )
    .execute()
  return { app, admin: await app.signUp('admin') }
}

const ids = async (admin: Client, query = ''): Promise<string[]> =>
  (await admin.call('GET', `${path}?${query}`)).body.announcements.map(({ id }: { id: string }) => id)
const epochOf = async ({ database: { db } }: TestApp) =>
  (await db.selectFrom('status_epoch').select('epoch').executeTakeFirstOrThrow()).epoch

describe('Lists: announcements', () => {
  test('Lists: search, type and status filters, in every order and reversed', async () => {
    const { app, admin } = await opening()
    await addCount(app.database, { of: 'participants', kind: 'announcement', itemId: 'a1' }, 4)
    expect(await ids(admin, 'search=ALPHA')).toEqual(['a1', 'a4'])
    expect(await ids(admin, 'search=sub%203')).toEqual(['a3'])
    expect(await ids(admin, 'search=x.com&type=link')).toEqual(['a0', 'a2', 'a4'])
    expect(await ids(admin, 'status=active')).toEqual(['a0'])
    expect(await ids(admin, 'status=inactive&type=desc')).toEqual(['a1', 'a3', 'a5'])
    const orders = {
      created: ['a0', 'a1', 'a2', 'a3', 'a4', 'a5'],
      title: ['a1', 'a4', 'a0', 'a3', 'a2', 'a5'],
      reward: ['a1', 'a4', 'a0', 'a2', 'a3', 'a5'],
      participants: ['a0', 'a2', 'a3', 'a4', 'a5', 'a1'],
    }
    for (const [sort, order] of Object.entries(orders)) {
      expect(await ids(admin, `sort=${sort}`), sort).toEqual(order)
      expect(await ids(admin, `sort=${sort}&reversed=true`), sort).toEqual(order.toReversed())
    }
    expect((await admin.call('GET', `${path}?search=nothing`)).body).toMatchObject({
      total: 0,
      message: 'No annoucements found!',
    })
  })
})

describe('Bulk: announcements', () => {
  test('Bulk: inactive announcements become active and players have news; active ones are no news again', async () => {
    const { app, admin } = await opening()
    const setStatus = (body: object) => admin.call('POST', `${path}/status`, body)
    await app.database.db.updateTable('status_epoch').set({ epoch: 1 }).execute()
    await app.database.db.updateTable('announcements').set({ news: 1 }).where('status', '=', true).execute()
    const target = { filter: { type: 'link' } }
    expect((await setStatus({ target, status: true, dryRun: true })).body).toMatchObject({ affected: 2 })
    expect(await epochOf(app)).toBe(1)
    expect((await setStatus({ target, status: true, expected: 3 })).body.code).toBe('STALE')
    expect(await ids(admin, 'status=active')).toEqual(['a0'])
    expect((await setStatus({ target, status: true, expected: 2 })).body).toMatchObject({ affected: 2, refused: 0 })
    expect(await ids(admin, 'status=active')).toEqual(['a0', 'a2', 'a4'])
    const epoch = await epochOf(app)
    expect(epoch).toBeGreaterThan(1)
    await admin.call('GET', '/update-users-status')
    expect(await epochOf(app), 'the same news again').toBe(epoch)
    expect((await setStatus({ target, status: true })).body).toMatchObject({ affected: 0 })
    expect((await setStatus({ target: { filter: {} }, status: false })).body).toMatchObject({ affected: 3 })
    expect(await epochOf(app)).toBe(epoch)
  })

  test('Bulk: one of 20 simultaneous activations of the same announcements changes them', async () => {
    const { app, admin } = await opening()
    const body = { target: { ids: ['a1', 'a2', 'a3'] }, status: true }
    const answers = await Promise.all(Array.from({ length: 20 }, () => admin.call('POST', `${path}/status`, body)))
    expect(answers.map((answer) => answer.body.affected as number).toSorted((a, b) => a - b)).toEqual([
      ...Array.from({ length: 19 }, () => 0),
      3,
    ])
    const audited = await auditTrail(app.database.db, 'announcement.activate')
    expect(audited).toHaveLength(3)
    expect(new Set(audited.map(({ actId }) => actId)).size, 'one act').toBe(1)
    expect(audited[0]).toMatchObject({ changes: { status: [false, true] } })
  })

  test('Bulk: deleted announcements give up their files and keep their history', async () => {
    const { app, admin } = await opening()
    const { db } = app.database
    await db
      .updateTable('announcements')
      .set({ image_key: 'announcements/1_a.png', icon_key: 'announcements/2_b.png' })
      .where('id', '=', 'a1')
      .execute()
    const remove = (body: object) => admin.call('POST', `${path}/remove`, body)
    expect((await remove({ target: { ids: ['a1', 'a2'] }, dryRun: true })).body).toMatchObject({ affected: 2 })
    expect(await db.selectFrom('file_removals').selectAll().execute()).toEqual([])
    const dropped: string[] = []
    const drop = app.files.withdraw.bind(app.files)
    app.files.withdraw = async (tx, keys, end) => {
      dropped.push(...keys)
      await drop(tx, keys, end)
    }
    expect((await remove({ target: { ids: ['a1', 'a2'] }, expected: 2 })).body).toMatchObject({ affected: 2 })
    expect(dropped.toSorted()).toEqual(['announcements/1_a.png', 'announcements/2_b.png'])
    expect(await ids(admin)).toEqual(['a0', 'a3', 'a4', 'a5'])
  })
})
