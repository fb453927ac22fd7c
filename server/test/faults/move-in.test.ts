/** `arcade move-in` that is killed, and two at the same time (security.md, Crash). */
import { execFileSync } from 'node:child_process'
import { constants } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { MoveInReport } from '#src/move-in/report.ts'
import type * as firestore from '#test/firestore-export.ts'
import { account, hashing, moved } from '#test/auth-export.ts'
import { counts, created, folderOf } from '#test/move-in.ts'
import { temporaryDataDir, waitFor } from '#test/processes.ts'
import { createDatabase } from '#test/test-database.ts'
import { onServer } from '#test/test-server.ts'
import { connectionsEnded, startCommandWith } from './console-process.ts'

/** Six batches of a move-in. */
const PLAYERS = 12_000

/** A game with more players than a batch, half of whom took part. */
function game(): firestore.Documents {
  const documents: Record<string, Record<string, unknown>> = {
    'users/ada': { fname: 'Ada', lname: 'X', email: 'ada@gmail.com', userType: 'admin' },
    'socialTask/t1': { image: 'twitter', priority: 1, title: 'Follow', reward: 5, link: 'https://x.com/a', createdAt: created },
  }
  for (let id = 1; id <= PLAYERS; id += 1) {
    documents[`telegramUsers/${id}`] = { firstName: 'P', balance: 2, createdAt: created }
    if (id % 2 === 0) documents[`socialTasksHistory/t1/users/${id}`] = { id, username: 'p', timestamp: created }
  }
  return documents
}

interface Console {
  url: string
  dataDir: string
  folder: string
  moveIn: () => ReturnType<typeof startCommandWith>
}

/** A migrated database without a server, and a folder with an export, accounts and these files. */
async function prepare(name: string, files: Record<string, unknown>): Promise<Console> {
  const url = await createDatabase(name, { isMigrated: true })
  const dataDir = await temporaryDataDir()
  const folder = await folderOf(game(), { 'auth.json': { users: [account('ada', moved)] }, ...files })
  return { url, dataDir, folder, moveIn: () => startCommandWith({ DATABASE_URL: url }, dataDir, 'move-in', folder, '--json') }
}

/** Makes the hash parameters a pipe. A run waits there before it reads documents; the pipe is then open for writing. */
async function pipeOf(folder: string): Promise<{ opened: Promise<Awaited<ReturnType<typeof open>>> }> {
  const file = path.join(folder, 'hash.json')
  execFileSync('mkfifo', [file])
  const opened = open(file, 'w')
  onTestFinished(async () => {
    // Lets the opening end if no run came that far.
    const both = await open(file, constants.O_RDWR | constants.O_NONBLOCK)
    await (await opened).close().catch(() => undefined)
    await both.close()
  })
  return { opened }
}

async function spools(dataDir: string): Promise<string[]> {
  return (await readdir(dataDir)).filter((name) => name.startsWith('move-in-'))
}

test('security: kill -9 during a move-in, while documents and while accounts are written: the next run completes it, and nothing is doubled or lost', async () => {
  const { url, dataDir, moveIn } = await prepare('move_in_killed', { 'hash.json': hashing })
  /**
   * Kills a run while it writes to a table. A lock of the test holds the first such statement, so that it is under way but not done when the
   * process dies. Returns what the run leaves in `dataDir`.
   */
  const killAt = async (table: string): Promise<string[]> => {
    const holder = new pg.Client({ connectionString: url })
    await holder.connect()
    try {
      await holder.query('begin')
      await holder.query(`lock table ${table} in share mode`) // reads go on
      const run = moveIn()
      await waitFor(`a write to ${table}`, async () => {
        const { rowCount } = await holder.query(`select from pg_locks where relation = '${table}'::regclass and not granted`)
        return rowCount! > 0
      })
      run.child.kill('SIGKILL')
      const { code, output } = await run.ended
      expect(code, output).toBeNull()
    } finally {
      await holder.end()
    }
    await connectionsEnded(url)
    return spools(dataDir)
  }
  const [left, ...none] = await killAt('telegram_users')
  expect([typeof left, none]).toEqual(['string', []])
  const [own, ...others] = await killAt('accounts')
  expect([typeof own, own === left, others]).toEqual(['string', false, []])

  const third = await moveIn().ended
  expect(third.code, third.output).toBe(0)
  expect(await spools(dataDir)).toEqual([])
  const report = JSON.parse(third.output.slice(third.output.indexOf('{'))) as MoveInReport
  expect(counts(report)).toEqual({
    users: [1, 0, 0, 1, 0],
    socialTask: [1, 0, 0, 1, 0],
    telegramUsers: [PLAYERS, 0, 0, PLAYERS, 0],
    'socialTasksHistory/users': [PLAYERS / 2, 0, 0, PLAYERS / 2, 0],
  })
  expect(report.accounts).toMatchObject({ read: 1, new: 1 })
  const [stored] = await onServer(url, (run) =>
    run(`select (select count(*)::int from telegram_users) as players, (select count(*)::int from participations) as participations,
      (select sum(balance)::int from balances) as balances, (select sum(amount)::int from ledger_entries) as entries,
      (select count(*)::int from accounts) as accounts`),
  )
  expect(stored).toEqual({
    players: PLAYERS,
    participations: PLAYERS / 2,
    balances: 2 * PLAYERS,
    entries: 2 * PLAYERS,
    accounts: 1,
  })
  for (const command of ['reconcile', 'check']) {
    const { code: ended, output } = await startCommandWith({ DATABASE_URL: url }, dataDir, command).ended
    expect(ended, output).toBe(0)
  }
})

test('security: of two move-ins at the same time the second is refused in one line, and the first completes', async () => {
  const { folder, moveIn } = await prepare('move_in_twice', {})
  const { opened } = await pipeOf(folder)
  const first = moveIn()
  const pipe = await opened
  expect(await moveIn().ended).toEqual({
    code: 1,
    output: 'Another `arcade move-in` or an import is under way: wait until it has ended.\n',
  })
  await pipe.writeFile(JSON.stringify(hashing))
  await pipe.close()
  const { code, output } = await first.ended
  expect(code, output).toBe(0)
})
