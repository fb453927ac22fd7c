/**
 * A local stand-in for Telegram's Bot API, for the bot on one side and the chats of players on the other. It has only the methods that the
 * game needs, and simulates Telegram's failures on demand.
 */
import { signInitData, type TelegramUser } from '#src/init-data.ts'

export interface Button {
  text: string
  callback_data?: string
  web_app?: { url: string }
  url?: string
}

export interface Message {
  message_id: number
  date: number
  isFromBot: boolean
  /** For a photo its caption. */
  text: string
  /** The id of a photo's file. */
  photo?: string
  buttons: Button[][]
}

interface Update {
  update_id: number
  [kind: string]: unknown
}

/**
 * 429 has a `retry_after`; 403 means that the player blocked the bot, `deactivated` and `notFound` that there is no such account or chat;
 * `hang` does nothing and never answers; `drop` does what it was asked for and closes the connection without an answer.
 */
export const faultKinds = ['429', '403', 'deactivated', 'notFound', '500', 'hang', 'drop'] as const
export type FaultKind = (typeof faultKinds)[number]

/** Calls that fail. Without `times` and `seconds` they fail until the next faults are set. */
export interface Fault {
  kind: FaultKind
  /** How many of the next calls fail. */
  times?: number
  /** For how long calls fail, from now. `retry_after` of a 429 is then the time that is left. */
  seconds?: number
  /** Applies to this method only; by default to all methods except getUpdates. */
  method?: string
  /** Applies only to chats whose id is a multiple of this number: 10 is a tenth of the chats. */
  chatOf?: number
  /** Applies only to each call whose number is a multiple of this one. */
  callOf?: number
}

/** A fault that was set, with what is left of it. */
interface Misbehaviour extends Fault {
  /** When it ends, in milliseconds of `performance.now()`. */
  until: number
  calls: number
}

/** `isLost`: the connection is closed instead of an answer. */
interface Answer {
  status: number
  body: object
  isLost?: true
}

interface StoredFile {
  bytes: Uint8Array<ArrayBuffer>
  type: string
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
  let faults: Misbehaviour[] = []
  const files = new Map<string, StoredFile>()
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
  const write = (userId: number, message: Pick<Message, 'isFromBot' | 'text' | 'photo' | 'buttons'>): Message => {
    const written = { message_id: ++count, date: Math.floor(Date.now() / 1000), ...message }
    chatOf(userId).push(written)
    wakeAll()
    return written
  }
  const telegramMessage = (userId: number, { message_id, date, text, photo }: Message): object => ({
    message_id,
    date,
    chat: { id: userId, type: 'private' },
    ...(photo === undefined ? { text } : { caption: text, photo: [{ file_id: photo, width: 1, height: 1 }] }),
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

  async function keep(file: File): Promise<string> {
    const id = `photo-${++count}`
    files.set(id, { bytes: new Uint8Array(await file.arrayBuffer()), type: file.type })
    return id
  }

  /** Returns the fault of a call, if it has one, and counts it. */
  function faultOf(method: string, { chat_id: chatId }: Params): Misbehaviour | undefined {
    const now = performance.now()
    for (const fault of faults) {
      if (fault.times === 0 || fault.until < now) continue
      if (fault.method ? fault.method !== method : method === 'getUpdates') continue
      if (fault.chatOf !== undefined && Number(chatId) % fault.chatOf !== 0) continue
      fault.calls += 1
      if (fault.callOf !== undefined && fault.calls % fault.callOf !== 0) continue
      if (fault.times !== undefined) fault.times -= 1
      return fault
    }
    return undefined
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
    /** @param params.photo the bytes of a file, or the id of one that was sent before */
    async sendPhoto({ chat_id: chatId, photo, caption = '', reply_markup: markup }) {
      const userId = Number(chatId)
      const id = photo instanceof File ? await keep(photo) : String(photo)
      if (!files.has(id)) return refusal(400, 'Bad Request: wrong file identifier/HTTP URL specified')
      const message = { isFromBot: true, text: caption as string, photo: id, buttons: buttonsOf(markup) }
      return telegramMessage(userId, write(userId, message))
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
      const fault = faultOf(method, params)
      if (fault?.kind === 'hang') await new Promise((resolve) => signal.addEventListener('abort', resolve))
      if (fault?.kind === '429') return tooManyRequests(fault)
      if (fault && fault.kind !== 'drop') return faultAnswers[fault.kind]
      const result = await methods[method]?.(params, signal)
      if (result === undefined) return refusal(404, 'Not Found')
      const answer = isAnswer(result) ? result : { status: 200, body: { ok: true, result } }
      return fault ? { ...answer, isLost: true } : answer
    },

    /** Makes the next calls fail: each call has the first fault that applies to it. */
    misbehave(next: Fault[]): void {
      const now = performance.now()
      faults = next.map((fault) => ({ ...fault, calls: 0, until: now + (fault.seconds ?? Number.POSITIVE_INFINITY) * 1000 }))
    },

    /** Returns how many messages the bot has sent, to how many chats, and the chats that got a text more than once. */
    sent(): { messages: number; chats: number; repeated: number[] } {
      let messages = 0
      let reached = 0
      const repeated: number[] = []
      for (const [userId, chat] of chats) {
        const texts = chat.filter(({ isFromBot }) => isFromBot).map(({ text }) => text)
        messages += texts.length
        if (texts.length > 0) reached += 1
        if (new Set(texts).size < texts.length) repeated.push(userId)
      }
      return { messages, chats: reached, repeated }
    },
    file: (id: string): StoredFile | undefined => files.get(id),
    /** Empties all chats, for the next test. */
    forgetChats: (): void => chats.clear(),

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

function tooManyRequests({ seconds, until }: Misbehaviour): Answer {
  const left = seconds === undefined ? RETRY_AFTER_SECONDS : Math.max(1, Math.ceil((until - performance.now()) / 1000))
  return refusal(429, `Too Many Requests: retry after ${left}`, { retry_after: left })
}

const faultAnswers: Record<Exclude<FaultKind, '429' | 'drop'>, Answer> = {
  '403': refusal(403, 'Forbidden: bot was blocked by the user'),
  deactivated: refusal(403, 'Forbidden: user is deactivated'),
  notFound: refusal(400, 'Bad Request: chat not found'),
  '500': refusal(500, 'Internal Server Error'),
  hang: refusal(504, 'Gateway Timeout'),
}

function isAnswer(result: unknown): result is Answer {
  return typeof result === 'object' && result !== null && 'status' in result && 'body' in result
}

/** A form with a file carries the buttons as JSON text. */
function buttonsOf(markup: unknown): Button[][] {
  const parsed = typeof markup === 'string' ? (JSON.parse(markup) as unknown) : markup
  const { inline_keyboard: rows = [] } = (parsed ?? {}) as { inline_keyboard?: Button[][] }
  return rows
}
