/** The day of docs/move-in.md as the operator has it: `arcade move-in` as a process beside a running console, and what people then see. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { ADMIN, startCommandWith, startServer } from '#test/faults/console-process.ts'
import * as firestore from '#test/firestore-export.ts'
import { account, hashing, MOVED_PASSWORD, moved } from '#test/auth-export.ts'
import { counts, created, folderOf } from '#test/move-in.ts'
import type { MoveInReport } from '#src/move-in/report.ts'
import { temporaryDataDir } from '#test/processes.ts'
import { createDatabase } from '#test/test-database.ts'
import { download, png } from '#test/test-images.ts'

const person = (fname: string, userType: string) => ({ fname, lname: 'X', email: `${fname.toLowerCase()}@gmail.com`, userType })
const IMAGE = 'gs://game.appspot.com/announcements/17_banner.png'

const firstDay = {
  'users/ada': person('Ada', 'admin'),
  'users/bo': person('Bo', 'user'),
  'users/broken': { fname: 'Cy' },
  'telegramUsers/4711': { firstName: 'Ada', username: 'ada', balance: 12.5, createdAt: created },
  'telegramUsers/4712': { firstName: 'Bo', username: 'bo', balance: 7, createdAt: created },
  'socialTask/t1': {
    image: 'twitter',
    priority: 1,
    title: 'Follow us',
    reward: 5,
    link: 'https://x.com/game',
    createdAt: created,
  },
  'dailyTask/d1': { image: 'telegram', priority: 1, title: 'Say hello', reward: 1, createdAt: created },
  'announcements/a1': {
    type: 'desc',
    title: 'Season 2',
    subtitle: 'Fresh levels',
    reward: 3,
    status: true,
    image: IMAGE,
    createdAt: created,
  },
  'socialTasksHistory/t1': { title: 'Follow us', type: 'twitter', reward: 5, link: 'https://x.com/game' },
  'socialTasksHistory/t1/users/4711': { id: 4711, username: 'ada', first_name: 'Ada', timestamp: created },
} satisfies firestore.Documents

const { 'users/broken': _broken, ...valid } = firstDay
/** Ada has played, Di is new, the old console has renamed Bo, the daily task and the game's title. */
const secondDay = {
  ...valid,
  'users/bo': { ...firstDay['users/bo'], fname: 'Bruno' },
  'telegramUsers/4711': { ...firstDay['telegramUsers/4711'], balance: 20 },
  'telegramUsers/4713': { firstName: 'Di', balance: 1, createdAt: created },
  'dailyTask/d1': { ...firstDay['dailyTask/d1'], title: 'Say goodbye' },
  'socialTasksHistory/t1/users/4712': { id: 4712, username: 'bo', first_name: 'Bo', timestamp: created },
}

