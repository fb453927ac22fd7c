/**
 * `npm run bench [name…]`: runs bench/*.bench.ts one after another. A file prints its own table and ends with 1 beyond a budget, which
 * counts as a failure with `--strict` only: budgets are for a quiet machine.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findChromium } from './chromium.ts'
import { root, run } from './children.ts'
import { buildWeb } from './web-build.ts'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { strict: { type: 'boolean', default: false } } })
const all = (await readdir(join(root, 'bench'))).filter((name) => name.endsWith('.bench.ts')).toSorted()
const chosen = all.filter((file) => positionals.length === 0 || positionals.some((name) => file.includes(name)))
if (chosen.length === 0) {
  console.error(`There is no such bench. There are: ${all.join(', ')}`)
  process.exit(1)
}

const env = chosen.some((file) => /^(first-load|interaction)/.test(file)) ? { CHROMIUM_PATH: await findChromium() } : {}
await buildWeb() // the server serves it
const missed: string[] = []
for (const file of chosen) {
  console.log(`\n── ${file}`)
  const { code } = await run('node', [join('bench', file)], { env })
  if (code !== 0) missed.push(`${file} (${code})`)
  if (code > 1 || (code === 1 && values.strict)) process.exitCode = 1
}
console.log(missed.length > 0 ? `\nBeyond a budget, or broken: ${missed.join(', ')}` : '\nAll within their budgets')
