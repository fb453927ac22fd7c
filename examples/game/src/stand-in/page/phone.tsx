/** A phone with Telegram: the chat with the bot, and the Mini App on top of it. */
import { type CSSProperties, type FormEvent, useEffect, useRef, useState } from 'react'
import type { TelegramUser } from '#src/init-data.ts'
import type { Button, Message } from '#src/stand-in/chats.ts'
import { ask } from './ask.ts'
import { type ThemeName, themes } from './themes.ts'

/** The same permissions as in Telegram's web version. */
const FRAME_RIGHTS = 'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox'

export function Phone({ person, theme }: { person: TelegramUser; theme: ThemeName }) {
  const [miniApp, setMiniApp] = useState<string>()
  const frame = useRef<HTMLIFrameElement>(null)
  const chat = `/chats/${person.id}`
  const messages = useMessages(chat)
  const colors = themes[theme]

  // Sends theme changes to the Mini App, as Telegram does.
  useEffect(() => {
    const event = JSON.stringify({ eventType: 'theme_changed', eventData: { theme_params: colors } })
    frame.current?.contentWindow?.postMessage(event, '*')
  }, [colors])

  const say = (text: string): void => void ask('POST', `${chat}/messages`, { text })
  const handleButton = async (messageId: number, { web_app: app, callback_data: data, url }: Button): Promise<void> => {
    if (url !== undefined) window.open(url, '_blank', 'noopener')
    else if (app) setMiniApp((await ask<{ url: string }>('POST', `${chat}/launches`, { url: app.url, theme: colors })).url)
    else await ask('POST', `${chat}/presses`, { messageId, data })
  }

  const style: CSSProperties = Object.fromEntries(
    Object.entries(colors).map(([name, color]) => [`--${name.replaceAll('_', '-')}`, color]),
  )
  return (
    <div className="phone" style={style}>
      <div className="title">
        {miniApp !== undefined && (
          <button type="button" onClick={() => setMiniApp(undefined)}>
            ‹ Close
          </button>
        )}
        <strong>Arcade</strong>
        <span>bot</span>
      </div>
      {miniApp === undefined ? (
        <>
          <Chat messages={messages} onButton={(messageId, button) => void handleButton(messageId, button)} />
          {messages.length === 0 ? (
            <button type="button" className="start" onClick={() => say('/start')}>
              Start
            </button>
          ) : (
            <MessageForm onSend={say} />
          )}
        </>
      ) : (
        <iframe ref={frame} title="Mini App" src={miniApp} sandbox={FRAME_RIGHTS} />
      )}
    </div>
  )
}

/** Returns the messages of a chat, and keeps them up to date. */
function useMessages(chat: string): Message[] {
  const [messages, setMessages] = useState<Message[]>([])
  useEffect(() => {
    let isHere = true
    const follow = async (): Promise<void> => {
      let known: Message[] = []
      while (isHere) {
        known = await ask<Message[]>('POST', `${chat}/wait`, known)
        if (isHere) setMessages(known)
      }
    }
    follow().catch(() => setMessages((shown) => [...shown, gone]))
    return () => void (isHere = false)
  }, [chat])
  return messages
}

interface ChatProps {
  messages: readonly Message[]
  onButton: (messageId: number, button: Button) => void
}

function Chat({ messages, onButton }: ChatProps) {
  return (
    <ol className="chat" aria-label="Chat">
      {messages.map((message) => (
        <li key={message.message_id} className={message.isFromBot ? 'bot' : 'own'}>
          {message.photo !== undefined && <img src={`/files/${message.photo}`} alt="" />}
          <p>{message.text}</p>
          {message.buttons.map((row) => (
            <div key={row[0]?.text} className="buttons">
              {row.map((button) => (
                <button key={button.text} type="button" onClick={() => onButton(message.message_id, button)}>
                  {button.text}
                </button>
              ))}
            </div>
          ))}
        </li>
      ))}
      <li key={`after ${messages.length}`} ref={bringIntoView} aria-hidden="true" />
    </ol>
  )
}

function MessageForm({ onSend }: { onSend: (text: string) => void }) {
  const handleSubmit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const text = new FormData(event.currentTarget).get('text')
    if (typeof text === 'string' && text.trim() !== '') onSend(text.trim())
    event.currentTarget.reset()
  }
  return (
    <form onSubmit={handleSubmit}>
      <input name="text" aria-label="Message" placeholder="Message" autoComplete="off" />
      <button type="submit">Send</button>
    </form>
  )
}

function bringIntoView(element: HTMLElement | null): void {
  element?.scrollIntoView()
}

const gone: Message = { message_id: 0, date: 0, isFromBot: true, text: 'The stand-in has ended.', buttons: [] }
