import { describe, expect, test } from 'vitest'
import * as parse from './import-rows.ts'
import { BadRow, parseObject } from './import-values.ts'

const player = { id: '100', userId: 100 }
const task = { id: 't', image: 'twitter', priority: 1, title: 'Follow us', link: 'https://x.com/arcade', reward: 5 }
const announcement = { id: 'a', type: 'desc', title: 'Season 2', subtitle: 'Fresh levels', reward: 5, description: 'News' }
const participation = { parent: 't', id: '100', timestamp: Date.UTC(2026, 0, 1) }
/** The fields that an import keeps of a line. */
const kept = new Set(['balance', 'other', 'title', 'createdAt', 'a', 'b', 'c', 'd', 'e', 'f'])
const user = { id: 'u', fname: 'Ada', lname: 'Byron', email: 'ada@gmail.com', userType: 'user' }

describe('design §8 timestamps (§3)', () => {
  test.each([
    ['2026-03-04T05:06:07.089Z', '2026-03-04T05:06:07.089Z'],
    ['2026-03-04T05:06:07+02:00', '2026-03-04T03:06:07.000Z'],
    ['2026-03-04T05:06', '2026-03-04T05:06:00.000Z'],
    ['2026-03-04', '2026-03-04T00:00:00.000Z'],
    [1_777_023_542_138, '2026-04-24T09:39:02.138Z'],
    [{ _seconds: 1_777_023_542, _nanoseconds: 138_999_999 }, '2026-04-24T09:39:02.138Z'],
    [{ seconds: 1_777_023_542, nanoseconds: 0 }, '2026-04-24T09:39:02.000Z'],
    [{ __datatype__: 'timestamp', value: { _seconds: 1_777_023_542, _nanoseconds: 138_000_000 } }, '2026-04-24T09:39:02.138Z'],
    [{ __datatype__: 'timestamp', value: '2026-04-24T09:39:02.138Z' }, '2026-04-24T09:39:02.138Z'],
    [{ __time__: '2026-04-24T09:39:02.138999Z' }, '2026-04-24T09:39:02.138Z'],
    ['2026-04-24T09:39:02.138999999Z', '2026-04-24T09:39:02.138Z'],
    [null, null],
    ['', null],
    [undefined, null],
  ])('%j is %s', (createdAt, expected) => {
    expect(parse.parseTelegramUser({ ...player, createdAt }).columns['created_at']).toBe(expected)
  })

  test.each([
    ['yesterday'],
    ['2026-02-30'],
    ['2026-13-01'],
    ['2026-01-01T25:00'],
    [true],
    [[]],
    [{}],
    [1e300],
    [{ _seconds: 1.5 }],
    [{ _seconds: 1e15 }],
    [{ _seconds: 1, _nanoseconds: 1e9 }],
    [{ __datatype__: 'timestamp', value: { __datatype__: 'timestamp', value: {} } }],
    [{ __datatype__: 'geopoint', value: { _latitude: 1, _longitude: 1 } }],
    [{ __time__: 1 }],
  ])('%j is refused', (createdAt) => {
    expect(() => parse.parseTelegramUser({ ...player, createdAt })).toThrow('createdAt is not a point in time')
  })

  test.each([
    [1_774_744_200, /^createdAt seems to be in seconds, but a number is read as milliseconds$/],
    [1_774_744_200_000_000, /^createdAt seems to be in microseconds/],
    [1_774_744_200_000_000_000, /^createdAt seems to be in nanoseconds/],
    [{ __datatype__: 'timestamp', value: 1_774_744_200 }, /^createdAt seems to be in seconds, but a number/],
    ['1774744200', /^createdAt seems to be in seconds, as text/],
    [{ __time__: '1774744200000' }, /^createdAt seems to be in milliseconds, as text/],
    [{ _seconds: -1, _nanoseconds: 0 }, /^createdAt would be 1969-12-31T23:59:59\.000Z, before 2005$/],
    ['2004-12-31T23:59:59Z', /before 2005$/],
    [new Date(Date.now() + 2 * 86_400_000).toISOString(), /in the future$/],
  ])('%j is not a likely time of a Telegram user, and the reason says what it may be', (createdAt, reason) => {
    expect(() => parse.parseTelegramUser({ ...player, createdAt })).toThrow(reason)
    expect(() => parse.parseParticipation('social', { ...participation, timestamp: createdAt })).toThrow(BadRow)
  })
})

