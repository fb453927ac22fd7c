/**
 * Disk space and memory of a console with a million players and a million participations: bytes for each row and index, and the memory of
 * PostgreSQL and the server, when empty and after a load of ten connections. Memory that processes share counts once.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { seeded, startFilledServer } from './consoles.ts'
import { type BenchServer, measure, report, startBenchServer } from './measuring.ts'

const ROWS = 1_000_000
const LOAD_SECONDS = 3
const MEBIBYTE = 2 ** 20

const empty = await startBenchServer()
try {
  await reportMemory(empty, 'empty console')
} finally {
  await empty.stop()
}

const server = await startFilledServer(seeded(ROWS))
try {
  await reportDisk(server, { table: 'telegram_users', noun: 'one player' })
  await reportDisk(server, { table: 'balances', noun: 'one balance' })
  await reportDisk(server, { table: 'ledger_entries', noun: 'the ledger entries of one player' })
  await reportDisk(server, { table: 'participations', noun: 'one participation' })
  await reportDatabase(server)
  for (const query of ['', 'sort=a-z&pageSize=50', 'search=moon', 'search=zzqx'])
    await measure({
      url: `${server.url}/api/telegram-users?${query}`,
      headers: { cookie: server.admin.cookie },
      connections: 10,
      seconds: LOAD_SECONDS,
    })
  await reportMemory(server, 'a million players, under load')
} finally {
  await server.stop()
}

async function reportDisk({ database: { db } }: BenchServer, { table, noun }: { table: string; noun: string }): Promise<void> {
  const { rows: parts } = await sql<{ name: string; bytes: number }>`
    select indexrelid::regclass::text as name, pg_relation_size(indexrelid) as bytes from pg_index where indrelid = ${table}::regclass
    order by bytes desc`.execute(db)
  const { rows: whole } = await sql<{ all: number; heap: number }>`
    select pg_total_relation_size(${table}::regclass) as all, pg_table_size(${table}::regclass) as heap`.execute(db)
  const unit = 'bytes'
  report(`disk space of ${noun}`, { ours: (whole[0]?.all ?? Number.NaN) / ROWS, unit })
  report(`disk space of ${noun}: row`, { ours: (whole[0]?.heap ?? Number.NaN) / ROWS, unit })
  for (const { name, bytes } of parts) report(`disk space of ${noun}: index \`${name}\``, { ours: bytes / ROWS, unit })
}

/** Reports the size of the database, and of the WAL, which does not grow with the number of rows. */
async function reportDatabase({ database: { db }, dataDir }: BenchServer): Promise<void> {
  const { rows } = await sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`.execute(db)
  report('size of the database', { ours: (rows[0]?.bytes ?? Number.NaN) / MEBIBYTE, unit: 'MB' })
  const folder = join(dataDir, 'postgres/pg_wal')
  const files = await Promise.all((await readdir(folder)).map((name) => stat(join(folder, name))))
  const wal = files.filter((file) => file.isFile()).reduce((sum, { size }) => sum + size, 0)
  report('size of the write-ahead log after seeding', { ours: wal / MEBIBYTE, unit: 'MB' })
}

async function reportMemory({ dataDir, pid }: BenchServer, when: string): Promise<void> {
  const postmaster = Number((await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])
  const processes = [postmaster, ...(await childrenOf(postmaster))]
  const sizes = await Promise.all(processes.map(proportionalMb))
  report(`memory of PostgreSQL, ${when}`, { ours: sizes.reduce((sum, size) => sum + size, 0), unit: 'MB' })
  report(`memory of the server, ${when}`, { ours: await proportionalMb(pid), unit: 'MB' })
}

async function childrenOf(parent: number): Promise<number[]> {
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const parents = await Promise.all(
    processes.map(async (name) => {
      const status = await readFile(`/proc/${name}/status`, 'utf8').catch(() => '') // empty if the process has ended
      return { pid: Number(name), parent: Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]) }
    }),
  )
  return parents.filter((one) => one.parent === parent).map(({ pid }) => pid)
}

/** Returns the proportional set size (PSS) of a process in MB: memory that n processes share counts 1/n for each. */
async function proportionalMb(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '') // empty if the process has ended
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024
}
