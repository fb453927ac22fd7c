/**
 * `npm run test:soak -- planted [NAME…]` shows that the fault tests find faults. Plants the faults of faults.ts one at a time into a copy
 * of this checkout, runs the test that should find it there (small, up to the first failure), and prints whether it did. Exits with 1 if
 * fewer than MUST_FIND of the faults were found, or if a test fails without a fault (`none`).
 */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { endAll, root, run } from './children.ts'
import { type Fault, faults } from './faults.ts'

/** The share of faults to find. Not all: a fault that needs two acts within a millisecond is found by luck. */
const MUST_FIND = 0.9
/** Milliseconds after which a fault counts as not found. */
const FIND_MS = 60_000
const ALL_MS = 20 * 60_000
const NONE = 'none'

interface Finding {
  test: string
  seconds: number
}
interface Report {
  testResults: { assertionResults: { title: string; status: string }[] }[]
}

/** Sets the exit code 1 if too few faults are found. @param seed the seed of the tests' random choices */
export async function provePlantedFaults(names: readonly string[], seed: string): Promise<void> {
  const unknown = names.filter((name) => name !== NONE && !faults.some((fault) => fault.name === name))
  if (unknown.length > 0) throw new Error(`There is no fault ${unknown.join(', ')}: ${faults.map(({ name }) => name).join(', ')}`)
  for (const fault of faults) await sourceWithFault(fault) // checks all faults before the first test runs
  const chosen = names.length > 0 ? faults.filter(({ name }) => names.includes(name)) : faults

  const copy = await copyOfCheckout()
  try {
    if (names.length === 0 || names.includes(NONE)) await refuseFailures(copy, seed)
    let found = 0
    for (const fault of chosen) {
      const finding = await find(fault, copy, seed)
      if (finding) found += 1
      const result = finding
        ? `found in ${finding.seconds.toFixed(0)} s by ${fault.testFile}.test.ts: ${finding.test}`
        : `not found by ${fault.testFile}.test.ts`
      console.log(`${finding ? '✓' : '✗'} ${fault.name}: ${fault.what}. ${result} (TEST_SEED=${seed})`)
    }
    console.log(`${found} of ${chosen.length} planted faults were found`)
    if (found < chosen.length * MUST_FIND) process.exitCode = 1
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

/** Returns the source of a file with the fault in it. @throws Error unless the text to replace occurs exactly once */
export async function sourceWithFault({ name, file, find: text, replace }: Fault, checkout = root): Promise<string> {
  const source = await readFile(join(checkout, file), 'utf8')
  const parts = source.split(text)
  if (parts.length !== 2) throw new Error(`The fault ${name} no longer fits ${file}: its text is there ${parts.length - 1} times`)
  return parts.join(replace)
}

async function find(fault: Fault, copy: string, seed: string): Promise<Finding | undefined> {
  const path = join(copy, fault.file)
  const source = await readFile(path, 'utf8')
  await writeFile(path, await sourceWithFault(fault, copy))
  const title = fault.testTitle === undefined ? [] : ['--testNamePattern', fault.testTitle]
  const outcome = await runTests([pathOfTest(fault), ...title], { copy, seed, timeoutMs: FIND_MS })
  await writeFile(path, source)
  return typeof outcome === 'string' ? undefined : outcome
}

/** @throws Error if a fault test fails although no fault is planted */
async function refuseFailures(copy: string, seed: string): Promise<void> {
  const files = [...new Set(faults.map(pathOfTest))]
  const outcome = await runTests(files, { copy, seed, timeoutMs: ALL_MS })
  if (outcome === 'late') throw new Error('The fault tests without a fault did not end in time.')
  if (outcome !== 'passed') throw new Error(`The fault tests fail without a fault: ${outcome.test}`)
}

function pathOfTest({ testFile }: Fault): string {
  return `server/test/faults/${testFile}.test.ts`
}

/** Copies all files that git does not ignore, and links the installed packages; packages of the workspaces are links into the copy. */
async function copyOfCheckout(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'arcade-planted-'))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => endAll(signal))
  const { output } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { output: 'capture' })
  for (const file of output.trim().split('\n')) {
    await mkdir(dirname(join(copy, file)), { recursive: true })
    await cp(join(root, file), join(copy, file))
  }
  await cp(join(root, 'web/dist'), join(copy, 'web/dist'), { recursive: true })
  await mkdir(join(copy, 'node_modules/@arcade'), { recursive: true })
  for (const name of await readdir(join(root, 'node_modules')))
    if (name !== '@arcade') await symlink(join(root, 'node_modules', name), join(copy, 'node_modules', name))
  for (const name of await readdir(join(root, 'node_modules/@arcade')))
    await symlink(join(copy, name), join(copy, 'node_modules/@arcade', name))
  return copy
}

/**
 * Runs tests. Returns the first one that fails, `passed`, or `late` if they did not end in time.
 * @throws Error for a run that fails without naming a test
 */
async function runTests(
  selection: string[],
  { copy, seed, timeoutMs }: { copy: string; seed: string; timeoutMs: number },
): Promise<Finding | 'passed' | 'late'> {
  const file = join(copy, 'found.json')
  await rm(file, { force: true })
  const startedAt = performance.now()
  const { code, output } = await run(
    'vitest',
    ['run', '--project', 'faults', ...selection, '--bail=1', '--reporter=json', `--outputFile=${file}`],
    { cwd: copy, env: { TEST_SIZE: undefined, TEST_SEED: seed }, output: 'capture', timeoutMs },
  )
  const milliseconds = performance.now() - startedAt
  if (code === 0) return 'passed'
  if (milliseconds >= timeoutMs) return 'late'
  const report = JSON.parse(await readFile(file, 'utf8').catch(() => '{"testResults":[]}')) as Report
  const [failed] = report.testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed'),
  )
  if (!failed) throw new Error(`The run ended with ${code} without a test that failed:\n${output.trim().slice(-2000)}`)
  return { test: failed.title, seconds: milliseconds / 1000 }
}