test('design §8 dates of items that are numbers in another unit than milliseconds are refused, old dates as texts are not', () => {
  const parsed = (row: object) => parse.parseTask('social', { ...task, ...row })
  expect(() => parsed({ endsAt: 1_798_761_600 })).toThrow('endsAt seems to be in seconds, but a number is read as milliseconds')
  expect(() => parsed({ startsAt: '1798761600000' })).toThrow('startsAt seems to be in milliseconds, as text')
  expect(parsed({ startsAt: '1999-12-31', endsAt: 1_798_761_600_000 }).columns).toMatchObject({
    starts_at: '1999-12-31T00:00:00.000Z',
    ends_at: '2027-01-01T00:00:00.000Z',
  })
})

describe('design §8 lines', () => {
  test.each([
    ['{"a":', 'The line is not valid JSON'],
    ['[]', 'The line is not a JSON object'],
    ['null', 'The line is not a JSON object'],
    ['"text"', 'The line is not a JSON object'],
    ['{"balance":9007199254740993}', 'balance: the number 9007199254740993 cannot be kept exactly'],
    ['{"balance": -9007199254740992.5}', 'balance: the number -9007199254740992.5 cannot be kept exactly'],
    ['{"other":[1,0.12345678901234567]}', 'other: the number 0.12345678901234567 cannot be kept exactly'],
    ['{"createdAt":{"_seconds":9007199254740993}}', 'createdAt: the number 9007199254740993 cannot be kept exactly'],
    ['{"balance":1e-400}', 'balance: the number 1e-400 cannot be kept exactly'],
  ])('%s is refused', (text, reason) => {
    expect(() => parseObject(text, kept)).toThrow(reason)
  })

  test('numbers that a double represents exactly are read, however they are written', () => {
    const text = '{"a":9007199254740992,"b":0.1,"c":1.50,"d":25e1,"e":1000000000000000000000,"f":12345678.90123456}'
    expect(parseObject(text, kept)).toEqual({ a: 2 ** 53, b: 0.1, c: 1.5, d: 250, e: 1e21, f: 12_345_678.901_234_56 })
  })

  test('a number that a double cannot represent does not matter in a field that is not kept', () => {
    const row = parseObject('{"chatInstance":8134722200314281151,"photo":{"id":-8134722200314281151},"balance":5}', kept)
    expect(row).toMatchObject({ balance: 5 })
  })

  test('digits within a text are not a number', () => {
    expect(parseObject('{"title":"9007199254740993"}', kept)).toEqual({ title: '9007199254740993' })
  })

  test('a very deeply nested line is refused without harm', () => {
    expect(() => parseObject('['.repeat(400_000), kept)).toThrow(BadRow)
  })
})

