/**
 * `npm test` runs the checks and the tests of all modules, components and calls, and sets up all that they need. The last line is
 * `N passed, M failed`; each check counts as one. `npm test -- server [path…]` runs one part. The long parts, which are the browser tests,
 * the fault tests and the tests on other databases, run by name (`npm test -- e2e`) or with `npm test -- all`, as in continuous integration.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { check, type Counts } from './check.ts'
import { root, run } from './children.ts'
import { findChromium } from './chromium.ts'
import { longParts, projectOf, testFolders } from './test-folders.ts'
import { buildWeb } from './web-build.ts'

const projects = Object.keys(testFolders)
const results = mkdtempSync(join(tmpdir(), 'arcade-test-'))
process.on('exit', () => rmSync(results, { recursive: true, force: true }))

const parts = ['check', ...projects, 'e2e', 'all']
const [argument, ...filters] = process.argv.slice(2)
if (argument !== undefined && !parts.includes(argument)) {
  console.error(`Usage: npm test [-- ${parts.join(' | ')} [path…]]`)
  process.exit(1)
}
/** Whether a part runs: the named one, every one with `all`, those that do not take long without an argument. */
const runs = (name: string): boolean => argument === name || argument === 'all' || (!argument && !longParts.includes(name))

const total = { passed: 0, failed: 0 }
if (runs('check')) await count('Checks', check)
if (projects.some(runs)) await count('Unit and server tests', runVitest)
if (runs('e2e')) await count('Browser tests', runPlaywright)
if (total.passed + total.failed === 0) total.failed++
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed > 0 ? 1 : 0

/** Counts a part that throws, or that ran no test, as one failure. */
async function count(title: string, runPart: () => Promise<Counts>): Promise<void> {
  console.log(`\n── ${title}`)
  try {
    const { passed, failed } = await runPart()
    total.passed += passed
    total.failed += failed
    if (passed + failed === 0) throw new Error('No test was run.')
  } catch (error) {
    total.failed++
    console.error(`✗ ${title}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Runs the component tests by themselves: their Chromium would take a quarter of a core from the other tests until all of them end. */
async function runVitest(): Promise<Counts> {
  await buildWeb() // for the tests that start the server as a process
  const selected = projects.filter(runs)
  const sum = { passed: 0, failed: 0 }
  for (const names of [selected.filter((name) => name === 'web'), selected.filter((name) => name !== 'web')]) {
    if (names.length === 0) continue
    const { passed, failed } = await runProjects(names)
    sum.passed += passed
    sum.failed += failed
  }
  return sum
}

async function runProjects(names: readonly string[]): Promise<Counts> {
  const file = join(results, `vitest-${names[0]}.json`)
  // With paths, one of the two runs may have none of them. `count` fails if no test was run at all.
  const selection = [
    ...names.flatMap((name) => ['--project', name]),
    ...(filters.length > 0 ? ['--passWithNoTests'] : []),
    ...filters,
  ]
  const env = names.includes('web') ? { CHROMIUM_PATH: await findChromium() } : {}
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  // Vitest's own number is one fewer than the cores, but tests of processes and locks mostly wait.
  const workers = `--maxWorkers=${availableParallelism() + 2}`
  const { code } = await run('vitest', ['run', workers, ...reporters, ...selection], { env })
  const report = readReport(file, code) as {
    numPassedTests: number
    numFailedTests: number
    testResults: { name: string; status: string; assertionResults: unknown[] }[]
  }
  const broken = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  ).length
  const skipped = filters.length > 0 ? [] : await filesNotRun(names, new Set(report.testResults.map(({ name }) => name)))
  for (const name of skipped) console.error(`✗ ${name} was not run by any project of vitest.config.ts`)
  return withExitCode({ passed: report.numPassedTests, failed: report.numFailedTests + broken + skipped.length }, code)
}

/** Returns the test files in the folders of these projects that Vitest did not see. */
async function filesNotRun(selected: readonly string[], seen: ReadonlySet<string>): Promise<string[]> {
  const files: string[] = []
  const exclude = (name: string): boolean => ['node_modules', 'dist'].includes(basename(name))
  for await (const file of glob(`{${Object.values(testFolders).join(',')}}/**/*.test.{ts,tsx}`, { cwd: root, exclude }))
    if (selected.includes(projectOf(file) ?? '') && !seen.has(join(root, file))) files.push(file)
  return files
}

async function runPlaywright(): Promise<Counts> {
  await buildWeb()
  const file = join(results, 'playwright.json')
  const env = { CHROMIUM_PATH: await findChromium(), PLAYWRIGHT_JSON_OUTPUT_FILE: file }
  const reporters = `--reporter=${process.stdout.isTTY ? 'list' : 'dot'},json`
  const { code } = await run('playwright', ['test', '--config=e2e/playwright.config.ts', '--retries=0', reporters, ...filters], {
    env,
  })
  const { stats, errors } = readReport(file, code) as {
    stats: { expected: number; unexpected: number; flaky: number }
    errors: unknown[]
  }
  return withExitCode({ passed: stats.expected, failed: stats.unexpected + stats.flaky + errors.length }, code)
}

function readReport(file: string, code: number): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    throw new Error(`The runner ended with ${code} and left no results.`)
  }
}

/** Counts one failure if the runner failed although none of its tests did, for example by an error between two tests. */
function withExitCode({ passed, failed }: Counts, code: number): Counts {
  return { passed, failed: code !== 0 && failed === 0 ? 1 : failed }
}
