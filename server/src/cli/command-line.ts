/** The command line as a list of declarations: each gives a command its usage, its checks and its help. */
import { parseArgs } from 'node:util'
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

/** The options of a command by their names. `shows` is what the usage shows for the value, such as `N`. */
type Options = Record<string, { type: 'boolean' } | { type: 'string'; shows: string; default?: string }>

type Values<O extends Options> = ReturnType<typeof parseArgs<{ options: O }>>['values']

interface Declaration<O extends Options> {
  /** The words of the command, such as `token create`. */
  name: string
  /** One sentence for the usage, without a capital letter and a full stop. */
  summary: string
  /** The arguments that must follow, in this order, as the usage shows them. */
  positionals?: readonly string[]
  options?: O
  /** How the command is called, if there is a shorter way than `npm run arcade -- NAME`. */
  calledAs?: string
  /** Makes the command from its arguments, after checks that the declaration cannot express. @throws UsageError */
  prepare: (positionals: string[], values: Values<O>) => RunCommand
}

export interface Command {
  name: string
  summary: string
  /** How it is called, with its arguments. */
  call: string
  /** @throws UsageError if the arguments do not fit */
  parse: (args: string[]) => RunCommand
}

export function command<O extends Options>({
  name,
  summary,
  positionals = [],
  options,
  calledAs = `npm run arcade -- ${name}`,
  prepare,
}: Declaration<O>): Command {
  const shown = Object.entries<Options[string]>(options ?? {}).map(([option, of]) =>
    of.type === 'string' ? `[--${option} ${of.shows}]` : `[--${option}]`,
  )
  const call = [calledAs, ...positionals, ...shown].join(' ')
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
        return prepare(parsed.positionals, parsed.values as Values<O>)
      } catch (error) {
        throw error instanceof UsageError ? new UsageError(`${error.message}\n${usageOf([self])}`) : error
      }
    },
  }
  return self
}

/** @throws UsageError that names the unknown option, or the option without its value */
function readArguments(args: string[], options: Options = {}): ReturnType<typeof parseArgs> {
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
 * @returns the command, or the usage to print instead for `--help`, which may follow any part of a command
 * @throws UsageError with the usage of the command, or of all commands if it is unknown
 */
export function parseCommandLine(commands: readonly Command[], args: string[]): RunCommand | string {
  if (args[0] === 'help' || isHelp(args.at(-1))) {
    const words = args.filter((arg) => arg !== 'help' && !isHelp(arg)).join(' ')
    const meant = startingWith(commands, words)
    return usageOf(meant.length > 0 ? meant : commands)
  }
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
