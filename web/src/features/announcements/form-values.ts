/** The values of an announcement's form (§5), without its files. */
import type { Announcement } from '@arcade/contract/announcements/fields'
import type { announcementInput } from '@arcade/contract/announcements/calls'
import type { z } from 'zod'

export const empty = {
  title: '',
  subtitle: '',
  description: '',
  link: '',
  linkType: 'input',
  inputText: '',
  verifiedByBot: false,
} as const

export function toValues({ type, title, subtitle, description, link, linkType, inputText, reward, verifiedByBot }: Announcement) {
  return {
    type,
    title,
    subtitle,
    description: description ?? '',
    link: link ?? '',
    linkType: linkType ?? 'input',
    inputText: inputText ?? '',
    reward,
    verifiedByBot,
  }
}

/** Returns the values without those of fields that this type and link type do not have. */
export function usedValues<Values extends Partial<z.input<typeof announcementInput>>>(values: Values): Values {
  const none = undefined
  if (values.type !== 'link') return { ...values, link: none, linkType: none, inputText: none }
  return { ...values, description: none, ...(values.linkType !== 'input' && { inputText: none }) }
}
