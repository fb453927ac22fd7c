/**
 * `npm run bench [name…]` runs bench/*.bench.ts one after another and writes their results into docs/performance.md. A missed budget fails
 * the run only with `--strict`, because budgets are for a quiet machine. With `--large`, benches that usually use a million rows use ten.
 */
import { rmSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findChromium } from './chromium.ts'
import { root, run } from './children.ts'
import { describeRun, largeName, type Row, withSection } from './performance.ts'
import { buildWeb } from './web-build.ts'

const flag = { type: 'boolean', default: false } as const
const { values, positionals } = parseArgs({ allowPositionals: true, options: { strict: flag, large: flag } })
const MISSED_BUDGET = 3 // the exit code of a bench that missed a budget, as in bench/measuring.ts
/** The time that all benches together may take at a million rows. */
const MAX_MINUTES = 30
const all = (await readdir(join(root, 'bench'))).filter((name) => name.endsWith('.bench.ts')).toSorted()
const chosen = all.filter((file) => positionals.length === 0 || positionals.some((name) => file.includes(name)))
if (chosen.length === 0) {
  console.error(`There is no such bench. There are: ${all.join(', ')}`)
  process.exit(1)
}

const env: Record<string, string> = chosen.some((file) => /^(first-load|interaction)/.test(file))
  ? { CHROMIUM_PATH: await findChromium({ isWhole: true }) }
  : {}
if (chosen.length > 1 && process.env['BENCH_CONSOLES'] === undefined) {
  const consoles = await mkdtemp(join(tmpdir(), 'arcade-bench-consoles-'))
  env['BENCH_CONSOLES'] = consoles
  process.on('exit', () => rmSync(consoles, { recursive: true, force: true }))
}
await buildWeb() // the measured server serves it
const missed: string[] = []
const begun = performance.now()
if (chosen.length === all.length && !values.large) await run('node', ['bench/fill-consoles.ts'], { env })
for (const file of chosen) {
  console.log(`\n── ${file}`)
  const started = performance.now()
  const ran = describeRun()
  const folder = await mkdtemp(join(tmpdir(), 'arcade-bench-'))
  const rowsFile = join(folder, 'rows.ndjson')
  await writeFile(rowsFile, '')
  const chosenEnv = { ...env, BENCH_ROWS: rowsFile, ...(values.large && { BENCH_LARGE: 'yes' }) }
  const { code } = await run('node', [join('bench', file)], { env: chosenEnv })
  const rows = (await readFile(rowsFile, 'utf8'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row)
  await rm(folder, { recursive: true })
  const isWhole = code === 0 || code === MISSED_BUDGET
  if (isWhole && rows.length > 0) await writeSection(file, { ran, rows }) // a bench that needs more than this machine has writes no rows
  console.log(`${file} took ${minutesSince(started).toFixed(1)} min`)
  if (code !== 0) missed.push(isWhole ? file : `${file} (broke with ${code})`)
  if (!isWhole || (code === MISSED_BUDGET && values.strict)) process.exitCode = 1
}
const isTooLong = !values.large && minutesSince(begun) > MAX_MINUTES
if (isTooLong) missed.push(`all benches, which took ${minutesSince(begun).toFixed(0)} min instead of ${MAX_MINUTES}`)
if (isTooLong && values.strict) process.exitCode = 1
console.log(missed.length > 0 ? `\nBeyond a budget, or broken: ${missed.join(', ')}` : '\nAll within their budgets')

function minutesSince(moment: number): number {
  return (performance.now() - moment) / 60_000
}

async function writeSection(file: string, { ran, rows }: { ran: string; rows: Row[] }): Promise<void> {
  const document = join(root, 'docs/performance.md')
  const before = await readFile(document, 'utf8').catch(() => '') // the document does not exist yet
  const name = file.replace('.bench.ts', '')
  await writeFile(document, withSection(before, { name: values.large ? largeName(name) : name, ran, rows }))
}
