/**
 * What a console of a million players and a million participations takes: of the disk for each of them, index by index, and of memory in its
 * PostgreSQL and its server, at rest and after ten connections have turned pages and searched. Memory that processes share counts once.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { seed } from '../server/src/import/seed.ts'
import { type BenchServer, measure, report, startBenchServer } from './harness.ts'

const ROWS = 1_000_000
const LOAD_SECONDS = 3
const MEBIBYTE = 2 ** 20

const server = await startBenchServer()
try {
  await tellMemory(server, 'with nobody in it')
  await seed({ database: server.database, telegramUsers: ROWS, participations: ROWS, log: (line) => console.log(line) })
  await tellDisk(server, { table: 'telegram_users', noun: 'player' })
  await tellDisk(server, { table: 'balances', noun: 'balance' })
  await tellDisk(server, { table: 'ledger_entries', noun: "player's entries" })
  await tellDisk(server, { table: 'participations', noun: 'participation' })
  await tellWhole(server)
  for (const query of ['', 'sort=a-z&pageSize=50', 'search=moon', 'search=zzqx'])
    await measure({
      url: `${server.url}/api/telegram-users?${query}`,
      headers: { cookie: server.admin.cookie },
      connections: 10,
      seconds: LOAD_SECONDS,
    })
  await tellMemory(server, 'with a million players, under load')
} finally {
  await server.stop()
}

async function tellDisk({ database: { db } }: BenchServer, { table, noun }: { table: string; noun: string }): Promise<void> {
  const { rows: parts } = await sql<{ name: string; bytes: number }>`
    select indexrelid::regclass::text as name, pg_relation_size(indexrelid) as bytes from pg_index where indrelid = ${table}::regclass
    order by bytes desc`.execute(db)
  const { rows: whole } = await sql<{ all: number; heap: number }>`
    select pg_total_relation_size(${table}::regclass) as all, pg_table_size(${table}::regclass) as heap`.execute(db)
  const unit = `bytes a ${noun}`
  report(`a ${noun} on the disk`, { ours: (whole[0]?.all ?? Number.NaN) / ROWS, unit })
  report(`… of which the row`, { ours: (whole[0]?.heap ?? Number.NaN) / ROWS, unit })
  for (const { name, bytes } of parts) report(`… of which the index \`${name}\``, { ours: bytes / ROWS, unit })
}

/** The database, and beside it PostgreSQL's log, which does not grow with the rows. */
async function tellWhole({ database: { db }, dataDir }: BenchServer): Promise<void> {
  const { rows } = await sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`.execute(db)
  report('the database', { ours: (rows[0]?.bytes ?? Number.NaN) / MEBIBYTE, unit: 'MB' })
  const folder = join(dataDir, 'postgres/pg_wal')
  const files = await Promise.all((await readdir(folder)).map((name) => stat(join(folder, name))))
  const wal = files.filter((file) => file.isFile()).reduce((sum, { size }) => sum + size, 0)
  report('its write-ahead log after seeding', { ours: wal / MEBIBYTE, unit: 'MB' })
}

async function tellMemory({ dataDir, pid }: BenchServer, when: string): Promise<void> {
  const postmaster = Number((await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])
  const processes = [postmaster, ...(await childrenOf(postmaster))]
  const sizes = await Promise.all(processes.map(proportionalMb))
  report(`memory of PostgreSQL ${when}`, { ours: sizes.reduce((sum, size) => sum + size, 0), unit: 'MB' })
  report(`memory of the server ${when}`, { ours: await proportionalMb(pid), unit: 'MB' })
}

async function childrenOf(parent: number): Promise<number[]> {
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const parents = await Promise.all(
    processes.map(async (name) => {
      const status = await readFile(`/proc/${name}/status`, 'utf8').catch(() => '') // it has ended
      return { pid: Number(name), parent: Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]) }
    }),
  )
  return parents.filter((one) => one.parent === parent).map(({ pid }) => pid)
}

/** Of what it shares with others its part. */
async function proportionalMb(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '') // it has ended
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024
}
