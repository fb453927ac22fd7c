/** Segments: how the address of a view becomes a filter, and who belongs to a view that cannot be read, is private or is gone. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { addPlayers } from '#test/players.ts'
import { testApp } from '#test/test-app.ts'
import { createMembership, segmentFilter } from './segments.ts'

test('segments: an address has the filter of its page; days are days in UTC, and the last one counts', () => {
  const address =
    'q=ada+l&balanceMin=5&joinedFrom=2026-01-01&joinedUntil=2026-01-31&sort=newest&reversed=true&rows=compact&columns=Email'
  expect(segmentFilter(address)).toEqual({
    search: 'ada l',
    balanceMin: 5,
    joinedFrom: '2026-01-01T00:00:00.000Z',
    joinedBefore: '2026-02-01T00:00:00.000Z',
  })
  expect(segmentFilter('')).toEqual({})
})

test.for([
  'balanceMin=many',
  'balanceMin=9007199254740993',
  'search=ada',
  'joinedFrom=2026-01-01T00:00:00Z',
  `q=${'x'.repeat(101)}`,
  'country=it',
  'erased=true',
  'joinedFrom=yesterday',
  'joinedUntil=2026-13-01',
  'status=gone',
  'any=%5B%5D',
  'has=fax',
  'tab=social',
  'joinedFrom=2026-02-30',
  'status=blocked&status=unblocked',
  'q=%00',
  'tookPart=social:%00',
  `any=${encodeURIComponent(JSON.stringify([{ tookPart: 'social:\0' }]))}`,
])(
  'segments: security: an address with a part that cannot be read is no filter, instead of one that matches more: %s',
  (part) => {
    expect(segmentFilter(part)).toBeUndefined()
    expect(segmentFilter(`balanceMin=5&${part}`)).toBeUndefined()
  },
)

test('segments: security: nobody belongs to a view that is private, of another list, unreadable or gone', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const { db } = app.database
  await addPlayers(db, [{ user_id: 5 }])
  const view = { list: 'telegramUsers' as const, name: 'x', address: 'balanceMin=0' }
  await db
    .insertInto('saved_views')
    .values([
      { ...view, id: 'shared' },
      { ...view, id: 'everyone', name: 'y', address: '' },
      { ...view, id: 'private', owner_id: admin.id, private_to: admin.id },
      { ...view, id: 'other', list: 'users', address: '' },
      { ...view, id: 'unreadable', name: 'z', address: 'country=it' },
      { ...view, id: 'nul', name: 'w', address: 'q=%00' },
    ])
    .execute()
  const isMember = createMembership(app.database)
  const asked = ['shared', 'everyone', 'private', 'other', 'unreadable', 'nul', 'gone', 'shared']
  expect(await isMember(5, asked)).toEqual(new Set(['shared', 'everyone']))
  expect(await isMember(6, asked)).toEqual(new Set())
  expect(await isMember(5, [])).toEqual(new Set())
  await sql`update saved_views set private_to = ${admin.id} where id = 'shared'`.execute(db)
  expect(await isMember(5, ['shared'])).toEqual(new Set())
})
