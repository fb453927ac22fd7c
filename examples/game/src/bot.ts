/** The chat: what the bot says and understands. It knows no player by itself: whoever writes is told to the console, which keeps them. */
import { autoRetry } from '@grammyjs/auto-retry'
import { Bot, type Context, GrammyError, InlineKeyboard } from 'grammy'
import type { Console } from './console.ts'
import { format } from './format.ts'

/** Telegram holds a request for updates this long; one that hangs longer is given up, and made again. */
export const POLL_SECONDS = 10
const GIVE_UP_SECONDS = 12
/** A longer `retry_after` of a 429 is not waited for: the player has gone by then. */
const RETRY_AFTER_MAX_SECONDS = 10
/** So long one call is tried again; the players behind it wait meanwhile. */
const TRY_FOR_MS = 60_000
/** These grammY tries again by itself, for as long as the process lives. */
const ENDLESS = ['getMe', 'deleteWebhook', 'getUpdates']
const TOP = 5

export function createBot(options: { token: string; telegramUrl: string; miniAppUrl: string; console: Console }): Bot {
  const { console: desk } = options
  const bot = new Bot(options.token, { client: { apiRoot: options.telegramUrl, timeoutSeconds: GIVE_UP_SECONDS } })
  // What passes and is tried again is told: else a bot that Telegram does not answer would only seem to hang.
  bot.api.config.use(async (call, method, payload, signal) => {
    const tell = (reason: string): void => console.error(`Telegram’s ${method} failed: ${reason}`)
    try {
      const answer = await call(method, payload, signal)
      if (!answer.ok && (answer.error_code === 429 || answer.error_code >= 500)) tell(answer.description)
      return answer
    } catch (error) {
      if (!signal?.aborted) tell('no answer')
      throw error
    }
  })
  const retry = autoRetry({ maxRetryAttempts: 3, maxDelaySeconds: RETRY_AFTER_MAX_SECONDS })
  bot.api.config.use((call, method, payload, signal) => {
    if (ENDLESS.includes(method)) return call(method, payload, signal)
    return retry(call, method, payload, AbortSignal.timeout(TRY_FOR_MS) as typeof signal) // whose type is older than Node's own
  })

  const keyboard = new InlineKeyboard()
    .webApp('Play', options.miniAppUrl)
    .row()
    .text('My balance', 'balance')
    .text('Top players', 'top')

  // Whatever goes wrong belongs to one update: the bot goes on with the next, and Telegram does not send it again.
  const chat = bot.errorBoundary(({ error, ctx: { update } }) => {
    if (error instanceof GrammyError && error.error_code === 403) return // the player has blocked the bot
    console.error(`Update ${update.update_id} failed: ${error instanceof Error ? error.message : String(error)}`)
  })

  // Whatever Telegram knows of the player today: the console adds whom it does not know, and changes what differs.
  chat.use(async ({ from }, next) => {
    if (!from) return // a channel is no player
    const { id: userId, first_name: firstName, last_name: lastName = null, username = null } = from
    await desk.upsert({ userId, firstName, lastName, username })
    await next()
  })

  chat.command('start', async (context) => {
    const text = `Hello ${isolated(context.from?.first_name ?? '')}! Stop the light on its mark, do tasks, and climb.`
    await context.reply(text, { reply_markup: keyboard })
  })

  chat.command('balance', async (context) => void (await context.reply(await balanceText(context))))
  chat.command('top', async (context) => void (await context.reply(await topText())))

  // Buttons change the message they belong to, so that the chat does not fill up.
  chat.callbackQuery('balance', (context) => showInstead(context, () => balanceText(context)))
  chat.callbackQuery('top', (context) => showInstead(context, topText))

  chat.on('message', (context) => context.reply('I know /start, /balance and /top.'))

  return bot

  async function balanceText({ from }: Context): Promise<string> {
    const { player, rank, isRankExact } = await desk.player({ userId: from?.id ?? 0 })
    return `You have ${format(player.balance)} points, which is ${isRankExact ? 'rank' : 'about rank'} ${format(rank)}.`
  }

  async function topText(): Promise<string> {
    const { players } = await desk.leaderboard({ limit: TOP })
    return players
      .map(({ rank, firstName, balance }) => `${rank}. ${isolated(firstName ?? 'Somebody')}: ${format(balance)}`)
      .join('\n')
  }

  async function showInstead(context: Context, read: () => Promise<string>): Promise<void> {
    // At once, so that the button stops turning; one that goes on turning is no reason to tell the player nothing.
    await context.answerCallbackQuery().catch(() => undefined)
    await context.editMessageText(await read(), { reply_markup: keyboard }).catch(unlessSame)
  }
}

/** A name that is written from right to left leaves what stands around it in its place (Unicode, UAX #9: FSI and PDI). */
function isolated(name: string): string {
  return `\u2068${name}\u2069`
}

/** Telegram refuses a text that is there already. */
function unlessSame(error: unknown): void {
  if (!(error instanceof GrammyError && error.description.includes('message is not modified'))) throw error
}
