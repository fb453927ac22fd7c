/** The chat: the bot's commands and buttons. The bot stores no players: it sends every sender to the console. */
import { STOP_MESSAGES } from '@arcade/contract/broadcasts/fields'
import { isolated } from '@arcade/contract/text'
import { autoRetry } from '@grammyjs/auto-retry'
import { Bot, type Context, GrammyError, InlineKeyboard } from 'grammy'
import { type Console, ConsoleError } from './console.ts'
import { format } from './format.ts'

/** Longest `retry_after` of a 429 that is waited for: after that the player has left. */
const MAX_RETRY_AFTER_SECONDS = 10
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
  retryCalls(bot)
  const texts = createTexts(consoleClient)

  const wantAgain = new InlineKeyboard().text('Send them again', 'messages')
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

  chat.command('balance', async (context) => void (await context.reply(await texts.balance(context))))
  chat.command('top', async (context) => void (await context.reply(await texts.top())))

  // Buttons edit their message, so that the chat does not fill up.
  chat.callbackQuery('balance', (context) => showInstead(context, () => texts.balance(context)))
  chat.callbackQuery('top', (context) => showInstead(context, () => texts.top()))

  // An operator links this Telegram account with the console by the code that Your Account shows there.
  chat.command('link', async (context) => void (await context.reply(await texts.link(context, context.match.trim()))))

  // Buttons of a broadcast, which the console sends through this bot: the reward, if no Mini App is configured there, and no more messages.
  chat.callbackQuery(/^arcade:claim:(.+)$/, async (context) => {
    const text = await texts.claim(context.from.id, context.match[1] ?? '')
    await context.answerCallbackQuery({ text, show_alert: true }).catch(() => undefined)
  })
  chat.callbackQuery(STOP_MESSAGES, async (context) => {
    await consoleClient.setMessages({ userId: context.from.id, optedOut: true })
    await context.answerCallbackQuery('You get no more of these messages.').catch(() => undefined)
    await context.reply('You get no more messages about news. The game itself stays as it is.', { reply_markup: wantAgain })
  })
  chat.callbackQuery('messages', async (context) => {
    await consoleClient.setMessages({ userId: context.from.id, optedOut: false })
    await context.answerCallbackQuery().catch(() => undefined)
    await context.editMessageText('You get messages about news again.').catch(unlessSame)
  })

  chat.on('message', (context) => context.reply('I know /start, /balance and /top.'))

  return bot

  async function showInstead(context: Context, read: () => Promise<string>): Promise<void> {
    // First, to stop the button's progress indicator. The answer is shown even if this fails.
    await context.answerCallbackQuery().catch(() => undefined)
    await context.editMessageText(await read(), { reply_markup: keyboard }).catch(unlessSame)
  }
}

/** Calls of Telegram that fail are logged and tried again. */
function retryCalls(bot: Bot): void {
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
  const retry = autoRetry({ maxRetryAttempts: 3, maxDelaySeconds: MAX_RETRY_AFTER_SECONDS })
  bot.api.config.use((call, method, payload, signal) => {
    if (RETRIED_BY_GRAMMY.includes(method)) return call(method, payload, signal)
    return retry(call, method, payload, AbortSignal.timeout(RETRY_FOR_MS) as typeof signal) // grammY's type differs from Node's
  })
}

/** The texts of answers, from what the console says. */
function createTexts(consoleClient: Console) {
  return {
    async balance({ from }: Context): Promise<string> {
      const { player, rank, isRankExact } = await consoleClient.player({ userId: from?.id ?? 0 })
      const points = `You have ${format(player.balance)} points`
      // A blocked player has no rank.
      return rank === null ? `${points}.` : `${points}, which is ${isRankExact ? 'rank' : 'about rank'} ${format(rank)}.`
    },

    async link({ from }: Context, code: string): Promise<string> {
      if (code === '') return 'Send /link with the code that the console shows under Your Account.'
      try {
        const { name } = await consoleClient.linkOperator({ code, userId: from?.id ?? 0 })
        return `Linked with ${isolated(name)} at the console. Tests of broadcasts arrive here.`
      } catch (error) {
        return refusalText(error)
      }
    },

    async claim(userId: number, id: string): Promise<string> {
      try {
        const { isFirst, reward } = await consoleClient.claim({ userId, kind: 'announcement', id })
        return isFirst ? `You get ${format(reward)} points.` : 'You have these points already.'
      } catch (error) {
        return refusalText(error)
      }
    },

    async top(): Promise<string> {
      const { players } = await consoleClient.leaderboard({ limit: TOP })
      return players
        .map(({ rank, firstName, balance }) => `${rank}. ${isolated(firstName ?? 'Somebody')}: ${format(balance)}`)
        .join('\n')
    },
  }
}

/** Returns what the console says to a refused call. Any other failure is not the player's. */
function refusalText(error: unknown): string {
  if (error instanceof ConsoleError && error.status >= 400 && error.status < 500) return error.message
  throw error
}

/** Ignores Telegram's error for an edit that does not change the message. */
function unlessSame(error: unknown): void {
  if (!(error instanceof GrammyError && error.description.includes('message is not modified'))) throw error
}
