/** What the bot answers in a chat of the stand-in. The console is as short as the answers need it. */
import type { Update } from 'grammy/types'
import { expect, test } from 'vitest'
import { createBotApi } from '#src/stand-in/bot-api.ts'
import { createBot } from './bot.ts'
import type { Console } from './console.ts'

/** Ends the isolation of a name that keeps its controls, and turns around the text after it. */
const TURNS = '\u2069\u202e'
const { signal } = new AbortController()

/** Returns what the bot answers to a message of this player. */
async function answerTo(firstName: string, text: string, consoleClient: Partial<Console> = {}): Promise<string | undefined> {
  const api = createBotApi({ token: '1:stand-in' })
  const bot = createBot({
    token: '1:stand-in',
    telegramUrl: 'http://stand-in.invalid',
    timeoutSeconds: 1,
    miniAppUrl: 'https://game.example',
    console: { upsert: async () => ({}), ...consoleClient } as unknown as Console,
  })
  bot.api.config.use(async (_call, method, params) => (await api.call(method, params, signal)).body as never)
  await bot.init()
  api.say({ id: 5, first_name: firstName }, text)
  const { body } = await api.call('getUpdates', {}, signal)
  for (const update of (body as { result: Update[] }).result) await bot.handleUpdate(update)
  const messages = await api.chat(5, { known: '', ms: 0, signal })
  return messages.findLast(({ isFromBot }) => isFromBot)?.text
}

test('security: a name with directional controls does not turn around the sentence after it', async () => {
  expect(await answerTo(`Ada${TURNS}`, '/start')).toBe('Hello Ada! Stop the light on its mark, do tasks, and climb.')
  const players = [`Ada${TURNS}`, 'שלום'].map((firstName, index) => ({ rank: index + 1, firstName, balance: 5 }))
  const leaderboard = (async () => ({ players })) as unknown as Console['leaderboard']
  expect(await answerTo('Ada', '/top', { leaderboard })).toBe('1. Ada: 5\n2. \u2068שלום\u2069: 5')
  const linkOperator = async () => ({ name: `Bo${TURNS}` })
  expect(await answerTo('Ada', '/link 123', { linkOperator } as unknown as Partial<Console>)).toBe(
    'Linked with Bo at the console. Tests of broadcasts arrive here.',
  )
})
