/**
 * Draws the bot's message (contract/src/bot-message.ts) in Telegram's light and dark looks, and counts the lengths that Telegram limits.
 *
 * Limits: https://core.telegram.org/bots/api#inlinekeyboardbutton (callback data, 1–64 bytes). The Bot API has no limit for a button's
 * label or URL: the console allows 64 characters for a label, and the contract limits the URL.
 */
import {
  type BotItem,
  type BotMessage,
  botMessage,
  broadcastMessage,
  formattedAmount,
  textMeasure,
} from '@arcade/contract/bot-message'
import { MAX_LINK_LENGTH } from '@arcade/contract/field-schemas'
import { characterCount } from '@arcade/contract/text'
import { useComputedColorScheme } from '@mantine/core'
import { useDeferredValue, useEffect, useId, useState } from 'react'
import classes from './bot-preview.module.css'

const MAX_BUTTON_LABEL_LENGTH = 64

interface Measure {
  name: string
  length: number
  limit: number
  warning: string
}

function measureMessage(message: BotMessage): Measure[] {
  const { photo, buttons } = message
  const measure = textMeasure(message)
  const text: Measure = photo
    ? {
        name: 'Photo caption',
        ...measure,
        warning: `Telegram takes ${formattedAmount(measure.limit)} characters beside a photo. Shorten the text or clear the image.`,
      }
    : {
        name: 'Message text',
        ...measure,
        warning: `Telegram takes ${formattedAmount(measure.limit)} characters in a message. Shorten the text.`,
      }
  const labels = buttons.map(({ label }, index) => ({
    name: buttons.length > 1 ? `Button ${index + 1}` : 'Button',
    length: characterCount(label),
    limit: MAX_BUTTON_LABEL_LENGTH,
    warning: `More than ${MAX_BUTTON_LABEL_LENGTH} characters on a button are cut off.`,
  }))
  const addresses = buttons.flatMap(({ url }) =>
    url
      ? [
          {
            name: 'Link',
            length: characterCount(url),
            limit: MAX_LINK_LENGTH,
            warning: `A link has at most ${MAX_LINK_LENGTH} characters.`,
          },
        ]
      : [],
  )
  return [text, ...labels, ...addresses]
}

/** The preview may update later than the form while the browser is busy. It takes no focus, and only announces exceeded limits. */
export function BotPreview({ item, isBroadcast = false }: { item: BotItem; isBroadcast?: boolean }) {
  const toMessage = isBroadcast ? broadcastMessage : botMessage
  const message = toMessage(useDeferredValue(item))
  const measures = measureMessage(message)
  const tooLong = measures.filter(({ length, limit }) => length > limit)
  return (
    <>
      <Chat message={message} />
      <dl className={classes['measures']}>
        {measures.map(({ name, length, limit }) => (
          <div key={name} data-over={length > limit || undefined}>
            <dt>{name}</dt>
            <dd>
              {formattedAmount(length)} / {formattedAmount(limit)}
            </dd>
          </div>
        ))}
      </dl>
      <div aria-live="polite">
        {tooLong.map(({ name, warning }) => (
          <p key={name} className={classes['warning']}>
            {name}: {warning}
          </p>
        ))}
      </div>
    </>
  )
}

const looks = { light: 'Light', dark: 'Dark' } as const
type Look = keyof typeof looks

function Chat({ message }: { message: BotMessage }) {
  const name = useId()
  const ownLook = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const [chosenLook, setChosenLook] = useState<Look>()
  const look = chosenLook ?? ownLook
  const { photo, icon, lines, buttons } = message
  return (
    <>
      <fieldset className={classes['looks']}>
        <legend className="app-sr-only">Look of the chat</legend>
        {Object.entries(looks).map(([value, label]) => (
          <label key={value}>
            <input type="radio" name={name} checked={look === value} onChange={() => setChosenLook(value as Look)} />
            {label}
          </label>
        ))}
      </fieldset>
      <div className={classes['chat']} data-look={look}>
        <div className={classes['bubble']}>
          <Picture url={photo} className={classes['photo']} />
          <div className={classes['text']}>
            <Picture url={icon} className={classes['icon']} />
            {lines.map(({ text, isBold, isPlaceholder }, index) => (
              <p key={index} data-bold={isBold} data-placeholder={isPlaceholder}>
                {text}
              </p>
            ))}
            <Clock />
          </div>
        </div>
        <ul className={classes['buttons']} aria-label="Buttons of the message">
          {buttons.map(({ label, url, isPlaceholder }) => (
            <li key={label} data-placeholder={isPlaceholder || undefined}>
              <span className={classes['label']}>{label}</span>
              {url && (
                <svg viewBox="0 0 10 10" width="10" height="10" className={classes['outside']} aria-hidden>
                  <path d="M2 8 8 2M3.5 2H8v4.5" fill="none" stroke="currentColor" strokeWidth="1.4" />
                </svg>
              )}
            </li>
          ))}
        </ul>
      </div>
    </>
  )
}

/** The image has no alternative text, because the form already names it. A broken image is hidden. */
function Picture({ url, className }: { url: string | undefined; className: string | undefined }) {
  const [broken, setBroken] = useState<string>()
  if (!url || url === broken) return null
  return <img src={url} alt="" className={className} onError={() => setBroken(url)} />
}

const CLOCK_EVERY_MS = 10_000

function Clock() {
  const [now, setNow] = useState(() => new Date())
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), CLOCK_EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return <time className={classes['time']}>{now.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}</time>
}
