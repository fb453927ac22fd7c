/** Announcements (§3) with their files, and the list of them (§2). */
import { defineList, type Fields, type FilterOf, type RowOf, type SortName } from '#src/entity.ts'
import { announcementStateLabels, availabilityFields } from '#src/items/fields.ts'

export const announcementTypes = ['desc', 'link'] as const
export const announcementTypeLabels = { desc: 'Desc', link: 'Link' } as const // as in the column Desc/Link of §2
export const linkTypeLabels = { input: 'Link with input', noInput: 'Link without input' } as const // §5
export type LinkType = keyof typeof linkTypeLabels

/** Returns the URL of a stored file, or of its thumbnail, a WebP of at most 96 × 96 pixels. */
export function fileUrl(key: string, size?: 'thumb'): string {
  return `/api/files/${key}${size ? `?size=${size}` : ''}`
}

/** An announcement's fields (§3). `image` and `icon` are keys in the file store. */
export const announcementFields = {
  id: { label: 'ID', kind: 'text' },
  title: { label: 'Title', kind: 'text', sheetWidth: 40 },
  subtitle: { label: 'Subtitle', kind: 'text', sheetWidth: 40 },
  type: { label: 'Type', kind: 'choice', options: announcementTypeLabels, sheetWidth: 10 },
  description: { label: 'Description', kind: 'text', isOptional: true, sheetWidth: 48 },
  link: { label: 'Link', kind: 'text', isOptional: true, sheetWidth: 48 },
  linkType: { label: 'Link Type', kind: 'choice', options: linkTypeLabels, isOptional: true, sheetWidth: 12 },
  inputText: { label: 'Input Text', kind: 'text', isOptional: true, sheetWidth: 32 },
  reward: { label: 'Reward', kind: 'number', sheetWidth: 12 },
  status: { label: 'Status', kind: 'flag', sheetWidth: 12 },
  /** Only the game's bot may claim the item, not the player's own client. */
  verifiedByBot: { label: 'Verified by the bot', kind: 'flag' },
  image: { label: 'Image', kind: 'text', isOptional: true },
  imageName: { label: 'Image Name', kind: 'text', isOptional: true, sheetWidth: 24 },
  icon: { label: 'Icon', kind: 'text', isOptional: true },
  iconName: { label: 'Icon Name', kind: 'text', isOptional: true, sheetWidth: 24 },
  numberOfParticipants: { label: 'Participants', kind: 'integer', isDerived: true, sheetWidth: 14 },
  createdAt: { label: 'Created At', kind: 'moment', sheetWidth: 24 },
  ...availabilityFields,
  version: { label: 'Version', kind: 'integer' },
} as const satisfies Fields
export type Announcement = RowOf<typeof announcementFields>

/** `search` finds part of a title, subtitle or link. */
export const announcementList = defineList({
  name: 'announcements',
  noun: { one: 'announcement', many: 'announcements' },
  emptyText: 'No annoucements found!', // sic, §8
  fileName: 'announcements.xlsx',
  fields: announcementFields,
  filters: {
    type: { label: 'Type', kind: 'choice', field: 'type', options: announcementTypeLabels },
    status: { label: 'Status', kind: 'choice', options: { active: 'Active', inactive: 'In Active' } }, // sic, §2
    state: { label: 'State', kind: 'choice', options: announcementStateLabels },
  },
  sorts: {
    created: { label: 'Created', field: 'createdAt' },
    title: { label: 'Title', field: 'title' },
    reward: { label: 'Reward', field: 'reward' },
    participants: { label: 'Participants', field: 'numberOfParticipants' },
  },
  defaultSort: 'created',
  pageSizes: [50], // §9
})
export type AnnouncementsFilter = FilterOf<typeof announcementList>
export type AnnouncementsSort = SortName<typeof announcementList>
