/** The bot's process: the chat and its HTTP server. */
import { createHash } from 'node:crypto'
import { type Bot, webhookCallback } from 'grammy'
import { createBot } from './bot.ts'
import { readConfig } from './config.ts'
import { consoleAt } from './console.ts'
import { keepTrying } from './keep-trying.ts'
import { listen } from './listen.ts'
import { buildPage } from './pages.ts'
import { createServer } from './server.ts'

/** Seconds that are left for the answer of a getUpdates request after Telegram has held it. */
const ANSWER_SECONDS = 2

const config = readConfig()
const consoleClient = consoleAt(config.consoleUrl, `Bearer ${config.consoleToken}`)
const page = await buildPage('mini-app')
/** Telegram sends this secret with each update, so that nobody else can send updates. */
const webhookSecret = createHash('sha256').update(`webhook ${config.botToken}`).digest('hex')

let bot: Bot | undefined
let publicUrl = config.publicUrl
const address = await listen(config.port, (url) => {
  publicUrl ??= url
  const { botToken: token, telegramUrl, telegramTimeoutSeconds: timeoutSeconds } = config
  bot = createBot({ token, telegramUrl, timeoutSeconds, miniAppUrl: publicUrl, console: consoleClient })
  const server = createServer(config, consoleClient)
  // Answer on timeout and continue in the background: Telegram would send the update again.
  if (config.isWebhook) server.post('/webhook', webhookCallback(bot, 'hono', { secretToken: webhookSecret, onTimeout: 'return' }))
  return server.route('/', page)
})

// Stop polling first, which confirms to Telegram the updates that were handled.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void bot?.stop().finally(() => process.exit(0)))

console.log(`The game is ready at ${address}`)
const connect = (): Promise<unknown> =>
  config.isWebhook
    ? bot!.api.setWebhook(`${publicUrl}/webhook`, { secret_token: webhookSecret })
    : bot!.start({ timeout: config.telegramTimeoutSeconds - ANSWER_SECONDS })
if (!(await keepTrying(connect))) process.exit(1)
