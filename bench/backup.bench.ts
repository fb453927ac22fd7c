/**
 * A backup of 300,000 players (`--large`: a million) takes at most 2 × the time of `pg_dump -Fc` of the same database, on PostgreSQL 15 from
 * Debian's package postgresql-15. The bench also measures verifying, restoring, and the memory of each. `node bench/backup.bench.ts [players]`
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, chown, mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { IS_LARGE, median, report, ROOT, temporaryDirectory } from './measuring.ts'

const TIME_BUDGET = 2
const ROUNDS = 2
const PROGRAMS = '/usr/lib/postgresql/15/bin'
const PORT = 54_815
const players = Number(process.argv[2] ?? (IS_LARGE ? 1_000_000 : 300_000))

if (!existsSync(join(PROGRAMS, 'pg_dump'))) throw new Error('There is no PostgreSQL 15 here: apt-get install postgresql-15')
const directory = await temporaryDirectory()
const cluster = join(directory.path, 'cluster')
const url = `postgres://postgres@127.0.0.1:${PORT}/arcade`
const asPostgres = postgresUser()
await startCluster()
try {
  await arcade(['seed', '--telegram-users', String(players), '--participants', '0'])
  const place = join(directory.path, 'backup')
  const dumps: number[] = []
  const backups: Run[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    dumps.push(dump())
    await rm(place, { recursive: true, force: true })
    backups.push(await arcade(['backup', place]))
  }
  const trial = await arcade(['backup', 'verify', place])
  const restored = await arcade(['restore', place], { DATA_DIR: join(directory.path, 'restored'), DATABASE_URL: '' })
  const [dumped, saved] = [median(dumps), median(backups.map(({ seconds }) => seconds))]
  report(`backup of ${players.toLocaleString('en')} players`, { ours: saved, limit: dumped, unit: 's', atMost: TIME_BUDGET })
  report('size of the backup', { ours: await megabytes(place), unit: 'MB' })
  for (const [what, run] of [
    ['backup', backups[0]],
    ['verify', trial],
    ['restore', restored],
  ] as const) {
    if (what !== 'backup') report(what, { ours: run?.seconds ?? Number.NaN, unit: 's' })
    report(`${what}: peak memory`, { ours: run?.peakMb ?? Number.NaN, unit: 'MB' })
  }
} finally {
  program('pg_ctl', '-D', cluster, '-m', 'immediate', 'stop')
  await directory.remove()
}

/** PostgreSQL does not run as root. */
function postgresUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres']).toString())
  return { uid: id('-u'), gid: id('-g') }
}

function program(name: string, ...args: string[]): void {
  execFileSync(join(PROGRAMS, name), args, { ...asPostgres, cwd: '/', stdio: ['ignore', 'ignore', 'inherit'] })
}

async function startCluster(): Promise<void> {
  await mkdir(cluster, { mode: 0o700 })
  await chmod(directory.path, 0o711)
  if (asPostgres) await chown(cluster, asPostgres.uid, asPostgres.gid)
  program('initdb', '-D', cluster, '-A', 'trust', '-U', 'postgres')
  const options = `-p ${PORT} -k ${cluster} -c listen_addresses=127.0.0.1 -c max_wal_size=4GB`
  program('pg_ctl', '-D', cluster, '-o', options, '-l', join(cluster, 'log'), '-w', 'start')
  program('createdb', '-h', cluster, '-p', String(PORT), '-U', 'postgres', 'arcade')
}

function dump(): number {
  const started = performance.now()
  program('pg_dump', '-Fc', '-h', cluster, '-p', String(PORT), '-U', 'postgres', '-f', join(cluster, 'dump'), 'arcade')
  return (performance.now() - started) / 1000
}

interface Run {
  seconds: number
  peakMb: number
}

/** Runs a command of `arcade`. The time includes Node's start. */
async function arcade(args: string[], env: Record<string, string> = {}): Promise<Run> {
  const started = performance.now()
  const child = spawn(process.execPath, [resolve(ROOT, 'server/src/cli/arcade.ts'), ...args], {
    env: { PATH: process.env['PATH'], DATABASE_URL: url, DATA_DIR: join(directory.path, 'data'), ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const peak = watchMemory(child)
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`arcade ${args.join(' ')} ended with ${code}`)
  return { seconds: (performance.now() - started) / 1000, peakMb: peak() }
}

function watchMemory(child: ChildProcess): () => number {
  let peakMb = 0
  const timer = setInterval(() => {
    const status = existsSync(`/proc/${child.pid}`) ? readFileSync(`/proc/${child.pid}/status`, 'utf8') : ''
    peakMb = Math.max(peakMb, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
  }, 50)
  child.once('exit', () => clearInterval(timer))
  return () => peakMb
}

async function megabytes(path: string): Promise<number> {
  const sizes = (await readdir(path, { recursive: true })).map(async (name) => (await stat(join(path, name))).size)
  return Math.round((await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) / 1e6)
}
