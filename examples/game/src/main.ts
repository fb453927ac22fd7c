/** The bot's process: the chat, and the little server beside it. */
import { createHash } from 'node:crypto'
import { type Bot, webhookCallback } from 'grammy'
import { createBot, POLL_SECONDS } from './bot.ts'
import { readConfig } from './config.ts'
import { consoleAt } from './console.ts'
import { keepTrying } from './keep-trying.ts'
import { listen } from './listen.ts'
import { buildPage } from './pages.ts'
import { createServer } from './server.ts'

const config = readConfig()
const desk = consoleAt(config.consoleUrl, `Bearer ${config.consoleToken}`)
const page = await buildPage('mini-app')
/** Telegram sends it with each update, so that nobody else can. */
const webhookSecret = createHash('sha256').update(`webhook ${config.botToken}`).digest('hex')

let bot: Bot | undefined
let publicUrl = config.publicUrl
const address = await listen(config.port, (own) => {
  publicUrl ??= own
  bot = createBot({ token: config.botToken, telegramUrl: config.telegramUrl, miniAppUrl: publicUrl, console: desk })
  const server = createServer(config, desk)
  // What takes long goes on after the answer, for Telegram would send the update again.
  if (config.isWebhook) server.post('/webhook', webhookCallback(bot, 'hono', { secretToken: webhookSecret, onTimeout: 'return' }))
  return server.route('/', page)
})

// Whoever stops the process stops the fetching first, which tells Telegram what was done already.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void bot?.stop().finally(() => process.exit(0)))

console.log(`The game is ready at ${address}`)
const connect = (): Promise<unknown> =>
  config.isWebhook
    ? bot!.api.setWebhook(`${publicUrl}/webhook`, { secret_token: webhookSecret })
    : bot!.start({ timeout: POLL_SECONDS })
if (!(await keepTrying(connect))) process.exit(1)
