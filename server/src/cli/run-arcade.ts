/** The command line of `arcade` without its process, so that tests can run it in their own (design §8). */
import { pino } from 'pino'
import { Failure } from '#src/calls.ts'
import { ConfigError, readConfig } from '#src/config.ts'
import { isDiskFull, StartError } from '#src/postgres/errors.ts'
import { productVersion } from '#src/version.ts'
import { type CommandContext, parseCommandLine, UsageError } from './command-line.ts'
import { commands } from './commands.ts'
import { interruption } from './on-database.ts'

interface Surroundings extends Pick<CommandContext, 'print' | 'note'> {
  /** The environment; that of the process by default. */
  env?: Record<string, string | undefined>
}

/** Runs a command of `arcade` and resolves to its exit code. Writes an error with `note`, and with its stack if it is a bug. */
export async function runArcade(args: string[], { env, print, note }: Surroundings): Promise<number> {
  try {
    if (args.length === 1 && args[0] === '--version') {
      print(`Arcade Console ${await productVersion()}`)
      return 0
    }
    const command = parseCommandLine(commands, args)
    if (typeof command === 'string') {
      print(command)
      return 0
    }
    const config = readConfig(env)
    const log = pino({ level: 'warn' }, pino.destination({ dest: 2, sync: true }))
    return (await command({ config, log, print, note })) ?? 0
  } catch (error) {
    await interruption // the command failed because the interruption closed its database
    note(messageOf(error))
    return 1
  }
}

function messageOf(error: unknown): string {
  if (isDiskFull(error)) return 'The disk is full: free some space and run the same command again.'
  if (!(error instanceof Error)) return String(error)
  const isExpected = [UsageError, ConfigError, StartError, Failure].some((kind) => error instanceof kind)
  return isExpected ? error.message : (error.stack ?? error.message)
}
