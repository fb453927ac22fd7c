/**
 * How the game's bot shows an announcement or a task in its chat. The specification has no template for the bot, so this file is the
 * console's proposal to it: `botMessage` maps an item to a message, and the component draws the message in Telegram's two looks.
 *
 * A message with an image is sent by sendPhoto, whose caption holds the text; one without by sendMessage. The text is the title in bold,
 * the subtitle, the description and the reward. The link is a button, and so is the player's way to answer. The Bot API has no icon in a
 * message, so the preview shows the icon beside the title, as the game's list does.
 *
 * Limits: https://core.telegram.org/bots/api#sendmessage (text, 1–4096 characters after entities parsing), …#sendphoto (caption, 0–1024),
 * …#inlinekeyboardbutton (callback data, 1–64 bytes). It names no limit for a button's label or address: we allow 64 characters for a
 * label, and the contract limits the address. The Bot API counts characters in UTF-16 units, and so do we.
 */
import { LINK_MAX_LENGTH } from '@arcade/contract/fields'
import { useComputedColorScheme } from '@mantine/core'
import { useDeferredValue, useEffect, useId, useState } from 'react'
import classes from './bot-preview.module.css'

const MESSAGE_MAX_LENGTH = 4096
const CAPTION_MAX_LENGTH = 1024
const BUTTON_LABEL_MAX_LENGTH = 64

/** The fields of a form. An empty text is one that is still to be filled in, which the preview holds a place for; a form may lack some. */
export interface BotItem {
  title: string
  subtitle?: string
  description?: string
  link?: string
  /** The label of the button with which the player answers. */
  answer?: string
  /** The place that the link's button names: `Open Twitter`. */
  place?: string
  /** Undefined while it is to be filled in. */
  reward: number | undefined
  /** Addresses of pictures, of the server or of this browser. */
  image?: string | undefined
  icon?: string | undefined
}

interface BotButton {
  label: string
  /** A button without an address calls the bot back. */
  url?: string
  /** It stands for what is to be filled in. */
  isPlaceholder?: boolean
}

interface BotLine {
  text: string
  isBold?: boolean
  /** It stands for what is to be filled in. */
  isPlaceholder?: boolean
}

interface BotMessage {
  photo: string | undefined
  icon: string | undefined
  /** Title, subtitle, description and reward. */
  lines: BotLine[]
  buttons: BotButton[]
}

/** The message that the bot would send for `item`. */
function botMessage({ title, subtitle, description, link, answer, place, reward, image, icon }: BotItem): BotMessage {
  const done = answer ?? (link === undefined ? 'Claim' : 'Done')
  return {
    photo: image,
    icon,
    lines: [
      { ...lineOf(title, 'Your title'), isBold: true },
      ...(subtitle === undefined ? [] : [lineOf(subtitle, 'Your subtitle')]),
      ...(description === undefined ? [] : [lineOf(description, 'Your description')]),
      lineOf(reward === undefined ? '' : `Reward: ${figure(reward)}`, 'Reward: …'),
    ],
    buttons: [
      ...(link === undefined ? [] : [{ label: place ? `Open ${place}` : 'Open link', url: link, isPlaceholder: link === '' }]),
      { label: done },
    ],
  }
}

function lineOf(text: string, placeholder: string): BotLine {
  return text.trim() === '' ? { text: placeholder, isPlaceholder: true } : { text: text.trim() }
}

function figure(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 20 })
}

interface Measure {
  name: string
  length: number
  limit: number
  warning: string
}

function measuresOf({ photo, lines, buttons }: BotMessage): Measure[] {
  const length = lines
    .filter(({ isPlaceholder }) => !isPlaceholder)
    .map(({ text }) => text)
    .join('\n').length
  const text: Measure = photo
    ? {
        name: 'Photo caption',
        length,
        limit: CAPTION_MAX_LENGTH,
        warning: `Telegram takes ${figure(CAPTION_MAX_LENGTH)} characters beside a photo. Shorten the text or clear the image.`,
      }
    : {
        name: 'Message text',
        length,
        limit: MESSAGE_MAX_LENGTH,
        warning: `Telegram takes ${figure(MESSAGE_MAX_LENGTH)} characters in a message. Shorten the text.`,
      }
  const labels = buttons.map(({ label }, index) => ({
    name: buttons.length > 1 ? `Button ${index + 1}` : 'Button',
    length: label.length,
    limit: BUTTON_LABEL_MAX_LENGTH,
    warning: `More than ${BUTTON_LABEL_MAX_LENGTH} characters on a button are cut off.`,
  }))
  const addresses = buttons.flatMap(({ url }) =>
    url
      ? [
          {
            name: 'Link',
            length: url.length,
            limit: LINK_MAX_LENGTH,
            warning: `A link has at most ${LINK_MAX_LENGTH} characters.`,
          },
        ]
      : [],
  )
  return [text, ...labels, ...addresses]
}

/** The preview may lag behind the typing while the browser is busy. Nothing in it takes the focus, and only a limit is read aloud. */
export function BotPreview({ item }: { item: BotItem }) {
  const message = botMessage(useDeferredValue(item))
  const measures = measuresOf(message)
  const tooLong = measures.filter(({ length, limit }) => length > limit)
  return (
    <>
      <Chat message={message} />
      <dl className={classes['measures']}>
        {measures.map(({ name, length, limit }) => (
          <div key={name} data-over={length > limit || undefined}>
            <dt>{name}</dt>
            <dd>
              {figure(length)} / {figure(limit)}
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
            <li key={url === undefined ? 'answer' : 'link'} data-placeholder={isPlaceholder || undefined}>
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

/** The picture has no alternative text, because the form names it already. A broken picture is left out. */
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
