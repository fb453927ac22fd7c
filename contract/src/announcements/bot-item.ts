/** Converts an announcement, saved or still being typed, to the item from which the bot's message is made. */
import type { BotItem } from '#src/bot-message.ts'
import { typedText } from '#src/text.ts'
import type { Announcement } from './fields.ts'

type Texts = 'type' | 'title' | 'subtitle' | 'description' | 'link' | 'linkType' | 'inputText'

/** `reward` is unknown, because a number field may hold any text. `image` is a file key or a URL. */
type AnnouncementText = { [Name in Texts]?: Announcement[Name] | undefined } & {
  reward?: unknown
  image?: string | null | undefined
}

export function toBotItem(announcement: AnnouncementText): BotItem {
  const { type, title, subtitle, description, link, linkType, inputText, reward, image } = announcement
  return {
    title: title ?? '',
    subtitle: subtitle ?? '',
    ...(type === 'desc' && { description: description ?? '' }),
    ...(type === 'link' && {
      link: link ?? '',
      ...(linkType === 'input' && { answer: typedText(inputText ?? '') || 'Send your answer' }),
    }),
    reward: typeof reward === 'number' ? reward : undefined,
    image: image ?? undefined,
  }
}
