/** What a command says of arguments that make no sense. */
import { parseArgs, type ParseArgsConfig } from 'node:util'

/** A command that does not make sense: exit 1 with this message. */
export class UsageError extends Error {}

/** @throws UsageError that names the option which does not exist or lacks its value, above `usage` */
export function readOptions<Config extends ParseArgsConfig>(config: Config, usage: string): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config)
  } catch (error) {
    const [problem = ''] = error instanceof Error ? error.message.split(/\.\s/) : [] // what follows is for shells
    throw new UsageError(`${problem.replace('argument is ambiguous', 'argument missing')}.\n${usage}`) // one that begins with a dash
  }
}
