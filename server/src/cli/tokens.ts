/** `arcade token …`: bot tokens from the command line (design §8). */
import { botScopeField, botTokenNameField } from '@arcade/contract/bot-tokens/calls'
import { actOfProcess } from '#src/audit/audit.ts'
import { createBotToken, endPreviousSecret, listBotTokens, revokeBotToken, rotateBotToken } from '#src/identity/bot-tokens.ts'
import { violatedConstraint } from '#src/postgres/errors.ts'
import { UsageError } from './command-line.ts'
import type { RunOnDatabase } from './on-database.ts'

/** @throws UsageError for an invalid name or scope */
export function createToken(givenName: string, givenScope: string): RunOnDatabase {
  const name = botTokenNameField.safeParse(givenName)
  if (!name.success) throw new UsageError(name.error.issues[0]?.message)
  const scope = botScopeField.safeParse(givenScope)
  if (!scope.success) throw new UsageError(`A token's scope is ${botScopeField.options.join(', ')}.`)
  return async ({ database, print }) => {
    try {
      const act = actOfProcess('command', 'arcade token create')
      const { token } = await createBotToken(database, act, { name: name.data, scope: scope.data })
      print(token)
    } catch (error) {
      if (violatedConstraint(error) === 'bot_tokens_name_key')
        throw new UsageError(`There is a token called ${name.data} already.`)
      throw error
    }
  }
}

export function rotateToken(name: string): RunOnDatabase {
  return async ({ database, print, note }) => {
    const token = await rotateBotToken(database, actOfProcess('command', 'arcade token rotate'), { key: { name } })
    note('The token before works until you end it (token retire) or rotate again.')
    print(token)
  }
}

export function retireSecret(name: string): RunOnDatabase {
  return async ({ database, print }) => {
    const isEnded = await endPreviousSecret(database, actOfProcess('command', 'arcade token retire'), { name })
    print(isEnded ? `The old token of ${name} works no longer.` : `There is no old token of ${name} to end.`)
  }
}

export function revokeToken(name: string): RunOnDatabase {
  return async ({ database, print }) => {
    await revokeBotToken(database, actOfProcess('command', 'arcade token revoke'), { name })
    print(`${name} is revoked.`)
  }
}

export const listTokens: RunOnDatabase = async ({ database, print }) => {
  const tokens = await listBotTokens(database)
  if (tokens.length === 0) return print('There is no bot token.')
  const width = Math.max(...tokens.map(({ name }) => name.length))
  for (const { name, scope, lastUsedAt, previous } of tokens) {
    const before = previous && `; the one before it ${lastUse(previous.lastUsedAt)}`
    print(`${name.padEnd(width)}  ${scope.padEnd(5)}  ${lastUse(lastUsedAt)}${before ?? ''}`)
  }
}

function lastUse(at: string | null): string {
  return at === null ? 'never used' : `last used ${at}`
}
