/** History documents (§3): created with their items, updated with them, kept after them. */
import { expect, test } from 'vitest'
import { testDatabase } from '#test/test-database.ts'
import { writeHistoryItems } from './history-items.ts'

const { db } = await testDatabase()
const created_at = new Date('2026-05-05T17:20:00.123Z')

async function addTasks(): Promise<void> {
  const task = { image: 'twitter', title: 'Old', link: null, reward: 5.5, created_at }
  const tasks = ['a', 'b', 'c'].map((id, priority) => ({ ...task, collection: 'social' as const, id, priority }))
  await db
    .insertInto('tasks')
    .values([...tasks, { ...task, collection: 'daily', id: 'a', priority: 1 }])
    .execute()
}

const titles = async () =>
  Object.fromEntries(
    (await db.selectFrom('history_items').select(['kind', 'item_id', 'title']).orderBy('item_id').execute()).map((row) => [
      `${row.kind} ${row.item_id}`,
      row.title,
    ]),
  )

test('§3 a document has the item’s fields and its creation time', async () => {
  await addTasks()
  await db
    .insertInto('announcements')
    .values({
      id: 'n',
      type: 'link',
      title: 'T',
      subtitle: 'S',
      link: 'https://x.com',
      link_type: 'input',
      input_text: 'I',
      reward: 7,
      created_at,
    })
    .execute()
  expect(await writeHistoryItems(db, 'daily', { changed: ['a', 'gone'] })).toEqual(['a'])
  expect(await writeHistoryItems(db, 'announcement', { changed: ['n'] })).toEqual(['n'])
  const none = { link: null, link_type: null, description: null, input_text: null, from_before: null }
  const link = { link: 'https://x.com', link_type: 'input', input_text: 'I' }
  expect(await db.selectFrom('history_items').selectAll().orderBy('kind').execute()).toEqual([
    { kind: 'announcement', item_id: 'n', title: 'T', type: 'link', ...none, ...link, reward: 7, created_at },
    { kind: 'daily', item_id: 'a', title: 'Old', type: 'twitter', ...none, reward: 5.5, created_at },
  ])
})

test('§3 a changed item updates its document, an unchanged one only gets a missing document', async () => {
  await addTasks()
  await writeHistoryItems(db, 'social', { changed: ['a', 'b'] })
  await db.updateTable('tasks').set({ title: 'New' }).execute()
  expect((await writeHistoryItems(db, 'social', { changed: ['a'], unchanged: ['a', 'b', 'c'] })).toSorted()).toEqual(['a', 'c'])
  expect(await titles()).toEqual({ 'social a': 'New', 'social b': 'Old', 'social c': 'New' })
  await db.deleteFrom('tasks').execute()
  expect(await writeHistoryItems(db, 'social', { changed: ['a', 'b'] })).toEqual([])
  expect(Object.keys(await titles())).toHaveLength(3)
})
