/**
 * Who a Telegram Mini App's `initData` says the player is (https://core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app):
 * signed with the bot's token (HMAC-SHA-256), or by Telegram itself for everybody who knows the bot's id (Ed25519). Believed until
 * `auth_date` and some time, so that one that leaks is soon worth nothing.
 */
import { createHmac, createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto'

/** A player as Telegram knows them. */
export interface TelegramPlayer {
  userId: number
  firstName: string | null
  lastName: string | null
  username: string | null
}

export interface InitDataOptions {
  /** TELEGRAM_BOT_TOKEN; without it the HMAC form is not believed. */
  botToken: string | undefined
  /** TELEGRAM_BOT_ID; without it the Ed25519 form is not believed. */
  botId: string | undefined
  maxAgeSeconds: number
  /** Telegram's; another one in tests. */
  publicKey?: KeyObject
}

/** @returns undefined for what is malformed, forged, another bot's, too old, or of the future */
export type InitDataReader = (initData: string) => TelegramPlayer | undefined

const MAX_LENGTH = 8192
/** Whole: a Buffer is also made of what stands before the first wrong character. */
const HASH = /^[\da-f]{64}$/i
const SECONDS = /^[1-9]\d*$/
const SIGNATURE = /^[\w-]{86}(==)?$/
/** Clocks of two machines differ by so much at most. */
const CLOCK_SKEW_SECONDS = 60
/** Telegram's key of production. */
const TELEGRAM_KEY = createPublicKey({
  key: {
    kty: 'OKP',
    crv: 'Ed25519',
    x: Buffer.from('e7bf03a2fa4602af4580703d88dda5bb59f32ed8b02a56c187fe7d34caed242d', 'hex').toString('base64url'),
  },
  format: 'jwk',
})

export function createInitDataReader({
  botToken,
  botId,
  maxAgeSeconds,
  publicKey = TELEGRAM_KEY,
}: InitDataOptions): InitDataReader {
  const secret = botToken === undefined ? undefined : createHmac('sha256', 'WebAppData').update(botToken).digest()

  const isOfBot = (fields: Map<string, string>): boolean => {
    if (secret === undefined) return false
    const expected = createHmac('sha256', secret)
      .update(checkString(fields, ['hash']))
      .digest()
    const given = fields.get('hash') ?? ''
    return HASH.test(given) && timingSafeEqual(Buffer.from(given, 'hex'), expected)
  }
  const isOfTelegram = (fields: Map<string, string>): boolean => {
    const given = fields.get('signature') ?? ''
    if (botId === undefined || !SIGNATURE.test(given)) return false
    const signature = Buffer.from(given, 'base64url')
    const signed = `${botId}:WebAppData\n${checkString(fields, ['hash', 'signature'])}`
    return verify(null, Buffer.from(signed), publicKey, signature)
  }

  return (initData) => {
    const fields = readFields(initData)
    if (!fields || !(isOfBot(fields) || isOfTelegram(fields))) return undefined
    const signedAt = fields.get('auth_date') ?? ''
    const ageSeconds = Date.now() / 1000 - Number(signedAt)
    if (!(SECONDS.test(signedAt) && ageSeconds >= -CLOCK_SKEW_SECONDS && ageSeconds <= maxAgeSeconds)) return undefined
    return readPlayer(fields.get('user') ?? '')
  }
}

/** A field that stands there twice could be signed once and read the other time. */
function readFields(initData: string): Map<string, string> | undefined {
  if (initData.length > MAX_LENGTH) return undefined
  const pairs = [...new URLSearchParams(initData)]
  const fields = new Map(pairs)
  return fields.size === pairs.length ? fields : undefined
}

function checkString(fields: Map<string, string>, without: readonly string[]): string {
  const lines = [...fields].flatMap(([name, value]) => (without.includes(name) ? [] : [`${name}=${value}`]))
  return lines.toSorted().join('\n')
}

function readPlayer(json: string): TelegramPlayer | undefined {
  try {
    const user = JSON.parse(json) as Record<string, unknown>
    const { id: userId } = user
    if (typeof userId !== 'number' || !Number.isSafeInteger(userId) || userId <= 0) return undefined
    const text = (name: string): string | null => (typeof user[name] === 'string' && user[name] !== '' ? user[name] : null)
    return { userId, firstName: text('first_name'), lastName: text('last_name'), username: text('username') }
  } catch {
    return undefined
  }
}
