/** Writes docs/move-in-report.md from real runs, or compares it with them: `-u` writes it. */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { account, hashing, moved } from '#test/auth-export.ts'
import * as firestore from '#test/firestore-export.ts'
import { created, folderOf, run } from '#test/move-in.ts'
import { testApp } from '#test/test-app.ts'
import { png } from '#test/test-images.ts'
import { type MoveInReport, reportInWords } from './report.ts'

const task = { image: 'twitter', priority: 1, title: 'Follow us', reward: 5, link: 'https://x.com/game', createdAt: created }
const news = { type: 'desc', title: 'Season 2', subtitle: 'Fresh levels', reward: 3, status: true, createdAt: created }

const firstDay = {
  'users/ada': { fname: 'Ada', lname: 'Lovelace', email: 'ada@gmail.com', userType: 'admin' },
  'users/bo': { fname: 'Bo', lname: 'Diddley', email: 'bo@gmail.com', userType: 'user', theme: 'dark' },
  'users/cy': { fname: 'Cy', lname: 'Twombly', email: 'ADA@gmail.com', userType: 'user' },
  'telegramUsers/4711': { firstName: 'Grace', username: 'grace', balance: 12.5, createdAt: created },
  'telegramUsers/4712': { firstName: 'Alan', username: 'alan', balance: 7, createdAt: created },
  'telegramUsers/4713': { firstName: 'Mallory', balance: 'many' },
  'socialTask/t1': task,
  'socialTask/t2': { ...task, title: 'Watch us', image: 'youtube' },
  'announcements/a1': {
    ...news,
    image: 'gs://game.appspot.com/announcements/17_banner.png',
    icon: 'gs://game.appspot.com/gone.png',
  },
  'socialTasksHistory/t1/users/4711': { id: 4711, username: 'grace', first_name: 'Grace', timestamp: created },
  'socialTasksHistory/old/users/4711': { id: 4711, username: 'grace', first_name: 'Grace', timestamp: created },
  'sessions/s1': { token: 'secret' },
} satisfies firestore.Documents

const nextDay: firestore.Documents = {
  ...firstDay,
  'telegramUsers/4711': { ...firstDay['telegramUsers/4711'], balance: 20 },
  'telegramUsers/4713': { firstName: 'Mallory', balance: 1, createdAt: created },
  'socialTasksHistory/t1/users/4712': { id: 4712, username: 'alan', first_name: 'Alan', timestamp: created },
}

/** Replaces what differs from run to run. */
function steady(report: MoveInReport): MoveInReport {
  const { rejectedPath, ...rest } = report
  return {
    ...rest,
    ...(rejectedPath !== undefined && { rejectedPath: '/srv/rejected.ndjson' }),
    seconds: 0.8,
    disk: { temporary: 4_000, database: 200_000 },
  }
}

const block = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``
const words = (report: MoveInReport): string => block('text', reportInWords(report).join('\n'))

test('design §8 the reports of docs/move-in-report.md are those of a dry run, of the run, and of a day later', async () => {
  const app = await testApp()
  const google = { providerUserInfo: [{ providerId: 'google.com' }] }
  const folder = await folderOf(firstDay, {
    'auth.json': { users: [account('ada', { ...moved, emailVerified: true }), account('bo', google)] },
    'hash.json': hashing,
  })
  const bucket = path.join(folder, 'storage/game.appspot.com/announcements')
  await mkdir(bucket, { recursive: true })
  await writeFile(path.join(bucket, '17_banner.png'), png)
  const dry = steady(await run(app, folder, { isDryRun: true }))
  const first = await run(app, folder)
  expect(steady({ ...first, accounts: dry.accounts!, isDryRun: true })).toEqual(dry)
  await firestore.writeExport(path.join(folder, 'firestore_export'), { files: [nextDay] })
  const second = steady(await run(app, folder))

  const text = [
    '# Reports of a move-in',
    `The game of these reports is small: three users, three players, and a bit of everything that can go wrong. They are those of real runs,
and a test compares them (\`server/src/move-in/report-example.test.ts\`). [Move in](move-in.md#the-report) explains them.`,
    '## The dry run',
    '`npm run arcade -- move-in DIR --dry-run`',
    words(dry),
    '## A day later',
    'A player has won, one who was refused is mended, and one more has followed:',
    words(second),
    '## As JSON',
    'The dry run with `--json`:',
    block('json', JSON.stringify(dry, null, 2)),
  ].join('\n\n')
  await expect(`${text.trimEnd()}\n`).toMatchFileSnapshot('../../../docs/move-in-report.md')
})
