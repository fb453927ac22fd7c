/** The state of items (design §7) as SQL, compared with the rules in words. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { testDatabase } from '#test/test-database.ts'
import { announcementStateSql, taskStateSql } from './state.ts'

const HOUR_MS = 3_600_000
const past = new Date(Date.now() - HOUR_MS)
const future = new Date(Date.now() + HOUR_MS)
const today = new Date().toISOString().slice(0, 10)
const yesterday = new Date(Date.now() - 24 * HOUR_MS).toISOString().slice(0, 10)

test('design §7 the state of a task follows from its dates, its limits and the pause', async () => {
  const { db } = await testDatabase()
  const cases: [state: string, columns: object][] = [
    ['live', {}],
    ['live', { starts_at: past, start_pending: true, ends_at: future, end_pending: true }],
    ['scheduled', { starts_at: future, start_pending: true }],
    ['scheduled', { starts_at: future, full_at: past }],
    ['paused', { paused: true, starts_at: future, full_at: past }],
    ['ended', { ends_at: past, paused: true, full_at: past }],
    ['full', { full_at: past }],
    ['full', { budget_spent_on: today }],
    ['live', { budget_spent_on: yesterday }],
  ]
  const task = { collection: 'social' as const, image: 'twitter', title: 'T', reward: 1 }
  await db
    .insertInto('tasks')
    .values(cases.map(([, columns], n) => ({ ...task, ...columns, id: String(n), priority: n })))
    .execute()
  const { rows } = await sql<{
    state: string
  }>`select ${sql.raw(taskStateSql('t'))} as state from tasks t order by priority`.execute(db)
  expect(rows.map(({ state }) => state)).toEqual(cases.map(([state]) => state))
})

test('design §7 the state of an announcement follows from its status, its dates and its limits', async () => {
  const { db } = await testDatabase()
  const cases: [state: string, columns: object][] = [
    ['draft', {}],
    ['draft', { starts_at: past }],
    ['draft', { full_at: past }],
    ['scheduled', { starts_at: future, start_pending: true }],
    ['scheduled', { starts_at: past, start_pending: true }],
    ['live', { status: true }],
    ['live', { status: true, starts_at: past, ends_at: future }],
    ['full', { status: true, full_at: past }],
    ['full', { status: true, budget_spent_on: today }],
    ['live', { status: true, budget_spent_on: yesterday }],
    ['ended', { status: true, ends_at: past, end_pending: true }],
    ['ended', { ends_at: past, full_at: past }],
  ]
  const announcement = { type: 'desc' as const, title: 'T', subtitle: 'S' }
  await db
    .insertInto('announcements')
    .values(cases.map(([, columns], n) => ({ ...announcement, ...columns, id: String(n), reward: n })))
    .execute()
  const state = sql.raw(announcementStateSql())
  const { rows } = await sql<{ state: string }>`select ${state} as state from announcements order by reward`.execute(db)
  expect(rows.map(({ state: found }) => found)).toEqual(cases.map(([wanted]) => wanted))
})
