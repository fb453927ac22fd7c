/**
 * The message that the game's bot would send for an announcement or a task. The specification has no template for the bot, so this file
 * is the console's proposal to it; bot-preview.tsx draws the message.
 *
 * A message with an image is sent by sendPhoto, whose caption holds the text; one without by sendMessage. The text is the title in bold,
 * the subtitle, the description and the reward. The link is a button, and so is the player's way to answer. The Bot API has no icon in a
 * message, so the preview shows the icon beside the title, as the game's list does.
 *
 * Limits: https://core.telegram.org/bots/api#sendmessage (text, 1–4096 characters after entities parsing), …#sendphoto (caption, 0–1024).
 * The Bot API counts characters in UTF-16 units, and so do we.
 */

const MESSAGE_MAX_LENGTH = 4096
const CAPTION_MAX_LENGTH = 1024

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

export interface BotMessage {
  photo: string | undefined
  icon: string | undefined
  /** Title, subtitle, description and reward. */
  lines: BotLine[]
  buttons: BotButton[]
}

/** The message that the bot would send for `item`. */
export function botMessage({ title, subtitle, description, link, answer, place, reward, image, icon }: BotItem): BotMessage {
  const done = answer ?? (link === undefined ? 'Claim' : 'Done')
  return {
    photo: image,
    icon,
    lines: [
      { ...toLine(title, 'Your title'), isBold: true },
      ...(subtitle === undefined ? [] : [toLine(subtitle, 'Your subtitle')]),
      ...(description === undefined ? [] : [toLine(description, 'Your description')]),
      toLine(reward === undefined ? '' : `Reward: ${figure(reward)}`, 'Reward: …'),
    ],
    buttons: [
      ...(link === undefined ? [] : [{ label: place ? `Open ${place}` : 'Open link', url: link, isPlaceholder: link === '' }]),
      { label: done },
    ],
  }
}

function toLine(text: string, placeholder: string): BotLine {
  return text.trim() === '' ? { text: placeholder, isPlaceholder: true } : { text: text.trim() }
}

export function figure(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 20 })
}

/** How long the message's text is, of how much Telegram takes. Placeholders do not count. */
export function textMeasure({ photo, lines }: BotMessage): { length: number; limit: number } {
  const typed = lines.filter(({ isPlaceholder }) => !isPlaceholder).map(({ text }) => text)
  return { length: typed.join('\n').length, limit: photo ? CAPTION_MAX_LENGTH : MESSAGE_MAX_LENGTH }
}

/** What keeps the bot from sending the text whole; undefined if nothing does. */
export function textProblem(item: BotItem): string | undefined {
  const { length, limit } = textMeasure(botMessage(item))
  if (length <= limit) return undefined
  const [place, remedy] = item.image
    ? ['below an image', 'Shorten the text or leave the image out.']
    : ['in a message', 'Shorten the text.']
  return `The text has ${figure(length)} characters. Telegram takes ${figure(limit)} ${place}, so the bot cannot send it whole. ${remedy}`
}
