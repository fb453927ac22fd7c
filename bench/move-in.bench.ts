/**
 * Design §9: moving in a managed export of Firestore, against the import of the same rows as NDJSON, and moving in again after a hundredth of
 * the players has changed. The move-in also verifies checksums, decodes, translates, and writes the rows to disk. All are commands as an
 * operator runs them, beside a running console.
 * `node bench/move-in.bench.ts [players [characters]]`: with a text of that length in each document, only the reading is measured; with a
 * million players, the import is left out.
 */
import { spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { documentsOf, PARTICIPATIONS, writeLargeExport } from './large-export.ts'
import { median, report, residentMb, ROOT, startBenchServer, temporaryDirectory } from './measuring.ts'

const IMPORT_BUDGET = 2
const AGAIN_BUDGET = 0.15
const MEMORY_BUDGET_MB = 300
const READING_BUDGET_MB_S = 20
/** Smaller exports are read before the code is compiled to the full. */
const LARGE_BYTES = 500_000_000
const MANY_PLAYERS = 500_000
const SAMPLE_MS = 50
const TICKS_A_SECOND = 100
const players = Number(process.argv[2] ?? 60_000)
const fillerCharacters = Number(process.argv[3] ?? 0)
const isLarge = players >= MANY_PLAYERS
const rounds = isLarge ? 1 : 3
const noun = `${players.toLocaleString('en')} players`

const server = await startBenchServer()
const { database, dataDir } = server
const folder = await temporaryDirectory()
const [exported, later, lines] = ['export', 'later', 'import'].map((name) => join(folder.path, name)) as [string, string, string]
try {
  const bytes = await writeLargeExport(join(exported, 'firestore_export'), { players, fillerCharacters })
  const reading = await run('Trying all rows', 'move-in', exported, '--dry-run')
  const [speed, gigabytes] = [bytes / 1e6 / reading.cpuSeconds, (bytes / 1e9).toFixed(1)]
  report(`reading ${gigabytes} GB`, {
    ours: speed,
    unit: 'MB/s of a core',
    ...(bytes >= LARGE_BYTES && { atLeast: READING_BUDGET_MB_S }),
  })
  report(`memory while it reads ${gigabytes} GB`, { ours: reading.peakMb, unit: 'MB', atMost: MEMORY_BUDGET_MB })
  if (fillerCharacters === 0) await measureRuns()
} finally {
  await server.stop()
  await folder.remove()
}

async function measureRuns(): Promise<void> {
  await writeLargeExport(join(later, 'firestore_export'), { players, isLater: true })
  if (!isLarge) await writeLines()
  const found = { imported: [] as number[], first: [] as number[], again: [] as number[], peakMb: 0 }
  for (let round = 0; round < rounds; round += 1) {
    if (!isLarge) {
      await emptyTables()
      found.imported.push((await run(undefined, 'import', lines)).seconds)
      await expectRows()
    }
    await emptyTables()
    const first = await run(undefined, 'move-in', exported)
    await expectRows()
    const again = await run(undefined, 'move-in', later)
    await expectRows()
    found.first.push(first.seconds)
    found.again.push(again.seconds)
    found.peakMb = Math.max(found.peakMb, first.peakMb, again.peakMb)
  }
  const { imported, first, again, peakMb } = found
  const ratios = (ours: number[], limits: number[]) => median(ours.map((seconds, round) => seconds / limits[round]!))
  const documents = `${noun} and ${(players * PARTICIPATIONS).toLocaleString('en')} participations`
  const compared = { limit: median(imported), ratio: ratios(first, imported), atMost: IMPORT_BUDGET }
  report(documents, { ours: median(first), unit: 's', ...(!isLarge && compared) })
  report('again, a hundredth changed', {
    ours: median(again),
    limit: median(first),
    ratio: ratios(again, first),
    unit: 's',
    atMost: AGAIN_BUDGET,
  })
  report('memory', { ours: peakMb, unit: 'MB', atMost: MEMORY_BUDGET_MB })
}

/** Writes the same rows in the format of the import. */
async function writeLines(): Promise<void> {
  await mkdir(lines)
  const write = (name: string, rows: Iterable<object>) => {
    const texts = (function* () {
      for (const row of rows) yield `${JSON.stringify(row)}\n`
    })()
    return pipeline(Readable.from(texts), createWriteStream(join(lines, `${name}.ndjson`)))
  }
  const shown = (_name: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && 'micros' in value
      ? new Date(Number((value as { micros: bigint }).micros / 1000n)).toISOString()
      : value
  const rowsOf = function* (collection: string): Generator<object> {
    for (const [[of, parent, , id], fields] of documentsOf({ players })) {
      if (of !== collection) continue
      const dated = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, shown(name, value)]))
      yield id === undefined ? { userId: Number(parent), ...dated } : { parent, ...dated }
    }
  }
  const parents = new Set<string>()
  for (const [[of, parent]] of documentsOf({ players: Math.min(players, 1000) })) if (of !== 'telegramUsers') parents.add(parent!)
  await write(
    'socialTasksHistory',
    [...parents].map((id) => ({ id, title: id, type: 'other', reward: 0 })),
  )
  await write('telegramUsers', rowsOf('telegramUsers'))
  await write('socialTasksHistory.users', rowsOf('socialTasksHistory'))
}

