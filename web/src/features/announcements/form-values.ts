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

/** Returns the values without the fields that this type and link type do not use. */
export function usedValues({ description, link, linkType, inputText, ...values }: Partial<z.input<typeof announcementInput>>) {
  if (values.type !== 'link') return { ...values, description }
  return { ...values, link, linkType, ...(linkType === 'input' && { inputText }) }
}
