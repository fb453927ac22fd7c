/** A game moves in from Firebase (design §8), as its people then see it: the admin signs in with the old password. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { account, hashing, MOVED_PASSWORD, moved } from '../../server/test/auth-export.ts'
import { BASE_ENV } from '../../server/test/base-env.ts'
import { citusUrl } from '../../server/test/citus.ts'
import { type Documents, time, writeExport } from '../../server/test/firestore-export.ts'
import { banner, expectShown } from '#src/announcements.ts'
import { expectAccessible, expectStateAccessible } from '#src/axe.ts'
import { desktop } from '#src/sizes.ts'
import { type ConsoleServer, expect, test } from '#src/test.ts'

const ARCADE = path.resolve(import.meta.dirname, '../../server/src/cli/arcade.ts')
const run = promisify(execFile)
const created = time(1_760_000_000_000_000n)

const game: Documents = {
  'users/ada': { fname: 'Ada', lname: 'Lovelace', email: 'ada@gmail.com', userType: 'admin', theme: 'dark' },
  'telegramUsers/4711': {
    firstName: 'Grace',
    username: 'grace',
    balance: 12.5,
    createdAt: created,
    level: 7,
    lastSeen: created,
    inventory: 'sword, '.repeat(60),
    pet: { name: 'Rex', tricks: ['sit', 'roll'] },
  },
  'telegramUsers/4712': { firstName: 'Alan', username: 'alan', balance: 7, createdAt: created },
  'announcements/a1': {
    type: 'desc',
    title: 'Season 2',
    subtitle: 'Fresh levels',
    description: 'All new',
    reward: 3,
    status: true,
    image: 'gs://game.appspot.com/announcements/17_banner.png',
    createdAt: created,
  },
  'socialTask/t1': {
    image: 'twitter',
    priority: 1,
    title: 'Follow us',
    reward: 5,
    link: 'https://x.com/game',
    createdAt: created,
  },
  'socialTasksHistory/t1': { title: 'Follow us', type: 'twitter', reward: 5, link: 'https://x.com/game', season: 2 },
  'socialTasksHistory/t1/users/4711': {
    id: 4711,
    username: 'grace',
    first_name: 'Grace',
    timestamp: created,
    proof: { file: 'x.png', width: 640 },
  },
}

/** A day later: Grace has won and has another name, Alan has followed too and has nothing kept, Edsger is new. */
const nextDay: Documents = {
  ...game,
  'telegramUsers/4711': { ...game['telegramUsers/4711'], firstName: 'Rear Admiral', balance: 20 },
  'telegramUsers/4713': { firstName: 'Edsger', username: 'edsger', balance: 1, createdAt: created },
  'socialTasksHistory/t1/users/4712': { id: 4712, username: 'alan', first_name: 'Alan', timestamp: time(1_760_086_400_000_000n) },
}

test.use({ sample: false })
// The command is given the data directory of a server, which on a Citus cluster does not lead to the database.
test.skip(citusUrl !== undefined)

interface Report {
  collections: Record<string, { read: number; new: number; changed: number; unchanged: number; refused: number }>
  documents: { read: number; same: number; stated: number }
  balances: { before: string; after: string }
}

