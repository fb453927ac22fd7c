/** `arcade token …`: bot tokens from the command line (design §8). */
import { botScopeField, botTokenNameField } from '@arcade/contract/bot-tokens/calls'
import { actOfProcess } from '#src/audit/audit.ts'
import type { Database } from '#src/db/database.ts'
import { createBotToken, endPreviousSecret, listBotTokens, revokeBotToken, rotateBotToken } from '#src/identity/bot-tokens.ts'
import { violatedConstraint } from '#src/postgres/errors.ts'
import { readOptions, UsageError } from './usage-error.ts'

type Command = (database: Database) => Promise<number>

/**
 * @returns the command, or undefined if the arguments name none of these
 * @throws UsageError with `usage` for an unknown option, without it for an invalid name or scope
 */
export function tokenCommand([verb, ...args]: string[], usage: string): Command | undefined {
  if (verb === 'create') return createFrom(args, usage)
  if (verb === 'list' && args.length === 0) return printAll
  const [name] = args
  if (name === undefined || args.length > 1) return undefined
  if (verb === 'rotate') {
    return async (database) => {
      const token = await rotateBotToken(database, actOfProcess('command', 'arcade token rotate'), { name })
      process.stderr.write('The token before works until you end it (token retire) or rotate again.\n')
      return print(token)
    }
  }
  if (verb === 'retire') {
    return async (database) => {
      const isEnded = await endPreviousSecret(database, actOfProcess('command', 'arcade token retire'), { name })
      return print(isEnded ? `The old token of ${name} works no longer.` : `There is no old token of ${name} to end.`)
    }
  }
  if (verb !== 'revoke') return undefined
  return async (database) => {
    await revokeBotToken(database, actOfProcess('command', 'arcade token revoke'), { name })
    return print(`${name} is revoked.`)
  }
}

function createFrom(args: string[], usage: string): Command | undefined {
  const { values, positionals } = readOptions(
    { args, options: { scope: { type: 'string', default: 'play' } }, allowPositionals: true },
    usage,
  )
  if (positionals.length !== 1) return undefined
  const name = botTokenNameField.safeParse(positionals[0])
  if (!name.success) throw new UsageError(name.error.issues[0]?.message)
  const scope = botScopeField.safeParse(values.scope)
  if (!scope.success) throw new UsageError(`A token's scope is ${botScopeField.options.join(', ')}.`)
  return async (database) => {
    try {
      const act = actOfProcess('command', 'arcade token create')
      const { token } = await createBotToken(database, act, { name: name.data, scope: scope.data })
      return print(token)
    } catch (error) {
      if (violatedConstraint(error) === 'bot_tokens_name_key')
        throw new UsageError(`There is a token called ${name.data} already.`)
      throw error
    }
  }
}

async function printAll(database: Database): Promise<number> {
  const tokens = await listBotTokens(database)
  if (tokens.length === 0) return print('There is no bot token.')
  const width = Math.max(...tokens.map(({ name }) => name.length))
  for (const { name, scope, lastUsedAt, previous } of tokens) {
    const before = previous && `; the one before it ${used(previous.lastUsedAt)}`
    print(`${name.padEnd(width)}  ${scope.padEnd(5)}  ${used(lastUsedAt)}${before ?? ''}`)
  }
  return 0
}

function used(at: string | null): string {
  return at === null ? 'never used' : `last used ${at}`
}

function print(line: string): number {
  process.stdout.write(`${line}\n`)
  return 0
}
