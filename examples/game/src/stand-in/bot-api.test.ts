/** How the stand-in fails like Telegram, for tests of the bot and of the console's broadcasts. */
import { expect, test } from 'vitest'
import { createBotApi } from './bot-api.ts'
import type { Fault } from './faults.ts'

function standIn(faults: Fault[] = []) {
  const api = createBotApi({ token: '1:stand-in' })
  api.misbehave(faults)
  const call = (method: string, params: Record<string, unknown>, signal = new AbortController().signal) =>
    api.call(method, params, signal)
  const send = (chatId: number, text = 'News') => call('sendMessage', { chat_id: chatId, text })
  const chat = (id: number) => api.chat(id, { known: '', ms: 0, signal: new AbortController().signal })
  return { api, call, send, chat }
}

test('a fault can be for a tenth of the chats, and stays until others are set', async () => {
  const { api, send } = standIn([{ kind: '403', chatOf: 10 }])
  const statuses = await Promise.all(Array.from({ length: 20 }, async (_, id) => (await send(id + 1)).status))
  expect(statuses.flatMap((status, index) => (status === 403 ? index + 1 : []))).toEqual([10, 20])
  api.misbehave([])
  expect((await send(10)).status).toBe(200)
})

test('a dropped answer is lost after the message has arrived; hanging delivers nothing', async () => {
  const { api, call, send, chat } = standIn([
    { kind: 'drop', callOf: 2, times: 1 },
    { kind: 'hang', chatOf: 7 },
  ])
  expect([await send(1), await send(2), await send(3)].map(({ isLost = false }) => isLost)).toEqual([false, true, false])
  expect(await chat(2)).toMatchObject([{ text: 'News', isFromBot: true }])
  const leaving = new AbortController()
  const hanging = call('sendMessage', { chat_id: 7, text: 'News' }, leaving.signal)
  leaving.abort()
  await hanging
  expect(await chat(7)).toEqual([])
  expect(api.sent()).toEqual({ messages: 3, chats: 3, repeated: [] })
  await send(3)
  expect(api.sent()).toEqual({ messages: 4, chats: 3, repeated: [3] })
})

test('429 for some time says how long it still lasts', async () => {
  const { send } = standIn([{ kind: '429', seconds: 90 }])
  expect(await send(1)).toMatchObject({ status: 429, body: { ok: false, parameters: { retry_after: 90 } } })
  const { send: sendOnce } = standIn([{ kind: '429', times: 1 }])
  expect(await sendOnce(1)).toMatchObject({ status: 429, body: { parameters: { retry_after: 1 } } })
  expect((await sendOnce(1)).status).toBe(200)
})

test('a photo is uploaded once and then sent by its id; buttons may be JSON text', async () => {
  const { api, call, chat } = standIn()
  const photo = new File([new Uint8Array([1, 2])], 'a.png', { type: 'image/png' })
  const markup = JSON.stringify({ inline_keyboard: [[{ text: 'Stop', callback_data: 'arcade:stop' }]] })
  const { body } = await call('sendPhoto', { chat_id: '5', photo, caption: 'News', reply_markup: markup })
  const id = (body as { result: { photo: { file_id: string }[] } }).result.photo[0]!.file_id
  expect(api.file(id)).toEqual({ bytes: new Uint8Array([1, 2]), type: 'image/png' })
  expect((await call('sendPhoto', { chat_id: 6, photo: id, caption: 'News' })).status).toBe(200)
  expect((await call('sendPhoto', { chat_id: 6, photo: 'other' })).status).toBe(400)
  const button = { text: 'Stop', callback_data: 'arcade:stop' }
  expect(await chat(5)).toMatchObject([{ text: 'News', photo: id, buttons: [[button]] }])
})
