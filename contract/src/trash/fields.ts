/** The trash: deleted records that can still be restored, and the list of them. */
import { recordKindLabels } from '#src/audit/fields.ts'
import { defineList, type Fields, type FilterOf, type RowOf, type SortName } from '#src/entity.ts'

/** The kinds of records that go to the trash when they are deleted. */
export const trashKindLabels = {
  socialTask: recordKindLabels.socialTask,
  dailyTask: recordKindLabels.dailyTask,
  announcement: recordKindLabels.announcement,
  user: recordKindLabels.user,
} as const
export type TrashKind = keyof typeof trashKindLabels

/** A deleted record's fields, in the order of the list's columns. `recordId` is the record's own id, which it keeps when restored. */
export const trashFields = {
  id: { label: 'ID', kind: 'text' },
  name: { label: 'Name', kind: 'text', sheetWidth: 40 },
  kind: { label: 'Kind', kind: 'choice', options: trashKindLabels, sheetWidth: 16 },
  /** The record's unique value: a task's priority or a user's e-mail. */
  priorityOrEmail: { label: 'Priority or Email', kind: 'text', isOptional: true, isDerived: true, sheetWidth: 32 },
  deletedAt: { label: 'Deleted At', kind: 'moment', sheetWidth: 24 },
  deletedBy: { label: 'Deleted By', kind: 'text', isOptional: true, sheetWidth: 24 },
  expiresAt: { label: 'Kept Until', kind: 'moment', sheetWidth: 24 },
  recordId: { label: 'Record ID', kind: 'text', sheetWidth: 38 },
  /** The same act deleted other records that are still in the trash. */
  hasOthersOfAct: { label: 'Deleted With Others', kind: 'flag', isDerived: true, sheetWidth: 20 },
  /** The act that deleted the record: the request id in the audit. */
  actId: { label: 'Request', kind: 'text', sheetWidth: 38 },
} as const satisfies Fields
export type TrashedRecord = RowOf<typeof trashFields>

/** `search` finds part of a name, link or e-mail. */
export const trashList = defineList({
  name: 'trash',
  noun: { one: 'deleted record', many: 'deleted records' },
  emptyText: 'The trash is empty.',
  fileName: 'trash.xlsx',
  fields: trashFields,
  filters: {
    kind: { label: 'Kind', kind: 'choice', field: 'kind', options: trashKindLabels },
    actId: { label: 'Request', kind: 'text', field: 'actId', options: {} },
    deletedFrom: { label: 'From', kind: 'from', field: 'deletedAt' },
    deletedBefore: { label: 'Until', kind: 'before', field: 'deletedAt', dayName: 'deletedUntil' },
  },
  sorts: {
    deleted: { label: 'Deleted', field: 'deletedAt', isDescending: true },
    name: { label: 'Name', field: 'name' },
    kind: { label: 'Kind', field: 'kind' },
  },
  defaultSort: 'deleted',
  pageSizes: [50], // §9
})
export type TrashFilter = FilterOf<typeof trashList>
export type TrashSort = SortName<typeof trashList>
