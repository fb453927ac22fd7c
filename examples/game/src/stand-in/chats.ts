/** The chats of players with the bot, and those who wait for a change in them. */

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

export type Chats = ReturnType<typeof createChats>

export function createChats() {
  const chats = new Map<number, Message[]>()
  let count = 0
  /** Wakes long polls: a bot waiting for updates, a page waiting for messages. */
  const waiting = new Set<() => void>()
  const of = (userId: number): Message[] => chats.get(userId) ?? chats.set(userId, []).get(userId)!
  const wakeAll = (): void => {
    for (const wake of waiting) wake()
    waiting.clear()
  }

  return {
    of,
    wakeAll,
    /** Returns a number that no message, update or file has. */
    nextId: (): number => ++count,
    find: (userId: number, id: unknown): Message | undefined => of(userId).find(({ message_id }) => message_id === id),
    /** Empties all chats, for the next test. */
    forget: (): void => chats.clear(),

    write(userId: number, message: Pick<Message, 'isFromBot' | 'text' | 'photo' | 'buttons'>): Message {
      const written = { message_id: ++count, date: Math.floor(Date.now() / 1000), ...message }
      of(userId).push(written)
      wakeAll()
      return written
    },

    /** Waits until the next change, at most this long. */
    waitForChange: (ms: number, signal?: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms)
        const wake = (): void => {
          clearTimeout(timer)
          resolve()
        }
        waiting.add(wake)
        signal?.addEventListener('abort', wake)
      }),

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
  }
}
