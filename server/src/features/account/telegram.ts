/** One's own Telegram account, to which the bot sends the tests of a broadcast: the code that links it, whose it is, and the end of the link. */
import type { contract } from '@arcade/contract/contract'
import { playerName } from '@arcade/contract/players/fields'
import { actOf, audit } from '#src/audit/audit.ts'
import { type CallContext, type Handlers, signedIn } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { userRecord } from '#src/identity/accounts.ts'
import type { Sessions } from '#src/identity/sessions.ts'
import { createLinkCode, endLinkCode, findTelegram, unlinkTelegram } from '#src/identity/telegram-links.ts'

interface TelegramServices {
  database: Database
  sessions: Sessions
}

type TelegramHandlers = Pick<Handlers<typeof contract.account>, 'createTelegramCode' | 'telegram' | 'unlinkTelegram'>

export function telegramHandlers({ database, sessions }: TelegramServices): TelegramHandlers {
  const { db } = database
  const record = (context: CallContext) => ({ record: userRecord(signedIn(context)) })

  return {
    async createTelegramCode(_input, context) {
      const { id } = signedIn(context)
      const made = await database.transaction(async (tx) => {
        await sessions.lockAdmin(tx, id, context.sessionToken)
        const code = await createLinkCode(tx, id)
        await audit(tx, actOf(context), 'user.telegram-code', record(context))
        return code
      })
      return { success: true, ...made }
    },

    async telegram(_input, context) {
      const linked = await findTelegram(db, signedIn(context).id)
      if (!linked) return { telegram: null }
      const { telegramId, linkedAt } = linked
      const player = await db
        .selectFrom('telegram_users')
        .select(['first_name as firstName', 'last_name as lastName', 'username'])
        .where('user_id', '=', telegramId)
        .executeTakeFirst()
      const name = player ? playerName({ userId: telegramId, ...player }) : null
      return { telegram: { telegramId, name, linkedAt: linkedAt.toISOString() } }
    },

    async unlinkTelegram(_input, context) {
      const { id } = signedIn(context)
      await database.transaction(async (tx) => {
        await endLinkCode(tx, id)
        if (await unlinkTelegram(tx, id)) await audit(tx, actOf(context), 'user.telegram-end', record(context))
      })
      return { success: true }
    },
  }
}
