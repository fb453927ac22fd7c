/** What each answer of the Bot API, and each lost one, means for a recipient. */
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type Behaviour, BOT_TOKEN, startTelegram } from '#test/telegram.ts'
import { createTelegram } from './telegram.ts'

const CALL = { method: 'sendMessage', fields: { chat_id: 7, text: 'Hello' }, file: undefined } as const

async function answerTo(does: Behaviour) {
  const api = await startTelegram()
  onTestFinished(() => api.stop())
  api.behave(() => does)
  return createTelegram({ apiRoot: api.url, botToken: BOT_TOKEN, timeoutMs: does === 'hang' ? 300 : undefined }).send(CALL)
}

const error = (status: number, description: string) => ({ status, body: { ok: false, error_code: status, description } })

const photo = (name: string) => ({ status: 200, body: { ok: true, result: { photo: [{ file_id: name }] } } })

test.each<[string, Behaviour, object]>([
  ['a message that was sent', 200, { kind: 'sent' }],
  ['a player who has blocked the bot', 403, { kind: 'refused', reason: 'blocked' }],
  ['a deactivated account', error(403, 'Forbidden: user is deactivated'), { kind: 'refused', reason: 'deactivated' }],
  [
    'a player who has never started the bot',
    error(403, "Forbidden: bot can't initiate conversation with a user"),
    { kind: 'refused', reason: 'notFound' },
  ],
  ['a chat that is not found', error(400, 'Bad Request: chat not found'), { kind: 'refused', reason: 'notFound' }],
  ['a message that Telegram does not take', 400, { kind: 'failed' }],
  ['a request to wait', 429, { kind: 'wait', seconds: 1 }],
  ['a request to wait from a gateway', { status: 429, body: { detail: 'slow down' } }, { kind: 'wait', seconds: 5 }],
  [
    'a request to wait for ever',
    { status: 429, body: { ok: false, parameters: { retry_after: 1e300 } } },
    { kind: 'wait', seconds: 86_400 },
  ],
  [
    'a text that cannot be kept',
    error(401, `No\0\ud800${'x'.repeat(300)}`),
    { kind: 'denied', text: `No \ufffd${'x'.repeat(196)}` },
  ],
  [
    'a photo that is none',
    { status: 200, body: { ok: true, result: { photo: { a: 1 } } } },
    { kind: 'sent', photoId: undefined },
  ],
  ['a name of a photo that is none', photo('a\0b'), { kind: 'sent', photoId: undefined }],
  ['a failure that Telegram tells', 500, { kind: 'busy' }],
  ['another token', 401, { kind: 'denied' }],
  ['an unknown bot', 404, { kind: 'denied' }],
  ['the page of a gateway', 502, { kind: 'unknown' }],
  ['a connection that closes after the message was sent', 'drop', { kind: 'unknown' }],
  ['a connection that closes before', 'close', { kind: 'unknown' }],
  ['no answer in time', 'hang', { kind: 'unknown' }],
])('%s', async (_name, does, meaning) => {
  expect(await answerTo(does)).toMatchObject(meaning)
})

test('without a connection nothing was sent', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const telegram = createTelegram({ apiRoot: `http://127.0.0.1:${port}`, botToken: BOT_TOKEN })
  expect(await telegram.send(CALL)).toEqual({ kind: 'unreachable', text: 'ECONNREFUSED' })
  const odd = createTelegram({ apiRoot: 'http://127.0.0.1:9', botToken: BOT_TOKEN })
  expect(await odd.send(CALL)).toEqual({ kind: 'unreachable', text: 'bad port' })
  const named = createTelegram({ apiRoot: 'http://telegram.invalid', botToken: BOT_TOKEN })
  expect(await named.send(CALL)).toMatchObject({ kind: 'unreachable' })
})

test('an answer without end is not read to its end', async () => {
  let isClosed = false
  const server = createHttpServer((_request, response) => {
    response.once('close', () => (isClosed = true))
    const part = Buffer.alloc(256 * 1024, ' ')
    const write = () => {
      while (!response.destroyed && response.write(part));
    }
    response.on('drain', write)
    write()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const telegram = createTelegram({ apiRoot: `http://127.0.0.1:${port}`, botToken: BOT_TOKEN, timeoutMs: 60_000 })
  expect(await telegram.send(CALL)).toEqual({ kind: 'unknown', text: 'HTTP 200' })
  await expect.poll(() => isClosed).toBe(true)
})

test('an image is sent as a file, with objects as JSON', async () => {
  const api = await startTelegram()
  onTestFinished(() => api.stop())
  const file = { bytes: new Uint8Array([1, 2, 3]), mediaType: 'image/png', name: 'a.png' }
  const fields = { chat_id: 7, caption: 'Hello', caption_entities: [{ type: 'bold', offset: 0, length: 5 }] }
  const answer = await createTelegram({ apiRoot: api.url, botToken: BOT_TOKEN }).send({ method: 'sendPhoto', fields, file })
  expect(answer).toEqual({ kind: 'sent', photoId: 'photo-of-the-tests' })
  expect(api.sent[0]).toMatchObject({
    chatId: 7,
    photoBytes: 3,
    fields: { caption: 'Hello', caption_entities: '[{"type":"bold","offset":0,"length":5}]' },
  })
})
