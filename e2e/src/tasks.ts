/** Helpers for tests of tasks: the differences between both collections (§3, §5), stored tasks, and the rows of the list. */
import type { Locator, Page } from '@playwright/test'
import type { ConsoleServer } from './test.ts'

export const social = {
  collection: 'social',
  title: 'Social Tasks',
  path: '/social-tasks',
  types: ['twitter', 'instagram', 'linkedin', 'discord', 'youtube', 'moreLink', 'email', 'bsc'],
  labels: ['Website', 'Bsc Wallet Address'],
  typesWithoutLink: ['email', 'bsc'],
} as const
export const daily = {
  collection: 'daily',
  title: 'Daily Tasks',
  path: '/daily-tasks',
  types: ['telegram', 'twitter', 'instagram', 'youtube', 'moreLink'],
  labels: ['Website'],
  typesWithoutLink: [],
} as const
type Collection = typeof social | typeof daily

interface TaskRow {
  id: string
  image: string
  priority: number
  title: string
  link: string | null
  reward: number
}

/** Stores tasks. Each is named `Task 1`, `Task 2`, … with that priority unless its fields say otherwise. */
export async function addTasks(server: ConsoleServer, { collection }: Collection, ...tasks: Partial<TaskRow>[]): Promise<void> {
  const rows = tasks.map((task, index) => {
    const number = index + 1
    const id = `${collection}-${number}`
    return { collection, id, image: 'twitter', priority: number, title: `Task ${number}`, link: null, reward: 10, ...task }
  })
  await server.database.db.insertInto('tasks').values(rows).execute()
}

export function storedTasks(server: ConsoleServer, { collection }: Collection) {
  return server.database.db
    .selectFrom('tasks')
    .select(['priority', 'image', 'title', 'link', 'reward'])
    .where('collection', '=', collection)
    .orderBy('priority')
    .execute()
}

export function row(page: Page, title: string): Locator {
  return page.getByRole('row').filter({ has: page.getByRole('link', { name: title, exact: true }) })
}

export function column(page: Page, number: number): Locator {
  return page.locator(`tbody td:nth-child(${number})`)
}
