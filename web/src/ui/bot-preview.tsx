/**
 * How the game's bot shows an announcement or a task in its chat. The specification has no template of the bot's: this file is what the
 * console proposes to it, in one place. `botMessage` is the mapping, the component draws it in Telegram's own two looks.
 *
 * An image makes it sendPhoto, whose caption holds the text; without one it is sendMessage. The text is the title in bold, the subtitle,
 * the description and the reward; a link is a button, and so is what the player answers with. The Bot API has no icon in a message: it
 * stands beside the title here as in the game's list.
 *
 * Limits: https://core.telegram.org/bots/api#sendmessage (text, 1–4096 characters after entities parsing), …#sendphoto (caption, 0–1024),
 * …#inlinekeyboardbutton (callback data, 1–64 bytes). For a button's label and address it names none: 64 is what we ask of a label, an
 * address has the contract's limit. Characters are counted as the Bot API counts entities: in UTF-16 units.
 */
import { LINK_MAX_LENGTH } from '@arcade/contract/fields'
import { useComputedColorScheme } from '@mantine/core'
import { useDeferredValue, useEffect, useId, useState } from 'react'
import classes from './bot-preview.module.css'

const MESSAGE_MAX_LENGTH = 4096
const CAPTION_MAX_LENGTH = 1024
const BUTTON_LABEL_MAX_LENGTH = 64

/** What is in a form, as far as it is filled in. */
export interface BotItem {
  title: string
  subtitle?: string
  description?: string
  link?: string
  /** What the player is asked for; its button. */
  answer?: string
  /** Where the link leads, for its button: `Open Twitter`. */
  place?: string
  reward?: number | undefined
  /** Addresses of pictures that this browser can show. */
  image?: string | undefined
  icon?: string | undefined
}

interface BotButton {
  label: string
  /** Without one the button calls the bot back. */
  url?: string
}

interface BotMessage {
  photo: string | undefined
  icon: string | undefined
  /** Title, subtitle, description, reward; those that are there. */
  lines: { text: string; isBold?: true }[]
  buttons: BotButton[]
}

/** The proposal to the bot. */
function botMessage({ title, subtitle, description, link, answer, place, reward, image, icon }: BotItem): BotMessage {
  const texts = [subtitle, description, reward === undefined ? undefined : `Reward: ${figure(reward)}`]
  const done = answer ?? (link ? 'Done' : 'Claim')
  return {
    photo: image,
    icon,
    lines: [
      { text: title.trim() || 'Title', isBold: true },
      ...texts.map((text) => ({ text: text?.trim() ?? '' })).filter(({ text }) => text !== ''),
    ],
    buttons: [...(link ? [{ label: place ? `Open ${place}` : 'Open link', url: link }] : []), { label: done }],
  }
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
  const length = lines.map(({ text }) => text).join('\n').length
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

/** Follows what is typed, a little later when the browser is busy. Nothing in it takes the focus, and only a limit is read aloud. */
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
            {lines.map(({ text, isBold }, index) => (
              <p key={index} data-bold={isBold}>
                {text}
              </p>
            ))}
            <Clock />
          </div>
        </div>
        <ul className={classes['buttons']} aria-label="Buttons of the message">
          {buttons.map(({ label, url }) => (
            <li key={url ?? ''}>
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

/** A picture that the form shows and names already. One that is broken there is left out here. */
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
