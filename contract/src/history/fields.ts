/** Items that players took part in, and their participants (§3 History detail and participant). */
import { defineList, type Fields, type RowOf } from '#src/entity.ts'

export const HISTORY_PAGE_SIZE = 50 // §9
/** The kinds of items, with the noun for one of each. */
export const historyKindLabels = { announcement: 'Announcement', social: 'Social Task', daily: 'Daily Task' } as const
export type HistoryKind = keyof typeof historyKindLabels
export const historyKinds = Object.keys(historyKindLabels) as HistoryKind[]

/** The fields of an item in History (§3 History detail). The page shows a missing value as `not available`. */
export const historyItemFields = {
  kind: { label: 'Kind', kind: 'choice', options: historyKindLabels },
  id: { label: 'ID', kind: 'text' },
  title: { label: 'Title', kind: 'text', sheetWidth: 32 },
  type: { label: 'Type', kind: 'text', sheetWidth: 12 },
  linkType: { label: 'Link Type', kind: 'text', isOptional: true, sheetWidth: 12 },
  link: { label: 'Link', kind: 'text', isOptional: true, sheetWidth: 40 },
  description: { label: 'Description', kind: 'text', isOptional: true, sheetWidth: 40 },
  inputText: { label: 'Input Text', kind: 'text', isOptional: true, sheetWidth: 32 },
  reward: { label: 'Reward', kind: 'number', sheetWidth: 12 },
  participants: { label: 'Participants', kind: 'integer', isDerived: true },
} as const satisfies Fields
export type HistoryItem = RowOf<typeof historyItemFields>

/** A participant's fields (§3 History participant): the player's names at the time of the participation, and the player's input. */
export const participantFields = {
  id: { label: 'ID', kind: 'integer', sheetWidth: 14 },
  username: { label: 'Username', kind: 'text', isOptional: true, sheetWidth: 20 },
  first_name: { label: 'First Name', kind: 'text', isOptional: true, sheetWidth: 20 },
  last_name: { label: 'Last Name', kind: 'text', isOptional: true, sheetWidth: 20 },
  userInput: { label: 'User Input', kind: 'text', isOptional: true, isPersonal: true, sheetWidth: 40 },
  timestamp: { label: 'Timestamp', kind: 'moment', sheetWidth: 24 },
} as const satisfies Fields
export type HistoryParticipant = RowOf<typeof participantFields>

/** `search` finds part of a username or name, or a complete user id. */
export const participantList = defineList({
  name: 'participants',
  noun: { one: 'participant', many: 'participants' },
  emptyText: 'No users found...', // §2
  fileName: 'data.xlsx', // §7
  fields: participantFields,
  filters: {},
  sorts: { newest: { label: 'Newest', field: 'timestamp', isDescending: true } },
  defaultSort: 'newest',
  pageSizes: [HISTORY_PAGE_SIZE],
  isPagedByCursor: true,
  isOfPeople: true,
})
