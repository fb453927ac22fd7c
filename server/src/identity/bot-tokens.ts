/** Bot tokens: bearer credentials of the game's bot, shown once, stored as SHA-256 (design §8). */
import { randomBytes, randomUUID } from 'node:crypto'
import { type Act, audit } from '#src/audit/audit.ts'
import type { Database } from '#src/db/database.ts'
import { hashToken } from './sessions.ts'

const PREFIX = 'arcade_' // lets secret scanners and people recognise a leaked one

export interface BotTokens {
  /** The bot that a bearer token belongs to. */
  find(token: string): Promise<{ id: string; name: string } | undefined>
}

export function createBotTokens(database: Database): BotTokens {
  const find = database.prepared<{ id: string; name: string }>(
    'bot-token',
    'select id, name from bot_tokens where token_hash = $1',
  )
  return {
    async find(token) {
      if (!token.startsWith(PREFIX) || token.length !== PREFIX.length + 43) return undefined
      return (await find([hashToken(token)]))[0]
    },
  }
}

/** Makes a token for a bot called `name` and gives it, once. A name in use violates `bot_tokens_name_key`. */
export async function createBotToken(database: Database, act: Act, name: string): Promise<string> {
  const token = PREFIX + randomBytes(32).toString('base64url')
  const id = randomUUID()
  await database.transaction(async (tx) => {
    await tx
      .insertInto('bot_tokens')
      .values({ id, name, token_hash: hashToken(token) })
      .execute()
    await audit(tx, act, 'token.create', { record: { kind: 'token', id, name } })
  })
  return token
}
