/**
 * Validates the `initData` of a Telegram Mini App, which identifies a player
 * (https://core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app). It is signed with the bot's token (HMAC-SHA-256), or
 * by Telegram for anyone who knows the bot's id (Ed25519). It is valid for a limited time after `auth_date`, in case it leaks.
 */
import { createHmac, createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto'

/** A player's data in Telegram. */
export interface TelegramPlayer {
  userId: number
  firstName: string | null
  lastName: string | null
  username: string | null
}

export interface InitDataOptions {
  /** TELEGRAM_BOT_TOKEN; without it the HMAC form is refused. */
  botToken: string | undefined
  /** TELEGRAM_BOT_ID; without it the Ed25519 form is refused. */
  botId: string | undefined
  maxAgeSeconds: number
  /** Telegram's public key; tests set another one. */
  publicKey?: KeyObject
}

/** @returns undefined if the data is malformed, forged, another bot's, too old, or from the future */
export type InitDataReader = (initData: string) => TelegramPlayer | undefined

const MAX_LENGTH = 8192
/** Matches a complete encoded text: Buffer.from would silently stop at the first invalid character. */
const HASH = /^[\da-f]{64}$/i
const SECONDS = /^[1-9]\d*$/
const SIGNATURE = /^[\w-]{86}(==)?$/
/** The largest accepted difference between the clocks of two machines. */
const CLOCK_SKEW_SECONDS = 60
/** Telegram's public key of production. */
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

/** Refuses repeated fields: one could be signed and the other one read. */
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
