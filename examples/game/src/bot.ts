/** The chat: the bot's commands and buttons. The bot stores no players: it sends every sender to the console. */
import { autoRetry } from '@grammyjs/auto-retry'
import { Bot, type Context, GrammyError, InlineKeyboard } from 'grammy'
import type { Console } from './console.ts'
import { format } from './format.ts'

/** Longest `retry_after` of a 429 that is waited for: after that the player has left. */
const RETRY_AFTER_MAX_SECONDS = 10
/** How long one call is retried, in milliseconds. Other players' updates wait meanwhile. */
const RETRY_FOR_MS = 60_000
/** Methods that grammY itself retries for as long as the process runs. */
const RETRIED_BY_GRAMMY = ['getMe', 'deleteWebhook', 'getUpdates']
const TOP = 5

export function createBot(options: {
  token: string
  telegramUrl: string
  /** After this long without an answer of Telegram a call counts as failed. */
  timeoutSeconds: number
  miniAppUrl: string
  console: Console
}): Bot {
  const { console: consoleClient, timeoutSeconds } = options
  const bot = new Bot(options.token, { client: { apiRoot: options.telegramUrl, timeoutSeconds } })
  // Logs failures that are retried, because otherwise the bot would seem to hang.
  bot.api.config.use(async (call, method, payload, signal) => {
    const logFailure = (reason: string): void => console.error(`Telegram’s ${method} failed: ${reason}`)
    try {
      const answer = await call(method, payload, signal)
      if (!answer.ok && (answer.error_code === 429 || answer.error_code >= 500)) logFailure(answer.description)
      return answer
    } catch (error) {
      if (!signal?.aborted) logFailure('no answer')
      throw error
    }
  })
  const retry = autoRetry({ maxRetryAttempts: 3, maxDelaySeconds: RETRY_AFTER_MAX_SECONDS })
  bot.api.config.use((call, method, payload, signal) => {
    if (RETRIED_BY_GRAMMY.includes(method)) return call(method, payload, signal)
    return retry(call, method, payload, AbortSignal.timeout(RETRY_FOR_MS) as typeof signal) // grammY's type differs from Node's
  })

  const keyboard = new InlineKeyboard()
    .webApp('Play', options.miniAppUrl)
    .row()
    .text('My balance', 'balance')
    .text('Top players', 'top')

  // An error affects only its update: the bot continues with the next one, and Telegram does not send it again.
  const chat = bot.errorBoundary(({ error, ctx: { update } }) => {
    if (error instanceof GrammyError && error.error_code === 403) return // the player has blocked the bot
    console.error(`Update ${update.update_id} failed: ${error instanceof Error ? error.message : String(error)}`)
  })

  // Sends the player's current name to the console, which adds or updates the player.
  chat.use(async ({ from }, next) => {
    if (!from) return // sent by a channel
    const { id: userId, first_name: firstName, last_name: lastName = null, username = null } = from
    await consoleClient.upsert({ userId, firstName, lastName, username })
    await next()
  })

  chat.command('start', async (context) => {
    const text = `Hello ${isolated(context.from?.first_name ?? '')}! Stop the light on its mark, do tasks, and climb.`
    await context.reply(text, { reply_markup: keyboard })
  })

  chat.command('balance', async (context) => void (await context.reply(await balanceText(context))))
  chat.command('top', async (context) => void (await context.reply(await topText())))

  // Buttons edit their message, so that the chat does not fill up.
  chat.callbackQuery('balance', (context) => showInstead(context, () => balanceText(context)))
  chat.callbackQuery('top', (context) => showInstead(context, topText))

  chat.on('message', (context) => context.reply('I know /start, /balance and /top.'))

  return bot

  async function balanceText({ from }: Context): Promise<string> {
    const { player, rank, isRankExact } = await consoleClient.player({ userId: from?.id ?? 0 })
    const points = `You have ${format(player.balance)} points`
    // A blocked player has no rank.
    return rank === null ? `${points}.` : `${points}, which is ${isRankExact ? 'rank' : 'about rank'} ${format(rank)}.`
  }

  async function topText(): Promise<string> {
    const { players } = await consoleClient.leaderboard({ limit: TOP })
    return players
      .map(({ rank, firstName, balance }) => `${rank}. ${isolated(firstName ?? 'Somebody')}: ${format(balance)}`)
      .join('\n')
  }

  async function showInstead(context: Context, read: () => Promise<string>): Promise<void> {
    // First, to stop the button's progress indicator. The answer is shown even if this fails.
    await context.answerCallbackQuery().catch(() => undefined)
    await context.editMessageText(await read(), { reply_markup: keyboard }).catch(unlessSame)
  }
}

/** Isolates a name from the text around it, in case it is written from right to left (Unicode, UAX #9: FSI and PDI). */
function isolated(name: string): string {
  return `\u2068${name}\u2069`
}

/** Ignores Telegram's error for an edit that does not change the message. */
function unlessSame(error: unknown): void {
  if (!(error instanceof GrammyError && error.description.includes('message is not modified'))) throw error
}
