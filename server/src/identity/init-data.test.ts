/** Mini App initData: accepted if Telegram signed it and it is recent; refused otherwise. */
import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import { createInitDataReader } from './init-data.ts'

const BOT_TOKEN = '7342037359:AAHI25ES9xCOMPokpYoz-p8XVrZUdygo2J4'
const BOT_ID = '7342037359'
const MAX_AGE_SECONDS = 3600
const USER = { id: 279_058_397, first_name: 'Zoë & Co', last_name: '', username: 'zoe', language_code: 'en' }
const telegram = generateKeyPairSync('ed25519')
const read = createInitDataReader({
  botToken: BOT_TOKEN,
  botId: undefined,
  maxAgeSeconds: MAX_AGE_SECONDS,
})
const readSigned = createInitDataReader({
  botToken: undefined,
  botId: BOT_ID,
  maxAgeSeconds: MAX_AGE_SECONDS,
  publicKey: telegram.publicKey,
})
const player = { userId: USER.id, firstName: 'Zoë & Co', lastName: null, username: 'zoe' }

function secondsAgo(seconds: number): string {
  return String(Math.floor(Date.now() / 1000) - seconds)
}

function fields(changed: Record<string, string> = {}): Record<string, string> {
  return { query_id: 'AAHdF6IQ', user: JSON.stringify(USER), auth_date: secondsAgo(10), ...changed }
}

function lines(of: Record<string, string>): string {
  return Object.entries(of)
    .map(([name, value]) => `${name}=${value}`)
    .toSorted()
    .join('\n')
}

function withHash(of: Record<string, string>, token = BOT_TOKEN): string {
  const key = createHmac('sha256', 'WebAppData').update(token).digest()
  return new URLSearchParams({ ...of, hash: createHmac('sha256', key).update(lines(of)).digest('hex') }).toString()
}

function withSignature(of: Record<string, string>, botId = BOT_ID): string {
  const signature = sign(null, Buffer.from(`${botId}:WebAppData\n${lines(of)}`), telegram.privateKey).toString('base64url')
  return new URLSearchParams({ ...of, signature, hash: 'c5'.repeat(32) }).toString()
}

test('§8 initData signed with the bot’s token identifies the player', () => {
  expect(read(withHash(fields()))).toEqual(player)
  expect(read(withHash(fields({ signature: 'of-telegram', start_param: 'a=b&c' })))).toEqual(player)
})

test('§8 initData signed by Telegram identifies the player if the bot’s id is configured', () => {
  expect(readSigned(withSignature(fields()))).toEqual(player)
})

test('§8 an example of Telegram is valid with Telegram’s key', () => {
  // https://docs.telegram-mini-apps.com/platform/init-data#using-telegram-public-key, of bot 7342037359 in 2024.
  const example =
    'user=%7B%22id%22%3A279058397%2C%22first_name%22%3A%22Vladislav%20%2B%20-%20%3F%20%5C%2F%22%2C%22last_name%22%3A%22Kibenko%22%2C%22username%22%3A%22vdkfrost%22%2C%22language_code%22%3A%22ru%22%2C%22is_premium%22%3Atrue%2C%22allows_write_to_pm%22%3Atrue%2C%22photo_url%22%3A%22https%3A%5C%2F%5C%2Ft.me%5C%2Fi%5C%2Fuserpic%5C%2F320%5C%2F4FPEE4tmP3ATHa57u6MqTDih13LTOiMoKoLDRG4PnSA.svg%22%7D&chat_instance=8134722200314281151&chat_type=private&auth_date=1733584787&hash=2174df5b000556d044f3f020384e879c8efcab55ddea2ced4eb752e93e7080d6&signature=zL-ucjNyREiHDE8aihFwpfR9aggP2xiAo3NSpfe-p7IbCisNlDKlo7Kb6G4D0Ao2mBrSgEk4maLSdv6MLIlADQ'
  const century = 100 * 365 * 24 * 3600
  const readOld = createInitDataReader({ botToken: undefined, botId: BOT_ID, maxAgeSeconds: century })
  expect(readOld(example)?.userId).toBe(279_058_397)
})

test.each([
  ['nothing', ''],
  ['no hash', new URLSearchParams(fields()).toString()],
  ['of another bot', withHash(fields(), '1:another')],
  ['a changed player', withHash(fields()).replace('279058397', '279058398')],
  ['a repeated field', `${withHash(fields())}&user=${encodeURIComponent(JSON.stringify({ id: 1 }))}`],
  ['a hash that is cut off', withHash(fields()).slice(0, -2)],
  ['an hour and a minute old', withHash(fields({ auth_date: secondsAgo(MAX_AGE_SECONDS + 60) }))],
  ['from the future', withHash(fields({ auth_date: secondsAgo(-120) }))],
  ['without a time', withHash({ user: JSON.stringify(USER) })],
  ['with a time that is not a number', withHash(fields({ auth_date: 'now' }))],
  ...['.5', ' ', '-0'].map((end) => [
    `with ${secondsAgo(10)}${end} as its time`,
    withHash(fields({ auth_date: secondsAgo(10) + end })),
  ]),
  ['with a time in hex', withHash(fields({ auth_date: `0x${Number(secondsAgo(10)).toString(16)}` }))],
  ['with a time in exponent notation', withHash(fields({ auth_date: `${secondsAgo(10)}e0` }))],
  ['no player', withHash({ auth_date: secondsAgo(10) })],
  ['a player that is not JSON', withHash(fields({ user: '{' }))],
  ['a player whose id is a text', withHash(fields({ user: '{"id":"1"}' }))],
  ['a player whose id is too large for a double', withHash(fields({ user: '{"id":9007199254740993}' }))],
  ['null as a player', withHash(fields({ user: 'null' }))],
  ['signed by Telegram, if only the token is configured', withSignature(fields())],
  ['too long', withHash(fields({ start_param: 'x'.repeat(9000) }))],
])('§8 initData is refused: %s', (_what, initData) => {
  expect(read(initData)).toBeUndefined()
})

test.each([
  ['of another bot', withSignature(fields(), '1')],
  ['a changed player', withSignature(fields()).replace('279058397', '279058398')],
  ['an old one', withSignature(fields({ auth_date: secondsAgo(MAX_AGE_SECONDS + 60) }))],
  ['signed with the bot’s token', withHash(fields())],
])('§8 initData by Telegram’s key is refused: %s', (_what, initData) => {
  expect(readSigned(initData)).toBeUndefined()
})

test('§8 without a token and an id all initData is refused', () => {
  const readNone = createInitDataReader({ botToken: undefined, botId: undefined, maxAgeSeconds: MAX_AGE_SECONDS })
  expect([withHash(fields()), withSignature(fields())].map((initData) => readNone(initData))).toEqual([undefined, undefined])
})
