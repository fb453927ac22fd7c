/**
 * Checks and signs `initData`, with which Telegram tells a Mini App who opened it
 * (https://core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app). The bot's server checks it, the stand-in signs it,
 * both with the bot's token. The console checks it by itself.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** A user as Telegram describes one. */
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

/** @returns the user, or undefined if the data is forged, signed for another bot, or too old */
export function checkInitData(initData: string, botToken: string): TelegramUser | undefined {
  const fields = new URLSearchParams(initData)
  const received = Buffer.from(fields.get('hash') ?? '', 'hex')
  fields.delete('hash')
  const expected = hashOf(fields, botToken)
  if (received.length !== expected.length || !timingSafeEqual(received, expected)) return undefined
  const ageSeconds = Date.now() / 1000 - Number(fields.get('auth_date'))
  return ageSeconds < MAX_AGE_SECONDS ? (JSON.parse(fields.get('user') ?? 'null') as TelegramUser) : undefined
}

function hashOf(fields: URLSearchParams, botToken: string): Buffer {
  const lines = [...fields].map(([name, value]) => `${name}=${value}`).toSorted()
  const key = createHmac('sha256', 'WebAppData').update(botToken).digest()
  return createHmac('sha256', key).update(lines.join('\n')).digest()
}
