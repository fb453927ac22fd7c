/** A broadcast's message is what the console's preview shows. */
import { expect, test } from 'vitest'
import { type Announced, contentOf, contentProblem, toCall } from './message.ts'

const announcement: Announced = {
  id: 'a1',
  type: 'desc',
  title: '👍 Double points',
  subtitle: 'This weekend',
  description: null,
  link: null,
  linkType: null,
  inputText: null,
  reward: 1000.5,
  image: null,
}
const stop = { text: 'Stop messages', callback_data: 'arcade:stop' }
const send = { chatId: 7, photo: undefined, isPaid: false }

test('the title is bold, and lines that are not filled in are left out', () => {
  const content = contentOf(announcement, 'https://game.example.org')
  expect(content).toEqual({
    text: '👍 Double points\nThis weekend\nReward: 1,000.5',
    boldLength: 16, // UTF-16 code units: the emoji has two
    photo: null,
    buttons: [{ text: 'Claim', web_app: { url: 'https://game.example.org' } }, stop],
  })
  expect(toCall(content, send)).toEqual({
    method: 'sendMessage',
    file: undefined,
    fields: {
      chat_id: 7,
      text: content.text,
      entities: [{ type: 'bold', offset: 0, length: 16 }],
      link_preview_options: { is_disabled: true },
      reply_markup: { inline_keyboard: [[content.buttons[0]], [stop]] },
    },
  })
})

test('an announcement with a link has its button and the one for the answer', () => {
  const linked = { ...announcement, type: 'link', link: 'https://x.com/a', linkType: 'input', inputText: 'Your handle' } as const
  expect(contentOf(linked, 'https://t.me/bot/app').buttons).toEqual([
    { text: 'Open link', url: 'https://x.com/a' },
    { text: 'Your handle', url: 'https://t.me/bot/app' },
    stop,
  ])
  expect(contentOf(linked, undefined).buttons[1]).toEqual({ text: 'Your handle', callback_data: 'arcade:claim:a1' })
  expect(contentOf({ ...linked, id: 'i'.repeat(100) }, undefined).buttons).toHaveLength(2)
})

test('with an image the text is its caption; Telegram is told that a message is paid', () => {
  const content = contentOf({ ...announcement, image: 'announcements/1_a.png' }, undefined)
  const file = { bytes: new Uint8Array(1), mediaType: 'image/png', name: 'a.png' }
  expect(toCall(content, { ...send, photo: { file }, isPaid: true })).toMatchObject({
    method: 'sendPhoto',
    file,
    fields: { caption: content.text, caption_entities: [{ type: 'bold' }], allow_paid_broadcast: true },
  })
  expect(toCall(content, { ...send, photo: { id: 'known', file } })).toMatchObject({
    file: undefined,
    fields: { photo: 'known' },
  })
})

test('a text that Telegram would reject is reported', () => {
  expect(contentProblem(announcement)).toBeUndefined()
  const long = { ...announcement, description: 'x'.repeat(1100) }
  expect(contentProblem(long)).toBeUndefined()
  expect(contentProblem({ ...long, image: 'announcements/1_a.png' })).toContain('Telegram takes 1,024 below an image')
})
