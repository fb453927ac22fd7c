/** Codes that link an admin's Telegram account, what ends them, and who may guess them (security.md, One-time secrets). */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { auditTrail } from '#test/audit-trail.ts'
import { type Client, PASSWORD, testApp, type TestApp } from '#test/test-app.ts'

const TELEGRAM = 7_100_001
const makeCode = async (admin: Client): Promise<string> => (await admin.call('POST', '/api/account/telegram-code')).body.code
const redeem = (bot: Client, code: string, userId = TELEGRAM) => bot.call('POST', '/bot/v1/operator-links', { code, userId })
const linkedOf = async (admin: Client) => (await admin.call('GET', '/api/account/telegram')).body.telegram

interface Given {
  app: TestApp
  admin: Client
  other: Client
  bot: Client
}

async function opening(options: { rateLimit?: boolean } = {}): Promise<Given> {
  const app = await testApp(options)
  const [admin, other] = [await app.signUp('admin', 'admin@gmail.com'), await app.signUp('admin', 'other@gmail.com')]
  return { app, admin, other, bot: await app.bot() }
}

describe('design §8 linking an operator’s Telegram account', () => {
  test('by a code that the operator sends to the bot, which the page then shows, until it is unlinked', async () => {
    const { app, admin, other, bot } = await opening()
    expect(await linkedOf(admin)).toBeNull()
    const { body } = await admin.call('POST', '/api/account/telegram-code')
    expect(body).toEqual({
      success: true,
      code: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){2}$/),
      expiresAt: expect.any(String),
    })
    const minutesLeft = (Date.parse(body.expiresAt) - Date.now()) / 60_000
    expect(minutesLeft).toBeGreaterThan(9)
    expect(minutesLeft).toBeLessThanOrEqual(10.1)

    expect((await redeem(bot, body.code)).body).toEqual({ success: true, name: 'Test Person' })
    expect(await linkedOf(admin)).toEqual({ telegramId: TELEGRAM, name: null, linkedAt: expect.any(String) })
    await bot.call('PUT', `/bot/v1/players/${TELEGRAM}`, { firstName: 'Ada', lastName: 'Byron' })
    expect(await linkedOf(admin)).toMatchObject({ name: 'Ada Byron' })
    expect(await linkedOf(other)).toBeNull()

    for (let time = 0; time < 2; time += 1) expect((await admin.call('DELETE', '/api/account/telegram')).status).toBe(200)
    expect(await linkedOf(admin)).toBeNull()
    const acts = (await auditTrail(app.database.db)).filter(({ action }) => action.startsWith('user.telegram'))
    expect(acts.map(({ action, actorKind, recordId }) => [action, actorKind, recordId])).toEqual([
      ['user.telegram-code', 'user', admin.id],
      ['user.telegram', 'bot', admin.id],
      ['user.telegram-end', 'user', admin.id],
    ])
  })

  test('a code is read in any case, with or without dashes, and with letters that look like its digits', async () => {
    const { admin, bot } = await opening()
    for (const spell of [
      (code: string) => code.toLowerCase(),
      (code: string) => code.replaceAll('-', ''),
      (code: string) => ` ${code.replaceAll('-', ' ')} `,
      (code: string) => code.replaceAll('0', 'o').replaceAll('1', 'l'),
    ]) {
      expect((await redeem(bot, spell(await makeCode(admin)))).status).toBe(200)
    }
  })

  test('another Telegram account takes the place of the first, and two operators may share one', async () => {
    const { admin, other, bot } = await opening()
    for (const id of [1, 2]) await redeem(bot, await makeCode(admin), id)
    expect(await linkedOf(admin)).toMatchObject({ telegramId: 2 })
    await redeem(bot, await makeCode(other), 2)
    expect([await linkedOf(admin), await linkedOf(other)]).toMatchObject([{ telegramId: 2 }, { telegramId: 2 }])
  })

  test('a lost answer is repeated by the Idempotency-Key', async () => {
    const { admin, bot } = await opening()
    const body = { code: await makeCode(admin), userId: TELEGRAM }
    const send = () => bot.call('POST', '/bot/v1/operator-links', body, { 'idempotency-key': 'update-1' })
    const [first, again] = [await send(), await send()]
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.body).toEqual(first.body)
  })

  test('erasing the player of this id unlinks the account', async () => {
    const { admin, bot } = await opening()
    await bot.call('PUT', `/bot/v1/players/${TELEGRAM}`, { firstName: 'Ada' })
    await redeem(bot, await makeCode(admin))
    const erased = await admin.call('POST', `/api/telegram-users/${TELEGRAM}/erase`, { confirmation: TELEGRAM })
    expect(erased.status).toBe(200)
    expect(await linkedOf(admin)).toBeNull()
  })
})

/** Acts that end a code before its time. */
const ends: [what: string, act: (given: Given & { code: string }) => Promise<unknown>][] = [
  ['its use', ({ bot, code }) => redeem(bot, code, 1)],
  ['ten minutes', ({ app }) => sql`update telegram_link_codes set expires_at = now()`.execute(app.database.db)],
  ['a newer code', ({ admin }) => makeCode(admin)],
  ['the end of the link', ({ admin }) => admin.call('DELETE', '/api/account/telegram')],
  ['its maker’s removal', ({ other, admin }) => other.call('DELETE', `/removeUser/${admin.id}`)],
  ['its maker’s demotion', ({ other, admin }) => other.call('PUT', `/api/users/${admin.id}/user-type`, { userType: 'user' })],
  [
    'a new password of its maker',
    ({ admin }) =>
      admin.call('PUT', '/api/account/password', {
        currentPassword: PASSWORD,
        password: 'a new secret',
        confirmPassword: 'a new secret',
      }),
  ],
  ['the end of other sessions by its maker', ({ admin }) => admin.call('DELETE', '/api/account/sessions')],
]

describe('security: a code that links a Telegram account', () => {
  test.each(ends)('ends with %s', async (_what, act) => {
    const given = await opening()
    const code = await makeCode(given.admin)
    await act({ ...given, code })
    const answer = await redeem(given.bot, code)
    expect([answer.status, answer.body.code]).toEqual([403, 'LINK_CODE_INVALID'])
  })

  test('is used by one of twenty who send it at once', async () => {
    const { admin, bot } = await opening()
    const code = await makeCode(admin)
    const answers = await Promise.all(Array.from({ length: 20 }, (_, id) => redeem(bot, code, id + 1)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await linkedOf(admin)).telegramId).toBe(answers.findIndex(({ status }) => status === 200) + 1)
  })

  test('is stored as a hash', async () => {
    const { app, admin } = await opening()
    const code = await makeCode(admin)
    const stored = JSON.stringify(await app.database.db.selectFrom('telegram_link_codes').selectAll().execute())
    for (const text of [code, code.replaceAll('-', '')]) {
      expect(stored).not.toContain(text)
      expect(stored).not.toContain(JSON.stringify(Buffer.from(text)))
    }
  })

  test('can be guessed ten times in a quarter of an hour, and a good one does not count', async () => {
    const { admin, bot } = await opening({ rateLimit: true })
    const statuses: number[] = []
    for (let n = 0; n < 11; n += 1) statuses.push((await redeem(bot, `wrong ${n}`)).status)
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 403), 429])
    expect((await redeem(bot, await makeCode(admin))).status).toBe(429)
    expect((await redeem(bot, await makeCode(admin), 1)).status).toBe(200)
    for (let n = 0; n < 12; n += 1) expect((await redeem(bot, await makeCode(admin), 2)).status).toBe(200)
  })
})
