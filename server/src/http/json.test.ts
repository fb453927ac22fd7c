/** JSON of requests: limited before it is parsed, exact numbers, short refusals (security.md, Input). */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { isExactNumber } from '@arcade/contract/numbers'
import { type Client, testApp } from '#test/test-app.ts'
import { parseJson } from './json.ts'
import { MAX_REFUSALS } from './refusals.ts'

const MB = 1024 * 1024
const OUT_OF_RANGE = 'The number must be between -9007199254740992 and 9007199254740992.'
const bytesOf = (text: string) => new TextEncoder().encode(text)
const parse = (text: string, limitBytes = 64 * 1024) => parseJson(bytesOf(text), { limitBytes })
const repeated = (part: string, count: number) => Array.from({ length: count }, () => part).join(',')
/** Objects with different field names, in a body of more than 64 kB. */
const objects = (count: number, fields: number) =>
  repeatedBy(count, (n) => `{${repeatedBy(fields, (field) => `"${'x'.repeat(100)}${n}-${field}":1`)}}`)
const repeatedBy = (count: number, part: (index: number) => string) => Array.from({ length: count }, (_, n) => part(n)).join(',')
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 1]))

afterEach(() => void vi.restoreAllMocks())

describe('security: input', () => {
  test.each([
    ['2.7 million empty users', `{"data":{"users":[${repeated('{}', 2_700_000)}]}}`, 'The request holds too many values.'],
    ['4 million numbers', `{"data":{"users":[${repeated('1', 4_000_000)}]}}`, 'The request holds too many values.'],
    ['180,000 fields', JSON.stringify({ data: {}, ...keys(180_000) }), 'The request holds too many fields.'],
    ['101 fields in an array', `[[${JSON.stringify(keys(101))}]]`, 'The request holds too many fields.'],
    ['1,001 different fields in a large body', `[${objects(77, 13)}]`, 'The request holds too many different fields.'],
    ['127,000 different fields', `[${objects(640, 99)}]`, 'The request holds too many different fields.'],
    ['17 levels', `${'['.repeat(17)}${']'.repeat(17)}`, 'The request is nested too deeply.'],
    ['4 million levels', '['.repeat(4_000_000), 'The request is nested too deeply.'],
    ['numbers without commas', `{"data":[${'1.5e3 '.repeat(1_000_000)}]}`, 'The request is not valid JSON.'],
    ['numbers between colons', `[${'1.5e3:'.repeat(1_000_000)}]`, 'The request is not valid JSON.'],
    ['numbers between colons, outside of everything', '1.5e3:'.repeat(1_000_000), 'The request is not valid JSON.'],
    ['words and texts without commas', `[${'true"" '.repeat(1_000_000)}]`, 'The request is not valid JSON.'],
    ['arrays without commas', '[[]'.repeat(1_000_000), 'The request is not valid JSON.'],
    ['levels of both kinds', `${'{"a":['.repeat(9)}1${']}'.repeat(9)}`, 'The request is nested too deeply.'],
  ])('%s are refused before anything is parsed', async (_, text, message) => {
    const spy = vi.spyOn(JSON, 'parse')
    await expect(parse(text, 8 * MB)).rejects.toThrow(message)
    expect(spy).not.toHaveBeenCalled()
  })

  test.each([
    '{}',
    '[]',
    '{"a":[{"b":{}},[],"x"],"c":null,"d":true,"e":-1.5e3}',
    String.raw`{"a\"{[,":"}]\\","b":"\u00e5"}`,
    ` { "a" : [ 1 , 2 ] ,\n"b":"" } `,
    `[${'['.repeat(15)}${']'.repeat(15)}]`,
    JSON.stringify(keys(100)),
    JSON.stringify(Array.from({ length: 1000 }, (_, index) => index)),
  ])('%.40s is parsed as JSON.parse does', async (text) => {
    expect(await parse(text)).toEqual(JSON.parse(text))
  })

  test.each(['', '{', '{"a"', '{"a":}', '"abc', String.raw`"abc\"`, '[1,]', '-', '01', '1.2.3', 'nul', '{]}', '1 2', '{"a":1e}'])(
    '%j is invalid JSON',
    async (text) => {
      await expect(parse(text)).rejects.toThrow('The request is not valid JSON.')
    },
  )

  test('the largest number of users that can be posted is parsed, each with twice the fields of §7', async () => {
    const user = { ...Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`field${index}`, 'x'])), id: 7 }
    const body = JSON.stringify({ data: { users: Array.from({ length: 10_000 }, () => user) } })
    expect((await parse(body, 8 * MB)) as { data: { users: unknown[] } }).toHaveProperty('data.users.length', 10_000)
  })

  test('a text of eight million quotes is read in one pass', async () => {
    const text = JSON.stringify({ a: '"'.repeat(2_000_000), b: '\\'.repeat(2_000_000) })
    expect(await parse(text, 8 * MB)).toHaveProperty('b.length', 2_000_000)
  })

  test.each([
    ['text with U+0000', String.raw`{"a":["b\u0000"]}`],
    ['a lone surrogate', String.raw`{"a":"\ud800"}`],
    ['a key with U+0000', String.raw`{"a\u0000":1}`],
    ['__proto__', '{"a":{"__proto__":{}}}'],
    ['__proto__ in escapes', String.raw`{"\u005f_proto__":{}}`],
    ['constructor', '{"constructor":1}'],
  ])('%s is refused', async (_, text) => {
    await expect(parse(text)).rejects.toThrow(/not valid|must not contain U\+0000 or lone surrogates/)
  })

  test('a large body may hold 1,000 different fields, however often', async () => {
    const body = `[${objects(100, 10)},${objects(100, 10)}]`
    expect(await parse(body, 8 * MB)).toEqual(JSON.parse(body))
  })

  test('other requests run between the parts of the scan', async () => {
    let turns = 0
    const count = (): void => {
      turns += 1
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    await parse(`[${'0.12345678901234568,'.repeat(100_000)}1]`, 8 * MB)
    clearImmediate(next)
    expect(turns).toBeGreaterThan(2_000_000 / (64 * 1024))
  })

  test('exact and inexact numbers among rows that the call checks one by one are told apart', async () => {
    const numbers = [
      '0.1',
      '0.30000000000000004',
      '0.1000000000000000055',
      '1e3',
      '9007199254740993',
      `1${'0'.repeat(500)}`,
      '-0',
      '12',
    ]
    const body = `{"rows":[${repeatedBy(5000, () => numbers.join(','))}]}`
    const { rows } = (await parseJson(bytesOf(body), { limitBytes: 8 * MB, rowsField: 'rows' })) as { rows: number[] }
    expect(rows.slice(0, 8)).toEqual([0.1, 0.30000000000000004, Number.NaN, 1000, Number.NaN, Number.NaN, -0, 12])
    expect(rows.filter(Number.isNaN)).toHaveLength(15_000)
  })

  test('the word prototype within a text is accepted', async () => {
    expect(await parse('{"title":"A prototype constructor"}')).toEqual({ title: 'A prototype constructor' })
  })
})

