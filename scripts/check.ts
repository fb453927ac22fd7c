/** `npm run check` runs all static checks: lint, types, unused code, boundaries, dependencies, format. `--fix` fixes what it can first. */
import { availableParallelism } from 'node:os'
import { run } from './children.ts'

const lint = ['--type-aware', '--deny-warnings', '--report-unused-disable-directives']

/** The steps already run side by side. With several checkers in one process, each would work out the types of the libraries again. */
const oneChecker = ['--checkers', '1']

const steps: readonly { name: string; command: readonly [string, ...string[]] }[] = [
  // the slowest first
  { name: 'lint', command: ['oxlint', ...lint] },
  ...['server', 'web', 'e2e', 'bench', 'contract', 'scripts', 'examples/game'].map((name) => ({
    name: `types ${name}`,
    command: ['tsc', '-p', name, ...oneChecker] as const,
  })),
  { name: 'unused (knip)', command: ['knip', '--no-progress'] },
  { name: 'boundaries', command: ['node', 'scripts/boundaries.ts'] },
  { name: 'dependencies', command: ['node', 'scripts/dependencies.ts'] },
  { name: 'format', command: ['oxfmt', '--list-different'] },
]

export interface Counts {
  passed: number
  failed: number
}

/** Runs every step. Prints a line for each, and the output of the steps that fail. */
export async function check(): Promise<Counts> {
  const counts = { passed: 0, failed: 0 }
  const waiting = [...steps]
  const worker = async (): Promise<void> => {
    for (let step = waiting.shift(); step; step = waiting.shift()) {
      const [command, ...args] = step.command
      const start = performance.now()
      const { code, output } = await run(command, args, { output: 'capture' })
      const seconds = ((performance.now() - start) / 1000).toFixed(1)
      counts[code === 0 ? 'passed' : 'failed']++
      console.log(`${code === 0 ? '✓' : '✗'} ${step.name.padEnd(16)} ${seconds.padStart(5)} s`)
      if (code !== 0) console.log(`  $ ${step.command.join(' ')}\n${output.trimEnd().replaceAll(/^/gm, '  ')}\n`)
    }
  }
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker))
  return counts
}

if (import.meta.main) {
  if (process.argv.includes('--fix')) {
    await run('oxlint', [...lint, '--fix', '--silent'])
    await run('oxfmt', [])
  }
  const { failed } = await check()
  process.exitCode = failed > 0 ? 1 : 0
}
