/** The calls with which admins create, rotate and revoke bot tokens. */
import type { contract } from '@arcade/contract/contract'
import { actOf } from '#src/audit/audit.ts'
import type { Handlers } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import {
  type BotTokens,
  createBotToken,
  endPreviousSecret,
  listBotTokens,
  revokeBotToken,
  rotateBotToken,
} from '#src/identity/bot-tokens.ts'

interface Services {
  database: Database
  botTokens: BotTokens
}

export function botTokensHandlers({ database, botTokens }: Services): Handlers<typeof contract.botTokens> {
  return {
    list: async () => ({ tokens: await listBotTokens(database) }),
    create: async (input, context) => ({ success: true, ...(await createBotToken(database, actOf(context), input)) }),
    async rotate({ id, rotatedAt }, context) {
      const token = await rotateBotToken(database, actOf(context), { key: { id }, rotatedAt })
      botTokens.changed(id)
      return { success: true, token }
    },
    async endPrevious({ id }, context) {
      await endPreviousSecret(database, actOf(context), { id })
      botTokens.changed(id)
      return { success: true }
    },
    async revoke({ id }, context) {
      await revokeBotToken(database, actOf(context), { id })
      botTokens.changed(id)
      return { success: true }
    },
  }
}
