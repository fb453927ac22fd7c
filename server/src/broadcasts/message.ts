/** The message of a broadcast: what the console's preview shows of an announcement, as the Bot API takes it. */
import { toBotItem } from '@arcade/contract/announcements/bot-item'
import type { Announcement } from '@arcade/contract/announcements/fields'
import { broadcastMessage, type BotButton, messageText, textProblem } from '@arcade/contract/bot-message'

/** A button of an inline keyboard (https://core.telegram.org/bots/api#inlinekeyboardbutton). */
export type TelegramButton = { text: string } & ({ url: string } | { web_app: { url: string } } | { callback_data: string })

/** The message as it is kept in `broadcasts.content`. */
export interface Content {
  text: string
  /** The length of the bold title at the beginning, in UTF-16 code units, as Telegram measures entities. */
  boldLength: number
  /** The key of the image in the file store. */
  photo: string | null
  buttons: TelegramButton[]
}

export type Announced = Pick<
  Announcement,
  'id' | 'type' | 'title' | 'subtitle' | 'description' | 'link' | 'linkType' | 'inputText' | 'reward' | 'image'
>

/** Bytes that Telegram takes as callback data. */
const MAX_CALLBACK_BYTES = 64

/** @param miniAppUrl the address of the Mini App that the button for the reward opens; without one it calls the bot back */
export function contentOf(announcement: Announced, miniAppUrl: string | undefined): Content {
  const message = broadcastMessage(toBotItem(announcement))
  const { lines, buttons } = message
  return {
    text: messageText(message),
    boldLength: lines[0]?.isBold && !lines[0].isPlaceholder ? lines[0].text.length : 0,
    photo: announcement.image,
    buttons: buttons
      .filter(({ isPlaceholder }) => !isPlaceholder)
      .flatMap((button) => toTelegram(button, announcement.id, miniAppUrl) ?? []),
  }
}

/** Returns why Telegram would not take the message; undefined if it would. */
export function contentProblem(announcement: Announced): string | undefined {
  return textProblem(toBotItem(announcement))
}

function toTelegram({ label, url, data }: BotButton, id: string, miniAppUrl: string | undefined): TelegramButton | undefined {
  if (url !== undefined) return { text: label, url }
  if (data !== undefined) return { text: label, callback_data: data }
  if (miniAppUrl !== undefined)
    // A link to Telegram itself, such as t.me/bot/app, opens the Mini App as a link; any other address has to be called one.
    return /^https?:\/\/(t|telegram)\.me\//i.test(miniAppUrl)
      ? { text: label, url: miniAppUrl }
      : { text: label, web_app: { url: miniAppUrl } }
  const callback = `arcade:claim:${id}`
  return Buffer.byteLength(callback) > MAX_CALLBACK_BYTES ? undefined : { text: label, callback_data: callback }
}

export interface Photo {
  /** What Telegram calls a photo that it has already. */
  id?: string
  file?: { bytes: Uint8Array<ArrayBuffer>; mediaType: string; name: string }
}

export interface TelegramCall {
  method: 'sendMessage' | 'sendPhoto'
  fields: Record<string, unknown>
  file: Photo['file']
}

/** Returns the call of the Bot API that sends the message to one chat. */
export function toCall(
  { text, boldLength, buttons }: Content,
  { chatId, photo, isPaid }: { chatId: number; photo: Photo | undefined; isPaid: boolean },
): TelegramCall {
  const entities = boldLength === 0 ? [] : [{ type: 'bold', offset: 0, length: boldLength }]
  const fields = {
    chat_id: chatId,
    reply_markup: { inline_keyboard: buttons.map((button) => [button]) },
    ...(isPaid && { allow_paid_broadcast: true }),
  }
  if (photo === undefined)
    return {
      method: 'sendMessage',
      // The preview shows no page of a link in the text, so Telegram must not add one.
      fields: { ...fields, text, entities, link_preview_options: { is_disabled: true } },
      file: undefined,
    }
  return {
    method: 'sendPhoto',
    fields: { ...fields, caption: text, caption_entities: entities, ...(photo.id !== undefined && { photo: photo.id }) },
    file: photo.id === undefined ? photo.file : undefined,
  }
}
