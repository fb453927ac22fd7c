/** Errors about the arguments of a command. */
import { parseArgs, type ParseArgsConfig } from 'node:util'

/** Invalid arguments: the command ends with 1 and this message. */
export class UsageError extends Error {}

/** Parses options. @throws UsageError that names the unknown option, or the one without its value, followed by `usage` */
export function readOptions<Config extends ParseArgsConfig>(config: Config, usage: string): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config)
  } catch (error) {
    const [problem = ''] = error instanceof Error ? error.message.split(/\.\s/) : [] // Node's further sentences give advice about shells
    throw new UsageError(`${problem.replace('argument is ambiguous', 'argument missing')}.\n${usage}`) // Node says "ambiguous" for a value that begins with a dash
  }
}
