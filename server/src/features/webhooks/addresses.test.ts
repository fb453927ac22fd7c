/** Addresses of webhooks (ADR 20): public or configured ones only. Others are refused when added and when sent to. */
import { describe, expect, test } from 'vitest'
import { testApp } from '#test/test-app.ts'
import { add, endpoint, LOOPBACK, opening, sendTest } from '#test/webhooks.ts'

describe('webhooks: an address', () => {
  test.each([
    ['http://127.0.0.1:PORT/', '127.0.0.1'],
    ['http://localhost:PORT/', '127.0.0.1'],
    ['http://2130706433:PORT/', '127.0.0.1'],
    ['http://0x7f.1:PORT/', '127.0.0.1'],
    ['http://[::ffff:127.0.0.1]:PORT/', '::ffff:7f00:1'],
    ['https://169.254.169.254/latest/meta-data', '169.254.169.254'],
    ['https://[fd00::1]/', 'fd00::1'],
    ['https://[2002:7f00:1::]/', '2002:7f00:1::'],
    ['https://10.0.0.1/', '10.0.0.1'],
    ['https://100.64.0.1/', '100.64.0.1'],
    ['https://0.0.0.0/', '0.0.0.0'],
  ])('such as %s, which is not public, is refused unless it is configured', async (address, ofAddress) => {
    const all = await opening({ networks: [] })
    const bot = await endpoint()
    const url = address.replace('PORT', new URL(bot.url).port)
    const { id } = await add(all, url)
    const { state, result } = await sendTest(all, id)
    expect(state).toBe('waiting')
    expect(result).toMatch(/^Address must be public: /)
    expect(result).toContain(ofAddress)
    expect(bot.received).toHaveLength(0)
    // The same address is refused when the webhook is added.
    const admin = await (await testApp()).signUp('admin')
    const answer = await admin.call('POST', '/api/webhooks', { url, events: ['task.changed'] })
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT', fields: { url: result } } })
  })

  test('with plain http is refused when it is added, unless it is in a configured network', async () => {
    const app = await testApp({ webhookNetworks: LOOPBACK })
    const admin = await app.signUp('admin')
    const addAt = (url: string) => admin.call('POST', '/api/webhooks', { url, events: ['task.changed'] })
    for (const url of ['http://bot.invalid/', 'http://8.8.8.8/', 'http://[2606:4700::1111]/'])
      expect((await addAt(url)).body.fields, url).toEqual({
        url: 'Address must begin with https://: plain http is only for what the administrator of this server has allowed',
      })
    for (const url of ['http://127.0.0.1:1/', 'https://8.8.8.8/', 'https://bot.invalid/'])
      expect((await addAt(url)).status, url).toBe(200)
  })

  test.each([
    'ftp://bot.example/',
    'bot.example',
    'https://me:secret@bot.example/',
    'https://bot.example/#x',
    'https://bot.example:0/',
    'https://bot.example:00/hooks',
    'javascript:alert(1)',
    '',
  ])('such as %j is invalid', async (url) => {
    const { admin } = await opening()
    const answer = await admin.call('POST', '/api/webhooks', { url, events: ['task.changed'] })
    expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_INPUT'])
  })

  test('lists each event only once', async () => {
    const { admin } = await opening()
    const events = ['task.changed', 'task.changed']
    const { status, body } = await admin.call('POST', '/api/webhooks', { url: 'https://bot.example/', events })
    expect([status, body.fields]).toEqual([400, { events: 'Choose each event once' }])
  })

  test('is one of twenty at most', async () => {
    const all = await opening()
    const answers = await Promise.all(
      Array.from({ length: 25 }, () =>
        all.admin.call('POST', '/api/webhooks', { url: 'https://bot.example/', events: ['task.changed'] }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
    expect(answers.filter(({ body }) => body.code === 'TOO_MANY_WEBHOOKS')).toHaveLength(5)
  })
})
