/**
 * A local stand-in for Telegram's Bot API, for the bot on one side and the chats of players on the other. It has only the methods that the
 * game needs, and simulates Telegram's failures on demand.
 */
import { signInitData, type TelegramUser } from '#src/init-data.ts'

export interface Button {
  text: string
  callback_data?: string
  web_app?: { url: string }
}

export interface Message {
  message_id: number
  date: number
  isFromBot: boolean
  text: string
  buttons: Button[][]
}

interface Update {
  update_id: number
  [kind: string]: unknown
}

/** 429 has a `retry_after`, 403 means that the player blocked the bot, `hang` never answers. */
export const faultKinds = ['429', '403', '500', 'hang'] as const
export type FaultKind = (typeof faultKinds)[number]

interface Fault {
  kind: FaultKind
  /** How many of the next calls fail. */
  times: number
  /** Applies to this method only; by default to all methods except getUpdates. */
  method?: string
}

interface Answer {
  status: number
  body: object
}

type Params = Record<string, unknown>

const RETRY_AFTER_SECONDS = 1
const WEBHOOK_RETRY_MS = 1000

export function createBotApi({ token, username = 'stand_in_bot' }: { token: string; username?: string }) {
  const bot = { id: Number(token.split(':')[0]), is_bot: true, first_name: 'Arcade', username }
  const chats = new Map<number, Message[]>()
  let updates: Update[] = []
  let count = 0
  let webhook: { url: string; secret: string } | undefined
  let faults: Fault[] = []
  /** Wakes long polls: a bot waiting for updates, a page waiting for messages. */
  const waiting = new Set<() => void>()

  const wakeAll = (): void => {
    for (const wake of waiting) wake()
    waiting.clear()
  }
  const waitForChange = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      const wake = (): void => {
        clearTimeout(timer)
        resolve()
      }
      waiting.add(wake)
      signal?.addEventListener('abort', wake)
    })

  const chatOf = (userId: number): Message[] => chats.get(userId) ?? chats.set(userId, []).get(userId)!
  const write = (userId: number, message: Pick<Message, 'isFromBot' | 'text' | 'buttons'>): Message => {
    const written = { message_id: ++count, date: Math.floor(Date.now() / 1000), ...message }
    chatOf(userId).push(written)
    wakeAll()
    return written
  }
  const telegramMessage = (userId: number, { message_id, date, text }: Message): object => ({
    message_id,
    date,
    text,
    chat: { id: userId, type: 'private' },
  })

  const add = (kind: string, content: object): void => {
    updates.push({ update_id: ++count, [kind]: content })
    wakeAll()
    void deliver()
  }
  let isDelivering = false
  /** Sends updates to the webhook, in order, each until it is accepted. */
  async function deliver(): Promise<void> {
    if (isDelivering) return
    isDelivering = true
    while (webhook && updates[0]) {
      const headers = { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': webhook.secret }
      const answer = await fetch(webhook.url, { method: 'POST', headers, body: JSON.stringify(updates[0]) }).catch(
        () => undefined,
      )
      if (answer?.ok) updates.shift()
      else await new Promise((resolve) => setTimeout(resolve, WEBHOOK_RETRY_MS))
    }
    isDelivering = false
  }

  const methods: Record<string, (params: Params, signal: AbortSignal) => unknown> = {
    getMe: () => bot,
    async getUpdates({ offset = 0, timeout = 0 }, signal) {
      updates = updates.filter(({ update_id }) => update_id >= Number(offset)) // the bot has handled the others
      const until = Date.now() + Number(timeout) * 1000
      while (updates.length === 0 && Date.now() < until && !signal.aborted) await waitForChange(until - Date.now(), signal)
      return updates
    },
    setWebhook({ url, secret_token: secret = '' }) {
      webhook = url ? { url: url as string, secret: secret as string } : undefined
      void deliver()
      return true
    },
    deleteWebhook() {
      webhook = undefined
      return true
    },
    sendMessage({ chat_id: chatId, text, reply_markup: markup }) {
      const userId = Number(chatId)
      return telegramMessage(userId, write(userId, { isFromBot: true, text: text as string, buttons: buttonsOf(markup) }))
    },
    editMessageText({ chat_id: chatId, message_id: messageId, text, reply_markup: markup }) {
      const message = chatOf(Number(chatId)).find(({ message_id }) => message_id === messageId)
      if (!message) return refusal(400, 'Bad Request: message to edit not found')
      const buttons = buttonsOf(markup)
      if (message.text === text && JSON.stringify(message.buttons) === JSON.stringify(buttons))
        return refusal(400, 'Bad Request: message is not modified')
      Object.assign(message, { text, buttons })
      wakeAll()
      return telegramMessage(Number(chatId), message)
    },
    answerCallbackQuery: () => true,
  }

  return {
    /** Handles a call of the bot. */
    async call(method: string, params: Params, signal: AbortSignal): Promise<Answer> {
      const fault = faults.find((one) => one.times > 0 && (one.method ? one.method === method : method !== 'getUpdates'))
      if (fault) {
        fault.times--
        if (fault.kind === 'hang') await new Promise((resolve) => signal.addEventListener('abort', resolve))
        return faultAnswers[fault.kind]
      }
      const result = await methods[method]?.(params, signal)
      if (result === undefined) return refusal(404, 'Not Found')
      return isAnswer(result) ? result : { status: 200, body: { ok: true, result } }
    },

    /** Makes the next calls fail, one fault after another. */
    misbehave(next: Fault[]): void {
      faults = next
    },

    // Actions of players.
    async chat(userId: number, { known, ms, signal }: { known: string; ms: number; signal: AbortSignal }): Promise<Message[]> {
      const until = Date.now() + ms
      while (JSON.stringify(chatOf(userId)) === known && Date.now() < until && !signal.aborted)
        await waitForChange(until - Date.now(), signal)
      return chatOf(userId)
    },
    say(from: TelegramUser, text: string): void {
      const message = write(from.id, { isFromBot: false, text, buttons: [] })
      const command = /^\/\w+/.exec(text)?.[0]
      const entities = command ? [{ type: 'bot_command', offset: 0, length: command.length }] : []
      add('message', { ...telegramMessage(from.id, message), from, entities })
    },
    press(from: TelegramUser, { messageId, data }: { messageId: number; data: string }): void {
      const message = chatOf(from.id).find(({ message_id }) => message_id === messageId)
      if (message)
        add('callback_query', { id: String(++count), from, data, chat_instance: '1', message: telegramMessage(from.id, message) })
    },
    /** Returns the URL with which Telegram opens a Mini App: its fragment has the player and the theme. */
    launch(user: TelegramUser, { url, theme }: { url: string; theme: object }): string {
      const fragment = new URLSearchParams({
        tgWebAppData: signInitData(user, token),
        tgWebAppVersion: '8.0',
        tgWebAppPlatform: 'stand-in',
        tgWebAppThemeParams: JSON.stringify(theme),
      })
      return `${url}#${fragment.toString()}`
    },
  }
}

function refusal(status: number, description: string, parameters?: object): Answer {
  return { status, body: { ok: false, error_code: status, description, ...(parameters && { parameters }) } }
}

const faultAnswers: Record<FaultKind, Answer> = {
  '429': refusal(429, `Too Many Requests: retry after ${RETRY_AFTER_SECONDS}`, { retry_after: RETRY_AFTER_SECONDS }),
  '403': refusal(403, 'Forbidden: bot was blocked by the user'),
  '500': refusal(500, 'Internal Server Error'),
  hang: refusal(504, 'Gateway Timeout'),
}

function isAnswer(result: unknown): result is Answer {
  return typeof result === 'object' && result !== null && 'status' in result && 'body' in result
}

function buttonsOf(markup: unknown): Button[][] {
  const { inline_keyboard: rows = [] } = (markup ?? {}) as { inline_keyboard?: Button[][] }
  return rows
}
