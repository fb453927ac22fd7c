/** What tests of notes share: an app with a record of each kind and people with names, and calls that write, read and find notes. */
import { expect } from 'vitest'
import { addPlayers } from './players.ts'
import { type Client, testApp, type TestApp } from './test-app.ts'

interface Item {
  path: string
  id: string
}

/** Returns an app with player 7 and an item of each kind, an owner, and one more person of each role. */
export async function opening() {
  const app = await testApp()
  await addPlayers(app.database.db, [
    { user_id: 7, first_name: 'Ada', last_name: 'Moon', username: 'ada_m' },
    { user_id: 8, username: 'bob' },
  ])
  const owner = await named(app, 'owner', 'Olga', 'Owner')
  const task = { type: 'email', title: 'Subscribe', reward: 1, priority: 1 }
  const announcement = { type: 'desc', title: 'Spring', subtitle: 'Today', reward: 1 }
  const add = async (path: string, input: object) => (await owner.call('POST', path, input)).body.id as string
  const items: Item[] = [
    { path: 'player/7', id: '7' },
    ...(await Promise.all(
      (
        [
          ['socialTask', '/api/social-tasks', task],
          ['dailyTask', '/api/daily-tasks', { ...task, type: 'telegram', link: 'https://t.me/a' }],
          ['announcement', '/api/announcements', announcement],
        ] as const
      ).map(async ([kind, path, input]) => {
        const id = await add(path, input)
        return { path: `${kind}/${id}`, id }
      }),
    )),
  ]
  return { app, owner, items, editor: await named(app, 'editor', 'Eve', 'Editor') }
}

export async function named(app: TestApp, role: Parameters<TestApp['signUp']>[0], fname: string, lname: string): Promise<Client> {
  const person = await app.signUp(role)
  await app.database.db.updateTable('users').set({ fname, lname }).where('id', '=', person.id).execute()
  return person
}

export const write = async (client: Client, path: string, text: string, mentions: string[] = []) => {
  const { status, body } = await client.call('POST', `/api/notes/${path}`, { text, mentions })
  expect(status, JSON.stringify(body)).toBe(200)
  return body.id as string
}

export interface ShownNote {
  id: string
  text: string
  title: string
}
export const notesOn = async (client: Client, path: string): Promise<ShownNote[]> =>
  (await client.call('GET', `/api/notes/${path}`)).body.notes
export const textsOn = async (client: Client, path: string) => (await notesOn(client, path)).map(({ text }) => text)
export const found = async (client: Client, search: string): Promise<ShownNote[]> =>
  (await client.call('GET', `/api/notes?search=${encodeURIComponent(search)}`)).body.notes
