/** Signs the initData of players' clients in tests and benchmarks. */
import { createHmac } from 'node:crypto'

/** The Telegram token of the tests' bot, which signs initData. */
export const BOT_TOKEN = '7000000000:AAtest-token'

/** Signs initData as Telegram does it. `auth_date` is now unless `fields` sets it. */
export function signInitData(fields: Record<string, string>, botToken = BOT_TOKEN): string {
  const all: Record<string, string> = { auth_date: String(Math.floor(Date.now() / 1000)), ...fields }
  const secret = createHmac('sha256', 'WebAppData').update(botToken).digest()
  const signed = Object.entries(all)
    .map(([name, value]) => `${name}=${value}`)
    .toSorted()
    .join('\n')
  return new URLSearchParams({ ...all, hash: createHmac('sha256', secret).update(signed).digest('hex') }).toString()
}
