/** The message of an announcement beside a page of broadcasts, as it would be sent now. */
import { toBotItem } from '@arcade/contract/announcements/bot-item'
import { type Announcement, fileUrl } from '@arcade/contract/announcements/fields'
import { Preview } from '#src/ui/form-page.tsx'

export function MessagePreview({ announcement }: { announcement: Announcement | undefined }) {
  if (!announcement) return null
  const item = toBotItem(announcement)
  return <Preview item={item.image === undefined ? item : { ...item, image: fileUrl(item.image) }} isBroadcast />
}