async function emptyTables(): Promise<void> {
  await sql`truncate telegram_users, balances, ledger_entries, participations, history_items`.execute(database.db)
}

async function expectRows(): Promise<void> {
  const { rows } = await sql<{ players: number; participations: number }>`select
    (select count(*)::int from telegram_users) as players, (select count(*)::int from participations) as participations`.execute(
    database.db,
  )
  if (rows[0]?.players !== players || rows[0].participations !== players * PARTICIPATIONS)
    throw new Error(`There are ${JSON.stringify(rows[0])}`)
}

interface Measured {
  seconds: number
  /** Of the process alone, in all its threads, without its start. */
  cpuSeconds: number
  peakMb: number
}

/**
 * Runs a command and returns its time, and the highest resident memory of its process.
 * @param until the beginning of a line of its notes at which it is ended
 */
async function run(until: string | undefined, ...args: string[]): Promise<Measured> {
  const started = performance.now()
  const child = spawn(process.execPath, [resolve(ROOT, 'server/src/cli/arcade.ts'), ...args], {
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir, INIT_CWD: folder.path },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let isRunning = true
  const ended = new Promise<number | null>((settle) => child.once('close', settle))
  void ended.then(() => (isRunning = false))
  let [peakMb, cpuSeconds] = [0, 0]
  const sampling = (async () => {
    for (; isRunning; await pause(SAMPLE_MS)) {
      peakMb = Math.max(peakMb, await residentMb(child.pid!).catch(() => 0))
      cpuSeconds = await cpuSecondsOf(child.pid!).catch(() => cpuSeconds)
    }
  })()
  let [seconds, startSeconds] = [0, 0]
  for await (const line of createInterface({ input: child.stderr })) {
    console.log(`${args[0]}: ${line}`)
    if (line.startsWith('Reading')) startSeconds = await cpuSecondsOf(child.pid!)
    if (until === undefined || !line.startsWith(until)) continue
    seconds = (performance.now() - started) / 1000
    child.kill('SIGTERM')
  }
  const code = await ended
  await sampling
  if (until === undefined && code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`)
  await rm(join(folder.path, 'rejected.ndjson'), { force: true })
  if (until === undefined) seconds = (performance.now() - started) / 1000
  console.log(`${args[0]}: ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of a core, ${peakMb.toFixed(0)} MB`)
  return { seconds, cpuSeconds: cpuSeconds - startSeconds, peakMb }
}

async function cpuSecondsOf(pid: number): Promise<number> {
  const [user, system] = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ').slice(11, 13)
  return (Number(user) + Number(system)) / TICKS_A_SECOND
}