/** Writes what Firebase's tools write into a folder, and moves it in. Returns the report. */
async function moveIn({ dataDir }: ConsoleServer, documents: Documents): Promise<Report> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arcade-e2e-move-in-'))
  try {
    await writeExport(path.join(folder, 'firestore_export'), { files: [documents] })
    await writeFile(path.join(folder, 'auth.json'), JSON.stringify({ users: [account('ada', moved)] }))
    await writeFile(path.join(folder, 'hash.json'), JSON.stringify(hashing))
    const bucket = path.join(folder, 'storage/game.appspot.com/announcements')
    await mkdir(bucket, { recursive: true })
    await writeFile(path.join(bucket, '17_banner.png'), banner.buffer)
    const env = { ...BASE_ENV, DATA_DIR: dataDir, INIT_CWD: folder }
    const { stdout } = await run(process.execPath, [ARCADE, 'move-in', folder, '--keep-unknown', '--json'], { env })
    return JSON.parse(stdout) as Report
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

test('design §8 after a move-in the admin signs in with the old password, and players, history, files and former fields are there; a second run brings the day', async ({
  page,
  server,
}) => {
  await moveIn(server, game)
  await page.goto('/')
  await page.getByLabel('Email', { exact: true }).fill('ada@gmail.com')
  await page.getByLabel('Password', { exact: true }).fill(MOVED_PASSWORD)
  await page.getByRole('button', { name: 'Sign In', exact: true }).click()
  await expect(page.getByRole('heading', { name: 'Top balances' })).toBeVisible()

  await page.goto('/manage-telegram-users')
  await expect(page.getByRole('row', { name: /\balan\b/ })).toBeVisible()
  await page.getByRole('row').filter({ hasText: 'grace' }).getByRole('link').first().click()
  const before = page.getByRole('region', { name: 'From before' })
  await expect(before).toContainText('level7')
  await expect(before).toContainText('2025-10-09')
  await expect(before.getByText('"Rex"')).toBeVisible()
  const inventory = before.locator('details > div')
  await expect(inventory).toBeHidden()
  await before.locator('summary').focus()
  await page.keyboard.press('Enter')
  await expect(inventory).toHaveText('sword, '.repeat(60))
  await expectStateAccessible(page)
  await page.goto('/manage-telegram-users/4712')
  await expect(page.getByRole('heading', { name: 'Took part in' })).toBeVisible()
  await expect(before).toHaveCount(0)

  await page.goto('/update-user/ada/Ada/Lovelace/ada@gmail.com')
  await expect(page.getByRole('region', { name: 'From before' })).toContainText('dark')
  await expectAccessible(page)

  await page.goto('/history?tab=social&item=t1')
  await expect(page.getByRole('heading', { name: 'Participants 1' })).toBeVisible()
  const participants = page.getByRole('table', { name: 'Participants' })
  const grace = participants.getByRole('row').filter({ hasText: 'grace' })
  await expect(before).toContainText('season2')
  await expectAccessible(page)
  await grace.getByRole('button', { name: 'Show', exact: true }).click()
  const kept = page.getByRole('dialog', { name: 'From before' })
  await expect(kept).toContainText('"width": 640')
  await expectStateAccessible(page)
  await page.keyboard.press('Escape')
  await expect(kept).toHaveCount(0)
  await page.setViewportSize(desktop) // a phone's card folds the images
  await page.goto('/annoucements')
  await expectShown(page.getByRole('row').filter({ hasText: 'Season 2' }).getByRole('img').first())

  const { collections, documents, balances } = await moveIn(server, nextDay)
  const counted = ({ read, new: added, changed, unchanged, refused }: Report['collections'][string]) => [
    read,
    added,
    changed,
    unchanged,
    refused,
  ]
  expect(Object.fromEntries(Object.entries(collections).map(([name, part]) => [name, counted(part)]))).toEqual({
    users: [1, 0, 0, 1, 0],
    telegramUsers: [3, 1, 1, 1, 0],
    announcements: [1, 0, 0, 1, 0],
    socialTask: [1, 0, 0, 1, 0],
    socialTasksHistory: [1, 0, 0, 1, 0],
    'socialTasksHistory/users': [2, 1, 0, 1, 0],
  })
  // Alan and Grace's participation are the same bytes as before.
  expect([documents, balances]).toEqual([
    { read: 9, same: 2, stated: 9 },
    { before: '19.5', after: '28' },
  ])
  await page.goto('/history?tab=social&item=t1')
  await expect(page.getByRole('heading', { name: 'Participants 2' })).toBeVisible()
  const names = participants.getByRole('row').getByRole('link', { name: /^(alan|grace)$/ })
  await expect(names).toHaveText(['alan', 'grace'])
  await expect(participants.getByRole('button', { name: 'Show', exact: true })).toHaveCount(1)
  await page.goto('/manage-telegram-users')
  const players = page.getByRole('table')
  await expect(players.getByRole('row').filter({ hasText: 'edsger' })).toContainText('1')
  await players.getByRole('row').filter({ hasText: 'grace' }).getByRole('link').first().click()
  await expect(page.getByRole('heading', { name: /Rear Admiral/ })).toBeVisible()
  await expect(page.getByRole('main')).toContainText('20')
})