test('design §8 a game moves in with one command: its admin signs in, History and files are there, and a second run brings the difference', async () => {
  const url = await createDatabase('move_in_day', { isMigrated: true })
  const dataDir = await temporaryDataDir()
  const server = startServer(dataDir, { DATABASE_URL: url })
  const address = await server.ready
  const accounts = { users: [account('ada', { ...moved, emailVerified: true }), account('bo', moved)] }
  const folder = await folderOf(firstDay, { 'auth.json': accounts, 'hash.json': hashing })
  const bucket = path.join(folder, 'storage/game.appspot.com/announcements')
  await mkdir(bucket, { recursive: true })
  await writeFile(path.join(bucket, '17_banner.png'), png)
  const moveIn = async (code: number): Promise<MoveInReport> => {
    const { ended, child } = startCommandWith({ DATABASE_URL: url, INIT_CWD: folder }, dataDir, 'move-in', folder, '--json')
    let json = ''
    child.stdout!.on('data', (chunk: Buffer) => (json += chunk.toString()))
    const outcome = await ended
    expect(outcome.code, outcome.output).toBe(code)
    return JSON.parse(json) as MoveInReport
  }

  const first = await moveIn(2)
  expect(counts(first)).toEqual({
    users: [3, 2, 0, 0, 1],
    telegramUsers: [2, 2, 0, 0, 0],
    socialTask: [1, 1, 0, 0, 0],
    dailyTask: [1, 1, 0, 0, 0],
    announcements: [1, 1, 0, 0, 0],
    socialTasksHistory: [1, 1, 0, 0, 0],
    'socialTasksHistory/users': [1, 1, 0, 0, 0],
  })
  expect(first).toMatchObject({ accounts: { read: 2, new: 2 }, files: { read: 1, new: 1 }, documents: { read: 10, stated: 10 } })
  expect(first.balances).toEqual({ before: '0', after: '19.5' })
  expect(await keysOf(first)).toEqual(await documentedKeys())

  const call = async (cookie: string, method: string, route: string, body?: object) => {
    const headers = { cookie, 'content-type': 'application/json' }
    const answer = await fetch(address + route, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    expect(answer.status, `${method} ${route}`).toBe(200)
    return { answer, body: (await answer.json()) as Record<string, unknown> & { items: Record<string, unknown>[] } }
  }
  const signIn = async (email: string, password: string) => {
    const { answer, body } = await call('', 'POST', '/api/session', { email, password })
    return { cookie: answer.headers.getSetCookie()[0]!.split(';')[0]!, body }
  }
  const ada = await signIn('ada@gmail.com', MOVED_PASSWORD)
  expect(ada.body).toMatchObject({ user: { id: 'ada', fname: 'Ada', userType: 'admin' } })
  const get = async (route: string) => (await call(ada.cookie, 'GET', route)).body
  expect((await get('/api/history/social')).items).toMatchObject([{ id: 't1', title: 'Follow us', participants: 1 }])
  expect((await get('/api/history/social/t1/participants'))['participants']).toMatchObject([{ id: 4711, username: 'ada' }])
  const news = await get('/api/announcements/a1')
  expect(news).toMatchObject({ title: 'Season 2', imageName: '17_banner.png', status: true })
  const app = { fetch: (route: string, init?: RequestInit) => fetch(address + route, init) }
  const image = await download(app, { headers: { cookie: ada.cookie } }, String(news['image']))
  expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/png'])

  const admin = await signIn(ADMIN.email, ADMIN.password)
  await call(ada.cookie, 'PATCH', '/api/users/bo', { fname: 'Bob', lname: 'X' })
  await call(admin.cookie, 'DELETE', '/api/daily-tasks/d1')
  await call(admin.cookie, 'POST', '/api/telegram-users/4711/adjustments', { amount: 100, reason: 'A gift' })
  await firestore.writeExport(path.join(folder, 'firestore_export'), { files: [secondDay] })
  const second = await moveIn(0)
  expect(counts(second)).toEqual({
    users: [2, 0, 0, 2, 0],
    telegramUsers: [3, 1, 1, 1, 0],
    socialTask: [1, 0, 0, 1, 0],
    dailyTask: [1, 0, 0, 1, 0],
    announcements: [1, 0, 0, 1, 0],
    socialTasksHistory: [1, 0, 0, 1, 0],
    'socialTasksHistory/users': [2, 1, 0, 1, 0],
  })
  expect([second.collections['users']!.kept, second.collections['dailyTask']!.kept]).toEqual([
    { count: 1, documents: ['users/bo'] },
    { count: 1, documents: ['dailyTask/d1'] },
  ])
  expect(second).toMatchObject({ files: { new: 0, unchanged: 1 }, accounts: { new: 0 } })
  expect(second.balances).toEqual({ before: '119.5', after: '128' })
  expect((await get('/api/users/bo'))['fname']).toBe('Bob')
  expect((await get('/api/daily-tasks'))['tasks']).toEqual([])
  expect((await get('/api/history/social')).items).toMatchObject([{ id: 't1', participants: 2 }])
  expect((await get('/api/telegram-users/4711'))['balance']).toBe(120)
  // Ada's password is now one of the console.
  await signIn('ada@gmail.com', MOVED_PASSWORD)
  await signIn('bo@gmail.com', MOVED_PASSWORD)
})

/** The keys of a report that says everything, and those of its parts. */
async function keysOf(report: MoveInReport): Promise<Record<string, string[]>> {
  const { collections, accounts, files } = report
  const parts = { report, collection: collections['users']!, accounts: accounts!, files: files! }
  return Object.fromEntries(Object.entries(parts).map(([part, value]) => [part, Object.keys(value).toSorted()]))
}

/** The keys in the table of docs/move-in.md. */
async function documentedKeys(): Promise<Record<string, string[]>> {
  const text = await readFile(path.resolve(import.meta.dirname, '../../../docs/move-in.md'), 'utf8')
  const rows = { report: 'the report', collection: 'each of `collections`', accounts: '`accounts`', files: '`files`' }
  return Object.fromEntries(
    Object.entries(rows).map(([part, title]) => {
      const line = text.split('\n').find((row) => row.startsWith(`| ${title} |`))
      return [part, [...(line ?? '').split('|')[2]!.matchAll(/`(\w+)`/g)].map(([, key]) => key!).toSorted()]
    }),
  )
}
