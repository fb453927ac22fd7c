/**
 * Design §9: seeding and importing 300,000 players (`--large`: a million), against `COPY` of the same rows into the same empty tables with
 * the same indexes, on one connection. Seeding and importing do more than `COPY`: they check, count and vacuum, and can be interrupted.
 * `node bench/filling.bench.ts [players]`
 */
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createReadStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { sql } from 'kysely'
import { playerFields } from '@arcade/contract/players/fields'
import { importDirectory } from '../server/src/import/import.ts'
import { seed } from '../server/src/import/seed.ts'
import { columnName, playerEntity, sourceSql } from '../server/src/db/entities.ts'
import { copyIn, copyOut } from '../server/src/postgres/copy.ts'
import { IS_LARGE, report, startBenchServer, temporaryDirectory } from './measuring.ts'

const SEED_BUDGET = 2
const IMPORT_BUDGET = 3
const CHUNK_BYTES = 256 * 1024
const players = Number(process.argv[2] ?? (IS_LARGE ? 1_000_000 : 300_000))
const fields = Object.keys(playerFields)
const columns = fields.map((field) => columnName(playerEntity, field))
/** The columns to copy, by table. */
const tables = {
  telegram_users: columns.filter((column) => column !== 'balance'),
  balances: ['user_id', 'balance', 'imported', 'entries'],
  ledger_entries: ['user_id', 'seq', 'amount', 'cause', 'at', 'balance'],
}

const server = await startBenchServer()
const { database } = server
const folder = await temporaryDirectory()
const client = await database.connect('bench')
const log = (line: string): void => console.log(line)
try {
  const seeded = await timed(() => seed({ database, telegramUsers: players, participations: 0, log }))
  const rows = join(folder.path, 'rows')
  const lines = join(folder.path, 'import', 'telegramUsers.ndjson')
  await mkdir(join(folder.path, 'import'))
  for (const [table, names] of Object.entries(tables))
    await keep(`${rows}-${table}`, `copy (select ${names.join(', ')} from ${table}) to stdout`)
  // CSV with these quote and delimiter characters writes the JSON unchanged; the text format would double its backslashes.
  const object = `json_build_object(${fields.map((field, index) => `'${field}', ${columns[index]}`).join(', ')})`
  await keep(
    lines,
    `copy (select json_strip_nulls(${object}) from ${sourceSql(playerEntity)}) to stdout (format csv, quote e'\\x01', delimiter e'\\x02')`,
  )

  await empty()
  const copied = await timed(async () => {
    for (const [table, names] of Object.entries(tables)) {
      const file = createReadStream(`${rows}-${table}`, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>
      await copyIn(client, `copy ${table} (${names.join(', ')}) from stdin`, file)
    }
  })

  await empty()
  const imported = await timed(() =>
    importDirectory({
      database,
      directory: join(folder.path, 'import'),
      rejectedPath: join(folder.path, 'rejected.ndjson'),
      log,
    }),
  )
  const noun = `${players.toLocaleString('en')} players`
  report(`seeding ${noun}`, { ours: seeded, limit: copied, unit: 's', atMost: SEED_BUDGET })
  report(`importing ${noun}`, { ours: imported, limit: copied, unit: 's', atMost: IMPORT_BUDGET })
} finally {
  await client.end()
  await server.stop()
  await folder.remove()
}

async function empty(): Promise<void> {
  await sql`truncate telegram_users, balances, ledger_entries`.execute(database.db)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1000
}

async function keep(path: string, statement: string): Promise<void> {
  await pipeline(Readable.from(copyOut(client, statement, CHUNK_BYTES)), createWriteStream(path))
}