describe('§3 telegramUsers', () => {
  test('a username loses what stands around it, such as the @ that Telegram shows', () => {
    const usernameOf = (username: string) => parse.parseTelegramUser({ ...player, username }).columns['username']
    expect(['@x9155', 'x9155', '@', '\u200bx9155\u200b', ' '].map(usernameOf)).toEqual(['x9155', 'x9155', null, 'x9155', null])
  })

  test('missing and empty values are null, unknown fields and __proto__ are ignored', () => {
    const row = parseObject('{"id":"100","firstName":"","lastName":null,"level":7,"__proto__":{"username":"evil"}}', kept)
    expect(parse.parseTelegramUser(row).columns).toEqual({
      user_id: 100,
      created_at: null,
      from_before: null,
      balance: null,
      first_name: null,
      last_name: null,
      username: null,
      twitter_username: null,
      instagram_username: null,
      linked_in_username: null,
      discord_username: null,
      youtube_username: null,
      email: null,
      phone_number: null,
      ton_wallet_address: null,
      bsc_wallet: null,
    })
  })

  test.each([
    [{}, 'userId is required'],
    [{ id: 'abc', userId: 5 }, 'id must be a whole number'],
    [{ id: '007' }, 'id must be a whole number'],
    [{ userId: 1.5 }, 'userId must be a whole number'],
    [{ userId: 0 }, 'userId must be a whole number'],
    [{ userId: -5 }, 'userId must be a whole number'],
    [{ userId: 2 ** 53 }, 'userId must be a whole number'],
    [{ id: '9007199254740993' }, 'id must be a whole number'],
    [{ id: '100', userId: 101 }, 'id and userId differ'],
    [{ ...player, balance: '5' }, 'balance must be a number'],
    [{ ...player, balance: Infinity }, 'balance must be between'],
    [{ ...player, balance: -(2 ** 53) - 2 }, 'balance must be between'],
    [{ ...player, username: 5 }, 'username must be a text'],
    [{ ...player, username: 'a\0b' }, 'U+0000'],
    [{ ...player, firstName: '\ud83d' }, 'lone surrogate'],
    [{ ...player, firstName: 'x'.repeat(501) }, 'firstName must be at most 500 characters'],
  ])('%j is refused: %s', (row, reason) => {
    expect(() => parse.parseTelegramUser(row)).toThrow(reason)
  })

  test('the largest numbers are accepted', () => {
    expect(parse.parseTelegramUser({ id: '9007199254740991', balance: -(2 ** 53) }).columns).toMatchObject({
      user_id: 2 ** 53 - 1,
      balance: -(2 ** 53),
    })
  })
})

describe('§5 tasks', () => {
  test.each([
    ['social', { ...task, image: 'telegram' }, 'image must be one of twitter'],
    ['daily', { ...task, image: 'discord' }, 'image must be one of telegram'],
    ['social', { ...task, image: '__proto__' }, 'image must be one of'],
    ['social', { ...task, id: undefined }, 'id is required'],
    ['social', { ...task, id: '..' }, 'id must not be .., which browsers remove from addresses'],
    ['social', { ...task, id: 'x'.repeat(129) }, 'id must be at most 128'],
    ['social', { ...task, priority: null }, 'priority is required'],
    ['social', { ...task, priority: '1' }, 'priority must be a number'],
    ['social', { ...task, title: ' ' }, 'title is required'],
    ['social', { ...task, title: 'x'.repeat(10_001) }, 'title must be at most 10000'],
    ['social', { ...task, link: 'javascript:alert(1)' }, 'Invalid URL format'],
    ['social', { ...task, link: 'arcade' }, 'Invalid URL format'],
    ['social', { ...task, reward: undefined }, 'reward is required'],
    ['daily', { ...task, image: 'twitter', reward: -1 }, 'reward must be 0 or more'],
  ] as const)('%s %j is refused: %s', (collection, row, reason) => {
    expect(() => parse.parseTask(collection, row)).toThrow(reason)
  })

  test('email and bsc have no link', () => {
    expect(parse.parseTask('social', { ...task, image: 'bsc' }).columns['link']).toBeNull()
    expect(parse.parseTask('social', task).columns['link']).toBe('https://x.com/arcade')
  })
})

