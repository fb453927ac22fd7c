/** The values of an announcement's form (§5), without its files. */
import type { Announcement } from '@arcade/contract/announcements/fields'
import type { announcementInput } from '@arcade/contract/announcements/calls'
import type { z } from 'zod'
import { noSchedule, scheduleValues, sentSchedule } from '#src/lists/schedule-section.tsx'

export const empty = {
  title: '',
  subtitle: '',
  description: '',
  link: '',
  linkType: 'input',
  inputText: '',
  verifiedByBot: false,
  ...noSchedule,
} as const

/** @param isCopy the form adds a copy of the announcement, which has no dates */
export function toValues(announcement: Announcement, { isCopy = false } = {}) {
  const { type, title, subtitle, description, link, linkType, inputText, reward, verifiedByBot } = announcement
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
    ...scheduleValues(announcement, { isCopy }),
  }
}

/** Returns the values without those of fields that this type and link type do not have, and null for dates and limits that are not set. */
export function usedValues<Values extends Partial<z.input<typeof announcementInput>>>(all: Values): Values {
  const none = undefined
  const values = sentSchedule(all)
  if (values.type !== 'link') return { ...values, link: none, linkType: none, inputText: none }
  return { ...values, description: none, ...(values.linkType !== 'input' && { inputText: none }) }
}
