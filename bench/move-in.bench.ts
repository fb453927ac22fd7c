/**
 * Design §9: moving in a managed export of Firestore, against the import of the same rows as NDJSON. The move-in also verifies checksums,
 * decodes, translates, and writes the rows to disk. Its memory is that of `arcade move-in` as a process while it reads.
 * `node bench/move-in.bench.ts [players]`
 */
import { spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { actOfProcess } from '../server/src/audit/audit.ts'
import type { Files } from '../server/src/files/files.ts'
import type { Images } from '../server/src/files/images.ts'
import { importDirectory } from '../server/src/import/import.ts'
import { moveIn } from '../server/src/move-in/move-in.ts'
import { secretKey } from '../server/src/webhooks/secret-key.ts'
import { type Documents, time, writeExport } from '../server/test/firestore-export.ts'
import { type BenchServer, median, report, residentMb, ROOT, startBenchServer, temporaryDirectory } from './measuring.ts'

const TIME_BUDGET = 2
const MEMORY_BUDGET_MB = 300
const ROUNDS = 3
const FILE_PLAYERS = 20_000
const SAMPLE_MS = 50
const players = Number(process.argv[2] ?? 250_000)
const first = 1_767_225_600_000

const server = await startBenchServer()
const folder = await temporaryDirectory()
const exported = join(folder.path, 'export')
const lines = join(folder.path, 'import')
try {
  await writeExport(join(exported, 'firestore_export'), { files: files() })
  await mkdir(lines)
  await pipeline(Readable.from(rows()), createWriteStream(join(lines, 'telegramUsers.ndjson')))

  const [imports, moves, ratios]: number[][] = [[], [], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    const imported = await onEmptyTables(server, () => importDirectory({ ...server, directory: lines }))
    const moved = await onEmptyTables(server, () => moveInAll(server))
    imports!.push(imported)
    moves!.push(moved)
    ratios!.push(moved / imported)
  }
  const noun = `${players.toLocaleString('en')} players`
  const [ours, limit, ratio] = [median(moves!), median(imports!), median(ratios!)]
  report(noun, { ours, limit, ratio, unit: 's', atMost: TIME_BUDGET })
  report('memory while it reads', { ours: await readingMb(server), unit: 'MB', atMost: MEMORY_BUDGET_MB })
} finally {
  await server.stop()
  await folder.remove()
}

/** A player as the game has it in Firestore, but for the times. */
function player(n: number): Record<string, unknown> {
  const userId = 100_000_000 + ((n * 7919) % 100_000_007)
  return {
    userId,
    firstName: ['Åse', 'Sky', 'Daria', 'Chidi', 'Виктор', 'Ivan', 'محمد', 'Wei', 'Lucía'][n % 9],
    ...(n % 7 > 0 && { lastName: `Last${n % 5000}` }),
    username: `moon_${n}`,
    ...(n % 2 === 0 && { twitterUsername: `@moon_${n}`, email: `player${userId}@example.org` }),
    ...(n % 4 === 0 && { phoneNumber: `+62${userId}`, tonWalletAddress: `UQ${String(userId).repeat(5)}` }),
    balance: n % 4 === 0 ? (n % 60_000) + 0.25 : (n % 60_000) * 71,
  }
}

function* files(): Generator<Documents> {
  for (let from = 0; from < players; from += FILE_PLAYERS) {
    const documents: Record<string, Record<string, unknown>> = {}
    for (let n = from; n < Math.min(players, from + FILE_PLAYERS); n += 1) {
      const { userId, ...fields } = player(n)
      documents[`telegramUsers/${String(userId)}`] = { ...fields, createdAt: time(BigInt(first + n * 1000) * 1000n) }
    }
    yield documents
  }
}

function* rows(): Generator<string> {
  for (let n = 0; n < players; n += 1)
    yield `${JSON.stringify({ ...player(n), createdAt: new Date(first + n * 1000).toISOString() })}\n`
}

async function onEmptyTables({ database }: BenchServer, work: () => Promise<unknown>): Promise<number> {
  await sql`truncate telegram_users, balances, ledger_entries`.execute(database.db)
  const started = performance.now()
  await work()
  const seconds = (performance.now() - started) / 1000
  const { rows: found } = await sql<{ count: number }>`select count(*)::int as count from telegram_users`.execute(database.db)
  if (found[0]?.count !== players) throw new Error(`${found[0]?.count} players were written`)
  return seconds
}

function moveInAll({ database, dataDir }: BenchServer): Promise<unknown> {
  return moveIn({
    database,
    act: actOfProcess('command', 'bench'),
    secretKey: secretKey('of the bench'),
    files: {} as Files, // no announcement has a file
    images: {} as Images,
    directory: exported,
    dataDir,
    note: (line) => console.log(line),
  })
}

/** Returns the highest resident memory of the process from its start until it has read the export; then it is ended. */
async function readingMb({ dataDir }: BenchServer): Promise<number> {
  const child = spawn(process.execPath, [resolve(ROOT, 'server/src/cli/arcade.ts'), 'move-in', exported, '--dry-run'], {
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir, INIT_CWD: folder.path },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = new Promise((settle) => child.once('close', settle))
  let peak = 0
  let isReading = true
  const sampling = (async () => {
    for (; isReading; await pause(SAMPLE_MS)) peak = Math.max(peak, await residentMb(child.pid!))
  })()
  for await (const line of createInterface({ input: child.stderr })) if (line.startsWith('Trying all rows')) break
  isReading = false
  await sampling
  child.kill('SIGTERM')
  await ended
  return peak
}
