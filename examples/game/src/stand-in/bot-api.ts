/**
 * A local stand-in for Telegram's Bot API, for the bot on one side and the chats of players on the other. It has only the methods that the
 * game needs, and simulates Telegram's failures on demand.
 */
import { signInitData, type TelegramUser } from '#src/init-data.ts'
import { type Button, type Chats, createChats, type Message } from './chats.ts'
import { type Answer, createFaults, type Fault, faultAnswers, type Params, refusal, tooManyRequests } from './faults.ts'

interface StoredFile {
  bytes: Uint8Array<ArrayBuffer>
  type: string
}

const WEBHOOK_RETRY_MS = 1000

export function createBotApi({ token, username = 'stand_in_bot' }: { token: string; username?: string }) {
  const bot = { id: Number(token.split(':')[0]), is_bot: true, first_name: 'Arcade', username }
  const chats = createChats()
  const updates = createUpdates(chats)
  const faults = createFaults()
  const files = new Map<string, StoredFile>()
  const methods: Record<string, (params: Params, signal: AbortSignal) => unknown> = {
    getMe: () => bot,
    ...updates.methods,
    ...messageMethods(chats, files),
  }

  return {
    /** Handles a call of the bot. */
    async call(method: string, params: Params, signal: AbortSignal): Promise<Answer> {
      const fault = faults.of(method, params)
      if (fault?.kind === 'hang') await new Promise((resolve) => signal.addEventListener('abort', resolve))
      if (fault?.kind === '429') return tooManyRequests(fault)
      if (fault && fault.kind !== 'drop') return faultAnswers[fault.kind]
      const result = await methods[method]?.(params, signal)
      if (result === undefined) return refusal(404, 'Not Found')
      const answer = isAnswer(result) ? result : { status: 200, body: { ok: true, result } }
      return fault ? { ...answer, isLost: true } : answer
    },

    misbehave: (next: Fault[]): void => faults.set(next),
    sent: () => chats.sent(),
    file: (id: string): StoredFile | undefined => files.get(id),
    /** Empties all chats, for the next test. */
    forgetChats: (): void => chats.forget(),

    // Actions of players.
    async chat(userId: number, { known, ms, signal }: { known: string; ms: number; signal: AbortSignal }): Promise<Message[]> {
      const until = Date.now() + ms
      while (JSON.stringify(chats.of(userId)) === known && Date.now() < until && !signal.aborted)
        await chats.waitForChange(until - Date.now(), signal)
      return chats.of(userId)
    },
    say(from: TelegramUser, text: string): void {
      const message = chats.write(from.id, { isFromBot: false, text, buttons: [] })
      const command = /^\/\w+/.exec(text)?.[0]
      const entities = command ? [{ type: 'bot_command', offset: 0, length: command.length }] : []
      updates.add('message', { ...telegramMessage(from.id, message), from, entities })
    },
    press(from: TelegramUser, { messageId, data }: { messageId: number; data: string }): void {
      const found = chats.find(from.id, messageId)
      if (!found) return
      const message = telegramMessage(from.id, found)
      updates.add('callback_query', { id: String(chats.nextId()), from, data, chat_instance: '1', message })
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

interface Update {
  update_id: number
  [kind: string]: unknown
}

/** The updates that the bot has not handled yet. It asks for them, or gets them at its webhook. */
function createUpdates({ nextId, wakeAll, waitForChange }: Chats) {
  let updates: Update[] = []
  let webhook: { url: string; secret: string } | undefined
  let isDelivering = false

  return {
    add(kind: string, content: object): void {
      updates.push({ update_id: nextId(), [kind]: content })
      wakeAll()
      void deliver()
    },
    methods: {
      async getUpdates({ offset = 0, timeout = 0 }: Params, signal: AbortSignal): Promise<Update[]> {
        updates = updates.filter(({ update_id }) => update_id >= Number(offset)) // the bot has handled the others
        const until = Date.now() + Number(timeout) * 1000
        while (updates.length === 0 && Date.now() < until && !signal.aborted) await waitForChange(until - Date.now(), signal)
        return updates
      },
      setWebhook({ url, secret_token: secret = '' }: Params): true {
        webhook = url ? { url: url as string, secret: secret as string } : undefined
        void deliver()
        return true
      },
      deleteWebhook(): true {
        webhook = undefined
        return true
      },
    },
  }

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
}

/** The methods by which the bot writes into chats. */
function messageMethods(chats: Chats, files: Map<string, StoredFile>) {
  return {
    sendMessage({ chat_id: chatId, text, reply_markup: markup }: Params): object {
      const userId = Number(chatId)
      return telegramMessage(userId, chats.write(userId, { isFromBot: true, text: text as string, buttons: buttonsOf(markup) }))
    },
    /** @param params.photo the bytes of a file, or the id of one that was sent before */
    async sendPhoto({ chat_id: chatId, photo, caption = '', reply_markup: markup }: Params): Promise<object> {
      const userId = Number(chatId)
      const id = photo instanceof File ? await keep(photo) : String(photo)
      if (!files.has(id)) return refusal(400, 'Bad Request: wrong file identifier/HTTP URL specified')
      const message = { isFromBot: true, text: caption as string, photo: id, buttons: buttonsOf(markup) }
      return telegramMessage(userId, chats.write(userId, message))
    },
    editMessageText({ chat_id: chatId, message_id: messageId, text, reply_markup: markup }: Params): object {
      const message = chats.find(Number(chatId), messageId)
      if (!message) return refusal(400, 'Bad Request: message to edit not found')
      const buttons = buttonsOf(markup)
      if (message.text === text && JSON.stringify(message.buttons) === JSON.stringify(buttons))
        return refusal(400, 'Bad Request: message is not modified')
      Object.assign(message, { text, buttons })
      chats.wakeAll()
      return telegramMessage(Number(chatId), message)
    },
    answerCallbackQuery: () => true,
  }

  async function keep(file: File): Promise<string> {
    const id = `photo-${chats.nextId()}`
    files.set(id, { bytes: new Uint8Array(await file.arrayBuffer()), type: file.type })
    return id
  }
}

function telegramMessage(userId: number, { message_id, date, text, photo }: Message): object {
  return {
    message_id,
    date,
    chat: { id: userId, type: 'private' },
    ...(photo === undefined ? { text } : { caption: text, photo: [{ file_id: photo, width: 1, height: 1 }] }),
  }
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
