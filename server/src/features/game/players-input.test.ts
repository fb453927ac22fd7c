/** Invalid input about players (design §8): only the row at fault is refused, with the reason. */
import { expect, test } from 'vitest'
import { testApp } from '#test/test-app.ts'

test('§8 an invalid row fails alone, with a message, and the rest of the batch is written', async () => {
  const app = await testApp()
  const bot = await app.bot()
  const bad = [
    String.raw`{"userId": 2, "firstName": "a\u0000b"}`,
    String.raw`{"userId": 3, "firstName": "\ud800"}`,
    String.raw`{"userId": 4, "first\u0000Name": "a"}`,
    '{"userId": 5, "__proto__": {"firstName": "a"}}',
    '{"userId": 6, "constructor": 1}',
    `{"userId": 7, "${'x'.repeat(1000)}": 1}`,
    '{"userId": 8, "firstName": {"length": 1}}',
    '{"userId": 9007199254740993}',
    '{"userId": 1e400}',
    '"10"',
    'null',
    '[11]',
    '12',
  ]
  const { status, body } = await bot.call(
    'POST',
    '/bot/v1/players',
    `{"players": [{"userId": 1}, ${bad.join()}, {"userId": 13}]}`,
  )
  expect(status).toBe(200)
  const ids = [2, 3, 4, 5, 6, 7, 8, ...Array.from({ length: 6 }, () => null)]
  expect(body.results).toEqual([
    { userId: 1, status: 'created' },
    ...ids.map((userId) => ({ userId, status: 'failed', message: expect.stringMatching(/^.{5,200}$/su) })),
    { userId: 13, status: 'created' },
  ])
  expect(body.results[1].message).toBe('firstName must not contain U+0000 or lone surrogates')
  expect(body.results[8].message).toBe('userId must be a whole number from 1 to 9007199254740991')
  expect(body.results[10].message).toBe('A player must be an object, {userId, …}')
  // Fields beside the rows are checked as strictly as ever.
  for (const odd of [
    String.raw`{"players": [{"userId": 1}], "\u0000": 1}`,
    '{"players": [{"userId": 1}], "n": 9007199254740993}',
  ])
    expect((await bot.call('POST', '/bot/v1/players', odd)).body.code).toBe('INVALID_INPUT')
})

test('§8 a username loses what stands around it, and names stay as they are', async () => {
  const app = await testApp()
  const bot = await app.bot()
  const put = async (username: string) =>
    (await bot.call('PUT', '/bot/v1/players/7', { username, firstName: ' Ada\u200b' })).body.player
  for (const username of ['foo\u200b', ' foo ', '@foo', ' ＠foo'])
    expect(await put(username)).toMatchObject({ username: 'foo', firstName: ' Ada\u200b' })
  expect(await put(' @ ')).toMatchObject({ username: null })
  const { body } = await bot.call('POST', '/bot/v1/players', { players: [{ userId: 7, username: '@foo' }, { userId: 8 }] })
  expect(body.results).toMatchObject([{ status: 'updated' }, { status: 'created' }])
  expect((await bot.call('GET', '/bot/v1/players/7')).body.player.username).toBe('foo')
})

test.each(['2999-01-01T00:00:00Z', '0000-01-01T00:00:00Z', '0001-01-01T00:00:00-23:59', '1969-12-31T23:59:59Z'])(
  '§8 players cannot have joined at %s, alone or in a batch',
  async (createdAt) => {
    const app = await testApp()
    const bot = await app.bot()
    const message = 'createdAt must be a moment from 1970 until now'
    expect(await bot.call('PUT', '/bot/v1/players/7', { createdAt })).toMatchObject({ status: 400, body: { message } })
    const { body } = await bot.call('POST', '/bot/v1/players', { players: [{ userId: 7, createdAt }, { userId: 8 }] })
    expect(body.results).toEqual([
      { userId: 7, status: 'failed', message },
      { userId: 8, status: 'created' },
    ])
  },
)

test.each(['1e3', '04711', '0', '-1', '+7', '7.0', '0x7', '9007199254740992', '9007199254740993', '1e300', '%37%20', 'Me'])(
  '§8 an address with the player id %s is refused',
  async (userId) => {
    const app = await testApp()
    const [bot, admin] = [await app.bot(), await app.signUp('admin')]
    const message = 'userId must be a whole number from 1 to 9007199254740991'
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PUT', '', {}],
      ['GET', '/announcements', undefined],
      ['GET', '/entries', undefined],
      ['POST', '/claims', { kind: 'social', id: 'x' }],
    ] as const) {
      const answer = await bot.call(method, `/bot/v1/players/${userId}${path}`, body)
      expect([answer.status, answer.body.code, answer.body.message], path).toEqual([400, 'INVALID_INPUT', message])
    }
    // The console also shows erased players, whose ids are below 0.
    const { body } = await admin.call('GET', `/api/telegram-users/${userId}`)
    const expected =
      userId === '-1'
        ? 'This player does not exist.'
        : 'There is no such player: a user id is a whole number up to 9007199254740991.'
    expect(body.message).toBe(expected)
  },
)

test('§8 invalid input is answered in plain sentences that name the limit', async () => {
  const app = await testApp()
  const [bot, admin] = [await app.bot('admin', 'admin'), await app.signUp('admin')]
  const ids = Array.from({ length: 10_001 }, (_, n) => `task-${n}`)
  const cursor = 'x'.repeat(8193)
  for (const [client, method, path, sent, message] of [
    [
      admin,
      'POST',
      '/api/social-tasks/remove',
      { target: { ids } },
      /^target must be \{ids\} with 1 to 10000 ids, or \{filter\}/,
    ],
    [bot, 'POST', '/bot/v1/players/7/reversals', { entryId: 1, reason: 'x' }, /^entryId must be a text$/],
    [
      bot,
      'POST',
      '/bot/v1/players/7/reversals',
      { entryId: '7', reason: 'x' },
      /^entryId must be the id of an entry, such as 7-12$/,
    ],
    [bot, 'GET', `/bot/v1/players/7/entries?after=${cursor}`, undefined, /^after must be at most 8192 characters$/],
    [bot, 'POST', '/bot/v1/players', { players: [] }, /^players must be at least 1 item$/],
    [bot, 'POST', '/bot/v1/players', {}, /^players is required$/],
    [bot, 'GET', '/bot/v1/players/7/tasks?collection=odd', undefined, /^collection must be one of social, daily$/],
  ] as const) {
    const { status, body } = await client.call(method, path, sent)
    expect([status, body.code], path).toEqual([400, 'INVALID_INPUT'])
    expect(body.message).toMatch(message)
  }
})
