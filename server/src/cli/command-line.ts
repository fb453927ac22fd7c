/** The command line as a list of declarations: each gives a command its usage, its checks and its help. */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import type { Logger } from 'pino'
import type { Config } from '#src/config.ts'

/** Invalid arguments: the command ends with 1 and this message. */
export class UsageError extends Error {}

/** What a command gets besides its arguments. */
export interface CommandContext {
  config: Config
  log: Logger
  /** Writes a line to standard output. */
  print: (line: string) => void
  /** Writes a line to standard error: progress and advice, which a script must not mistake for the output. */
  note: (line: string) => void
}

/** Runs with its arguments checked. Resolves to the exit code, which is 0 unless it says otherwise. */
export type RunCommand = (context: CommandContext) => Promise<number | void>

type Values<Options extends ParseArgsOptionsConfig> = ReturnType<typeof parseArgs<{ options: Options }>>['values']

interface Declaration<Options extends ParseArgsOptionsConfig> {
  /** The words of the command, such as `token create`. */
  name: string
  /** One sentence for the usage, without a capital letter and a full stop. */
  summary: string
  /** The arguments that must follow, in this order, as the usage shows them. */
  positionals?: readonly string[]
  options?: Options
  /** What the usage shows for options, such as `[--shards N]`. */
  optionsUsage?: string
  /** How the command is called, if there is a shorter way than `npm run arcade -- NAME`. */
  calledAs?: string
  /** Makes the command from its arguments, after checks that the declaration cannot express. @throws UsageError */
  prepare: (positionals: string[], values: Values<Options>) => RunCommand
}

export interface Command {
  name: string
  summary: string
  /** How it is called, with its arguments. */
  call: string
  /** @throws UsageError if the arguments do not fit */
  parse: (args: string[]) => RunCommand
}

export function command<Options extends ParseArgsOptionsConfig>({
  name,
  summary,
  positionals = [],
  options,
  optionsUsage,
  calledAs = `npm run arcade -- ${name}`,
  prepare,
}: Declaration<Options>): Command {
  const call = [calledAs, ...positionals, ...(optionsUsage === undefined ? [] : [optionsUsage])].join(' ')
  const self: Command = {
    name,
    summary,
    call,
    parse(args) {
      try {
        const parsed = readArguments(args, options)
        const missing = positionals[parsed.positionals.length]
        if (missing !== undefined) throw new UsageError(`\`${name}\` needs ${missing}.`)
        const extra = parsed.positionals[positionals.length]
        if (extra !== undefined) throw new UsageError(`Unexpected argument '${extra}'.`)
        return prepare(parsed.positionals, parsed.values as Values<Options>)
      } catch (error) {
        throw error instanceof UsageError ? new UsageError(`${error.message}\n${usageOf([self])}`) : error
      }
    },
  }
  return self
}

/** @throws UsageError that names the unknown option, or the option without its value */
function readArguments(args: string[], options: ParseArgsOptionsConfig = {}): ReturnType<typeof parseArgs> {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    const [problem = ''] = error instanceof Error ? error.message.split(/\.\s/) : [] // Node's further sentences give advice about shells
    throw new UsageError(`${problem.replace('argument is ambiguous', 'argument missing')}.`) // Node says "ambiguous" for a value that begins with a dash
  }
}

const isHelp = (arg: string | undefined): boolean => arg === '--help' || arg === '-h'

/**
 * Finds the command that the arguments name and checks the arguments after its name.
 * @returns the command, or a text to print instead: for `--version`, and for `--help`, which may follow any part of a command
 * @throws UsageError with the usage of the command, or of all commands if it is unknown
 */
export function parseCommandLine(commands: readonly Command[], args: string[], version: string): RunCommand | string {
  if (args[0] === 'help' || isHelp(args.at(-1))) {
    const words = args.filter((arg) => arg !== 'help' && !isHelp(arg)).join(' ')
    const meant = startingWith(commands, words)
    return usageOf(meant.length > 0 ? meant : commands)
  }
  if (args.length === 1 && args[0] === '--version') return `Arcade Console ${version}`
  if (args.length === 0) throw new UsageError(usageOf(commands))
  const named = commands
    .filter(({ name }) => `${args.join(' ')} `.startsWith(`${name} `))
    .toSorted((one, other) => other.name.length - one.name.length)[0]
  if (named) return named.parse(args.slice(named.name.split(' ').length))
  const near = startingWith(commands, args[0]!)
  throw new UsageError(`There is no command '${args.join(' ')}'.\n${usageOf(near.length > 0 ? near : commands)}`)
}

function startingWith(commands: readonly Command[], words: string): Command[] {
  return commands.filter(({ name }) => `${name} `.startsWith(`${words} `))
}

/** The column of the summaries; a longer call has its summary on the next line. */
const SUMMARY_COLUMN = 44

function usageOf(commands: readonly Command[]): string {
  const lines = commands.map(({ call, summary }) => {
    const start = `  ${call}`
    return start.length < SUMMARY_COLUMN - 1
      ? `${start.padEnd(SUMMARY_COLUMN)}${summary}`
      : `${start}\n${' '.repeat(SUMMARY_COLUMN)}${summary}`
  })
  return ['Usage:', ...lines].join('\n')
}
