/**
 * The `initData` with which Telegram tells a Mini App who has opened it: checked by the bot's server, signed by the stand-in, with the
 * bot's token (https://core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app). The console checks it by itself.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** As Telegram writes a person. */
export interface TelegramUser {
  id: number
  first_name: string
  last_name?: string
  username?: string
  language_code?: string
}

const MAX_AGE_SECONDS = 3600

export function signInitData(user: TelegramUser, botToken: string): string {
  const fields = new URLSearchParams({
    user: JSON.stringify(user),
    auth_date: String(Math.floor(Date.now() / 1000)),
    chat_instance: '1',
  })
  fields.set('hash', hashOf(fields, botToken).toString('hex'))
  return fields.toString()
}

/** @returns undefined for what is forged, of another bot, or too old */
export function checkInitData(initData: string, botToken: string): TelegramUser | undefined {
  const fields = new URLSearchParams(initData)
  const given = Buffer.from(fields.get('hash') ?? '', 'hex')
  fields.delete('hash')
  const own = hashOf(fields, botToken)
  if (given.length !== own.length || !timingSafeEqual(given, own)) return undefined
  const ageSeconds = Date.now() / 1000 - Number(fields.get('auth_date'))
  return ageSeconds < MAX_AGE_SECONDS ? (JSON.parse(fields.get('user') ?? 'null') as TelegramUser) : undefined
}

function hashOf(fields: URLSearchParams, botToken: string): Buffer {
  const lines = [...fields].map(([name, value]) => `${name}=${value}`).toSorted()
  const key = createHmac('sha256', 'WebAppData').update(botToken).digest()
  return createHmac('sha256', key).update(lines.join('\n')).digest()
}
