/**
 * Builds the message that the game's bot would send for an announcement or a task. The specification has no template for it; this is the
 * console's proposal. The preview of the forms (bot-preview.tsx) draws the message, and broadcasts send it.
 *
 * With an image the message is a photo (sendPhoto) with the text as its caption, otherwise a text (sendMessage). The text is the bold
 * title, the subtitle, the description and the reward. The link and the player's answer are buttons. Messages of the Bot API cannot have an
 * icon, so the preview shows it beside the title, as the game's list does.
 *
 * Limits: https://core.telegram.org/bots/api#sendmessage (text, 1–4096 characters after entities parsing), …#sendphoto (caption, 0–1024).
 * The Bot API counts code points, as `utf8_length` of its TDLib does; only the offsets of entities are in UTF-16 code units.
 */
import { STOP_MESSAGES, STOP_MESSAGES_LABEL } from '#src/broadcasts/fields.ts'
import { characterCount, typedText, withoutInvisible } from './text.ts'

const MAX_MESSAGE_LENGTH = 4096
const MAX_CAPTION_LENGTH = 1024

/** The fields of a form. An empty text is not filled in yet and shows a placeholder; an undefined field does not exist in the form. */
export interface BotItem {
  title: string
  subtitle?: string
  description?: string
  link?: string
  /** The label of the button that the player answers with. */
  answer?: string
  /** The site that the link's button names, such as Twitter in `Open Twitter`. */
  siteName?: string
  /** Undefined until it is filled in. */
  reward: number | undefined
  /** URLs of images, on the server or in this browser (blob). */
  image?: string | undefined
  icon?: string | undefined
}

export interface BotButton {
  label: string
  /** A button without a URL calls the bot back, or opens the Mini App. */
  url?: string
  /** What the bot is called back with; undefined if that is up to the bot. */
  data?: string
  /** A placeholder for a field that is not filled in. */
  isPlaceholder?: boolean
}

interface BotLine {
  text: string
  isBold?: boolean
  /** A placeholder for a field that is not filled in. */
  isPlaceholder?: boolean
}

export interface BotMessage {
  photo: string | undefined
  icon: string | undefined
  /** Title, subtitle, description and reward. */
  lines: BotLine[]
  buttons: BotButton[]
}

/** Returns the message that the bot would send for `item`. */
export function botMessage({ title, subtitle, description, link, answer, siteName, reward, image, icon }: BotItem): BotMessage {
  const done = answer ?? (link === undefined ? 'Claim' : 'Done')
  return {
    photo: image,
    icon,
    lines: [
      { ...toLine(title, 'Your title'), isBold: true },
      ...(subtitle === undefined ? [] : [toLine(subtitle, 'Your subtitle')]),
      ...(description === undefined ? [] : [toLine(description, 'Your description')]),
      toLine(reward === undefined ? '' : `Reward: ${formattedAmount(reward)}`, 'Reward: …'),
    ],
    buttons: [
      ...(link === undefined
        ? []
        : [{ label: siteName ? `Open ${siteName}` : 'Open link', url: withoutInvisible(link), isPlaceholder: link === '' }]),
      { label: done },
    ],
  }
}

/** Returns the message as a broadcast sends it: with a button below, by which the player stops such messages. */
export function broadcastMessage(item: BotItem): BotMessage {
  const message = botMessage(item)
  return { ...message, buttons: [...message.buttons, { label: STOP_MESSAGES_LABEL, data: STOP_MESSAGES }] }
}

function toLine(text: string, placeholder: string): BotLine {
  const typed = typedText(text)
  return typed === '' ? { text: placeholder, isPlaceholder: true } : { text: typed }
}

const exact = new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 })

/** Returns a number with thousands separators and all of its decimals. */
export function formattedAmount(value: number): string {
  return exact.format(value)
}

/** Returns the text of the message, without placeholders. */
export function messageText({ lines }: BotMessage): string {
  const typed = lines.filter(({ isPlaceholder }) => !isPlaceholder)
  return typed.map(({ text }) => text).join('\n')
}

/** Returns the length of the message's text without placeholders, and Telegram's limit, both in code points. */
export function textMeasure(message: BotMessage): { length: number; limit: number } {
  return { length: characterCount(messageText(message)), limit: message.photo ? MAX_CAPTION_LENGTH : MAX_MESSAGE_LENGTH }
}

/** Returns why Telegram would not take the whole text; undefined if it would. */
export function textProblem(item: BotItem): string | undefined {
  const { length, limit } = textMeasure(botMessage(item))
  if (length <= limit) return undefined
  const [where, remedy] = item.image
    ? ['below an image', 'Shorten the text or leave the image out.']
    : ['in a message', 'Shorten the text.']
  return `The text has ${formattedAmount(length)} characters. Telegram takes ${formattedAmount(limit)} ${where}, so the bot cannot send it whole. ${remedy}`
}
