/** What the server makes of a list that the contract declares, and that incomplete lists do not compile. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { announcementFields, announcementList } from '@arcade/contract/announcements/fields'
import { defineList } from '@arcade/contract/entity'
import { playerFields } from '@arcade/contract/players/fields'
import { taskFields, taskLists } from '@arcade/contract/tasks/fields'
import { announcementEntity, playerEntity, taskEntity } from '#src/db/entities.ts'
import { testDatabase } from '#test/test-database.ts'
import { addPlayers } from '#test/players.ts'
import { sourceSql } from '#src/db/entities.ts'
import { exportSelection } from './exports.ts'
import { orderSql, serveList } from './list.ts'
import { searchWithoutIndex } from './search.ts'
import { sheetColumns } from './sheet.ts'
import { whereFilter, whereTarget } from './where.ts'

const list = defineList({
  name: 'examples',
  noun: { one: 'example', many: 'examples' },
  emptyText: 'No examples yet.',
  fileName: 'examples.xlsx',
  fields: playerFields,
  filters: {
    username: { label: 'Username', kind: 'text', field: 'username', options: {} },
    balanceMin: { label: 'Balance from', kind: 'min', field: 'balance' },
    balanceMax: { label: 'Balance to', kind: 'max', field: 'balance' },
    joinedFrom: { label: 'Joined from', kind: 'from', field: 'createdAt' },
    joinedBefore: { label: 'Joined until', kind: 'before', field: 'createdAt', dayName: 'joinedUntil' },
    isRich: { label: 'Rich', kind: 'choice', options: { yes: 'Yes', no: 'No' } },
  },
  sorts: { 'a-z': { label: 'A-Z', field: 'firstName' }, balance: { label: 'Balance', field: 'balance', isDescending: true } },
  defaultSort: 'balance',
  pageSizes: [5],
})
const common = {
  list,
  entity: playerEntity,
  derived: {},
  search: (text: string) => searchWithoutIndex('username', text),
  withoutPersonal: { search: (text: string) => searchWithoutIndex('username', text) },
  sheet: { sheetName: 'Examples', flags: {} },
}
const served = serveList<typeof list>({
  ...common,
  conditions: { isRich: (isRich) => (isRich === 'yes' ? sql`balance > 100` : sql`balance <= 100`) },
  baseCondition: 'user_id < 100',
})

test('filters with a field compare that field; the others use conditions of the server', async () => {
  const { db } = await testDatabase()
  await addPlayers(db, [
    { user_id: 1, balance: 0, username: 'a', created_at: '2026-01-01T00:00:00Z' },
    { user_id: 2, balance: 100, username: 'b', created_at: '2026-01-02T00:00:00Z' },
    { user_id: 3, balance: 200, username: 'c', created_at: null },
    { user_id: 200, balance: 200, username: 'c', created_at: null },
  ])
  const idsOf = async (filter: Parameters<typeof whereFilter<typeof list>>[1]) => {
    const { matches } = whereFilter(served, filter, undefined).sql
    const { rows } = await sql<{ user_id: number }>`
      select user_id from ${sql.raw(sourceSql(playerEntity))} where ${matches} order by user_id`.execute(db)
    return rows.map(({ user_id: id }) => id)
  }
  expect(await idsOf({})).toEqual([1, 2, 3])
  expect(await idsOf({ username: 'b' })).toEqual([2])
  expect(await idsOf({ balanceMin: 100 })).toEqual([2, 3])
  expect(await idsOf({ balanceMax: 100 })).toEqual([1, 2])
  expect(await idsOf({ joinedFrom: '2026-01-02T00:00:00Z' })).toEqual([2])
  expect(await idsOf({ joinedBefore: '2026-01-02T00:00:00Z' })).toEqual([1])
  expect(await idsOf({ isRich: 'yes' })).toEqual([3])
  expect(await idsOf({ isRich: 'no', search: 'A' })).toEqual([1])
})

test('an unknown filter throws instead of being ignored', () => {
  expect(() => whereFilter(served, { land: 'TR' } as never, undefined)).toThrow('no filter land')
  expect(() => whereTarget(served, { filter: { land: 'TR' } as never }, undefined as never)).toThrow('no filter land')
})

test('sorts use their field, texts without case', () => {
  expect(orderSql(served, 'a-z', false)).toBe('lower(first_name collate letters) collate a_to_z nulls last, user_id')
  expect(orderSql(served, 'a-z', true)).toBe('lower(first_name collate letters) collate a_to_z desc nulls first, user_id desc')
  expect(orderSql(served, 'balance', false)).toBe('balance desc, user_id')
  expect(orderSql(served, 'balance', true)).toBe('balance, user_id desc')
})

test('a list with personal fields must say how it is searched without them, and cannot be sorted by one', () => {
  const { withoutPersonal: _withoutPersonal, ...whole } = common
  const conditions = { isRich: () => sql<boolean>`true` }
  expect(() => serveList<typeof list>({ ...whole, conditions })).toThrow('has personal fields')
  // @ts-expect-error the order of a personal field would tell its values
  defineList({ ...list, filters: {}, sorts: { email: { label: 'Email', field: 'email' } }, defaultSort: 'email' })
})

test('incomplete lists do not compile', () => {
  // @ts-expect-error the condition of the filter isRich is missing
  const unfinished = serveList<typeof list>({ ...common, conditions: {} })
  expect(() => whereFilter(unfinished, { isRich: 'yes' }, undefined)).toThrow(TypeError)
  // @ts-expect-error a condition for an unknown filter
  serveList<typeof list>({ ...common, conditions: { isRich: () => sql`true`, isPoor: () => sql`true` } })
  serveList<typeof taskLists.social>({
    list: taskLists.social,
    entity: taskEntity,
    // @ts-expect-error the SQL of numberOfParticipants is missing
    derived: {},
    conditions: { state: () => sql`true` },
    search: common.search,
    sheet: { sheetName: 'T', flags: { paused: ['Yes', 'No'] } },
  })
  serveList<typeof announcementList>({
    list: announcementList,
    entity: announcementEntity,
    derived: { numberOfParticipants: '0', state: `'live'` },
    conditions: { status: () => sql`true`, state: () => sql`true` },
    search: common.search,
    // @ts-expect-error the texts of cells for the status are missing
    sheet: { sheetName: 'A', flags: {} },
  })
  // @ts-expect-error the entity does not store the fields of the list
  serveList<typeof list>({ ...common, entity: taskEntity, conditions: { isRich: () => sql`true` } })
  const { noun, emptyText, fileName } = list
  const facts = { name: 'facts', noun, emptyText, fileName, fields: taskFields, pageSizes: [50] } as const
  defineList({
    ...facts,
    // @ts-expect-error a filter by an unknown field
    filters: { wallet: { label: 'Wallet', kind: 'min', field: 'wallet' } },
    sorts: { title: { label: 'Title', field: 'title' } },
    defaultSort: 'title',
  })
  // @ts-expect-error a sort by an unknown field
  defineList({ ...facts, filters: {}, sorts: { wallet: { label: 'Wallet', field: 'wallet' } }, defaultSort: 'wallet' })
  // @ts-expect-error a sort without a field
  defineList({ ...facts, filters: {}, sorts: { title: { label: 'Title' } }, defaultSort: 'title' })
  // @ts-expect-error an unknown list to export
  exportSelection({})
})

test('§7 the columns of a spreadsheet have the order of the fields, or the order that the sheet sets', () => {
  const columns = sheetColumns(announcementFields, { flags: { status: ['Active', 'In Active'] }, first: ['createdAt', 'reward'] })
  expect(columns.slice(0, 3)).toMatchObject([
    { header: 'Created At (UTC)', kind: 'date', width: 24 },
    { header: 'Reward', kind: 'number', width: 12 },
    { header: 'Title', kind: 'text', width: 40 },
  ])
  expect(columns.map(({ header }) => header)).not.toContain('Image')
  expect(columns.map(({ field }) => field)).toEqual([...columns.keys()])
  expect(columns.find(({ header }) => header === 'Status')!.words).toEqual({ t: 'Active', f: 'In Active' })
  // @ts-expect-error the texts of cells for the status are missing
  expect(() => sheetColumns(announcementFields, { flags: {} })).toThrow('not iterable')
})
