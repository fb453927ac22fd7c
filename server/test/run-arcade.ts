import { runArcade } from '#src/cli/run-arcade.ts'
import { temporaryDataDir } from './processes.ts'
import { testDatabase, workerUrl } from './test-database.ts'

export interface Outcome {
  code: number
  /** What it wrote to standard output and standard error, in this order of time. */
  output: string
}

/** Runs a command of `arcade` in this process, on the worker's database. It takes milliseconds; a process of its own takes seconds. */
export async function arcade(...args: string[]): Promise<Outcome> {
  await testDatabase()
  return arcadeIn({ DATABASE_URL: workerUrl(), DATA_DIR: await temporaryDataDir() }, ...args)
}

export async function arcadeIn(env: Record<string, string>, ...args: string[]): Promise<Outcome> {
  let output = ''
  const write = (line: string): void => void (output += `${line}\n`)
  const code = await runArcade(args, { env, print: write, note: write })
  return { code, output }
}
