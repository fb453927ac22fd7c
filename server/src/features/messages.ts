/** The bot's calls about its messages to people: linking an operator's Telegram account, and a player's wish to get no broadcasts. */
import { sql } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { actOf, audit } from '#src/audit/audit.ts'
import { Failure, type Handlers, playerOf } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { delayErasures } from '#src/db/transaction-locks.ts'
import { userRecord } from '#src/identity/accounts.ts'
import { type Attempts, limits } from '#src/identity/attempts.ts'
import { createOnce } from '#src/identity/idempotency.ts'
import { spendLinkCode } from '#src/identity/telegram-links.ts'

interface MessagesServices {
  database: Database
  attempts: Attempts
}

export function messagesHandlers({ database, attempts }: MessagesServices): Handlers<typeof contract.messages> {
  return {
    async linkOperator({ code, userId }, context) {
      const token = context.caller.kind === 'bot' ? context.caller.id : ''
      await attempts.count(limits.linkCodeByTelegram, String(userId))
      await attempts.count(limits.linkCodeByToken, token)
      const answer = await createOnce(database, context, {
        async create(tx) {
          const user = await spendLinkCode(tx, code, userId)
          await audit(tx, actOf(context), 'user.telegram', { record: userRecord(user) })
          return { success: true as const, name: `${user.fname} ${user.lname}` }
        },
      })
      await attempts.uncount(limits.linkCodeByTelegram, String(userId))
      await attempts.uncount(limits.linkCodeByToken, token)
      return answer
    },

    async setMessages({ userId: requestedId, optedOut }, context) {
      const userId = playerOf(context, requestedId)
      await database.transaction(async (tx) => {
        await delayErasures(tx)
        const { rows } = await sql`select from telegram_users where user_id = ${userId}`.execute(tx)
        if (rows.length === 0) throw new Failure('NO_SUCH_PLAYER')
        // Keeps the time of the first wish. A player without a row has not opted out.
        await (
          optedOut
            ? sql`insert into player_messages as m (user_id, opted_out_at) values (${userId}, now())
                on conflict (user_id) do update set opted_out_at = excluded.opted_out_at where m.opted_out_at is null`
            : sql`update player_messages set opted_out_at = null where user_id = ${userId} and opted_out_at is not null`
        ).execute(tx)
      })
      return { success: true, optedOut }
    },
  }
}