describe('§5 announcements', () => {
  const full = { ...announcement, link: 'https://a.example', linkType: 'input', inputText: 'Paste it' }

  test('only the fields of the type are stored', () => {
    expect(parse.parseAnnouncement(full).columns).toMatchObject({
      description: 'News',
      link: null,
      link_type: null,
      input_text: null,
    })
    const input = parse.parseAnnouncement({ ...full, type: 'link' }).columns
    expect(input).toMatchObject({ description: null, link: 'https://a.example', link_type: 'input', input_text: 'Paste it' })
    const noInput = parse.parseAnnouncement({ ...full, type: 'link', linkType: 'noInput' }).columns
    expect(noInput).toMatchObject({ link: 'https://a.example', link_type: 'noInput', input_text: null })
  })

  test('the status is stored as given, or false if missing; empty file names are null', () => {
    expect(parse.parseAnnouncement({ ...announcement, status: true, imageName: '' })).toEqual({
      columns: expect.objectContaining({ status: true, image_name: null }),
    })
    expect(parse.parseAnnouncement(announcement).columns['status']).toBe(false)
  })

  test('a file in another store keeps its name, and a note says so', () => {
    const { columns, note } = parse.parseAnnouncement({
      ...announcement,
      image: 'https://store.example/a.png',
      imageName: 'a.png',
    })
    expect(columns).toMatchObject({ image_name: 'a.png' })
    expect(note).toBe('The file of image is in another store: upload it again')
  })

  test.each([
    [{ type: 'video' }, 'type must be one of'],
    [{ type: 'link', linkType: 'maybe' }, 'linkType must be one of'],
    [{ status: 'true' }, 'status must be true or false'],
    [{ subtitle: '' }, 'subtitle is required'],
    [{ reward: -0.5 }, 'reward must be 0 or more'],
  ])('%j is refused', (change, reason) => {
    expect(() => parse.parseAnnouncement({ ...announcement, ...change })).toThrow(reason)
  })
})

test('§3 a history document keeps a reward that would be refused today', () => {
  const item = { id: 't', title: 'Follow us', type: 'twitter', reward: -5 }
  expect(parse.parseHistoryItem('social', item).columns).toMatchObject({ reward: -5 })
})

test('§3 a participation needs its parent, its player and its time', () => {
  expect(parse.parseParticipation('social', participation).columns).toMatchObject({
    user_id: 100,
    item_id: 't',
    at: '2026-01-01T00:00:00.000Z',
  })
  for (const name of ['parent', 'id', 'timestamp']) {
    expect(() => parse.parseParticipation('social', { ...participation, [name]: null })).toThrow(`${name} is required`)
  }
})

test('§3 a user needs an e-mail address and the type admin or user', () => {
  expect(parse.parseUser(user).columns).toMatchObject({ id: 'u', user_type: 'user', created_at: null })
  expect(() => parse.parseUser({ ...user, userType: 'owner' })).toThrow('userType must be one of admin, user')
  expect(() => parse.parseUser({ ...user, email: 'ada' })).toThrow('Invalid email address')
})

describe('§5 texts that operators type are imported as the forms keep them', () => {
  test('in NFC, without white space around them, and links without invisible characters', () => {
    const row = { ...task, title: ' Zoe\u0308 ', link: 'https://x.com/arcade\u200b' }
    expect(parse.parseTask('social', row).columns).toMatchObject({ title: 'Zo\xeb', link: 'https://x.com/arcade' })
    expect(parse.parseUser({ ...user, fname: 'Zoe\u0308' }).columns['fname']).toBe('Zo\xeb')
    const named = { ...announcement, imageName: 'a\u202egnp.png', iconName: '\u200b', description: '\u200b' }
    expect(parse.parseAnnouncement(named).columns).toMatchObject({ image_name: 'agnp.png', icon_name: null, description: null })
  })

  test('a title or name of invisible characters is missing', () => {
    expect(() => parse.parseTask('social', { ...task, title: '\u3164' })).toThrow('title is required')
    expect(() => parse.parseHistoryItem('social', { id: 't', title: '\u200b' })).toThrow('title is required')
    expect(() => parse.parseUser({ ...user, lname: '\u200b' })).toThrow('lname is required')
  })

  test('a limit counts code points of the text that is kept', () => {
    const parseName = (fname: string) => parse.parseUser({ ...user, fname }).columns['fname']
    expect(parseName('😀'.repeat(500))).toBe('😀'.repeat(500))
    expect(() => parseName('😀'.repeat(501))).toThrow('fname must be at most 500 characters')
    expect(parseName('e\u0301'.repeat(500))).toBe('\xe9'.repeat(500))
    expect(() => parseName('\u{1d160}'.repeat(250))).toThrow('fname must be at most 500 characters') // three code points each in NFC
  })

  test('what players typed stays as it is', () => {
    expect(parse.parseTelegramUser({ ...player, firstName: ' Zoe\u0308\u200b' }).columns['first_name']).toBe(' Zoe\u0308\u200b')
  })
})