describe('design §5 numbers are kept as they were sent, or refused', () => {
  test.each([
    '0',
    '-0',
    '1',
    '1.50',
    '0.1',
    '100',
    '1e3',
    '1E+3',
    '12.5e-3',
    '9007199254740992',
    '-9007199254740992',
    '0.30000000000000004',
    '1e300',
  ])('%s is exact', async (number) => {
    expect(isExactNumber(number)).toBe(true)
    expect(await parse(`{"a":${number}}`)).toEqual({ a: Number(number) })
  })

  test.each([
    '9007199254740993',
    '-9007199254740993',
    '9007199254740992.5',
    '0.1000000000000000055511151231257827',
    '123456789012345678',
    '1e999',
    '-1e999',
    '1e-400',
    '1.0000000000000000001',
    `1${'0'.repeat(500)}`,
    `0.${'1'.repeat(500)}`,
  ])('%.40s is not exact', async (number) => {
    expect(isExactNumber(number)).toBe(false)
    await expect(parse(`{"a":1,"reward":[${number}]}`)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      fields: { reward: Math.abs(Number(number)) < 2 ** 53 ? 'The number cannot be kept exactly.' : OUT_OF_RANGE },
    })
  })

  test('calls refuse inexact numbers in bodies, queries and paths', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const task = { type: 'twitter', title: 'T', reward: 1 }
    for (const priority of ['9007199254740993', '9007199254740992.5']) {
      const body = JSON.stringify(task).replace('{', `{"priority":${priority},`)
      const answer = await admin.call('POST', '/api/social-tasks', body)
      expect(answer).toMatchObject({ status: 400, body: { message: OUT_OF_RANGE, fields: { priority: OUT_OF_RANGE } } })
      expect((await admin.call('GET', `/api/telegram-users?balanceMin=${priority}`)).status).toBe(400)
      expect((await admin.call('GET', `/api/telegram-users/${priority}`)).status).toBe(400)
    }
    expect((await admin.call('GET', '/api/telegram-users/1.0000000000000000001')).status).toBe(400)
    expect((await admin.call('GET', '/api/telegram-users?balanceMin=1.5&pageSize=25')).status).toBe(200)
  })
})

describe('security: refusals', () => {
  const wide = '\u0001'.repeat(90)
  const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`${wide}${index}`, 1]))
  const many = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)

  test.each([
    ['POST', '/api/session', fields(90)],
    ['POST', '/api/session', { email: 'x'.repeat(50_000), password: 1 }],
    ['POST', '/api/users/remove', { target: { ids: many(30_000, 1) } }],
    ['POST', '/download-history', { data: { users: many(9000, { id: [] }) } }],
    [
      'GET',
      `/api/users?${many(90, 'ü'.repeat(90))
        .map((name, index) => `${name}${index}=1`)
        .join('&')}`,
    ],
  ])('%s %.20s: an answer never repeats more than 8 kB of the input', async (method, path, body?: unknown) => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const answer = await admin.call(method, path, body)
    expect(answer.status).toBe(400)
    expect(Buffer.byteLength(JSON.stringify(answer.body))).toBeLessThanOrEqual(8 * 1024)
  })

  test('16 kB of parameters are refused without a search for each of them', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const spy = vi.spyOn(URLSearchParams.prototype, 'getAll')
    expect((await admin.call('GET', `/api/users?${'a&'.repeat(8000)}`)).status).toBe(400)
    expect(spy.mock.calls.length).toBeLessThan(100)
  })

  test('a guest with too many refused requests must wait; other callers need not', async () => {
    const app = await testApp({ rateLimit: true })
    const admin = await app.signUp('admin')
    const refuse = (client: Client) => client.call('POST', '/api/session', { email: 'nobody' })
    for (let count = 0; count < MAX_REFUSALS; count += 1) expect((await refuse(app.guest)).status).toBe(400)
    const refused = await refuse(app.guest)
    expect(refused).toMatchObject({ status: 429, body: { code: 'TOO_MANY_ATTEMPTS' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(800)
    expect((await refuse(admin)).status).toBe(400)
    expect((await app.guest.call('GET', '/api/session')).status).toBe(200)
  })
})
