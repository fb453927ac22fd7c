/** Participation history (§2 /history, §3): a document per task or announcement, its participants as a subcollection. */
import { z } from 'zod'
import { call } from './call.ts'
import { type Fields, type RowOf, rowSchema } from './entity.ts'
import { cursorField, idField, keysetPageOf, searchField } from './fields.ts'

export const HISTORY_PAGE_SIZE = 50 // §9
/** The kinds of things that players take part in, and what one of each is called. */
export const historyKindLabels = { announcement: 'Announcement', social: 'Social Task', daily: 'Daily Task' } as const
export type HistoryKind = keyof typeof historyKindLabels
export const historyKinds = Object.keys(historyKindLabels) as HistoryKind[]
export const historyKindField = z.enum(historyKinds)

/** The fields of an item's history (§3 History detail). The page shows a missing value as `not available`. */
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
  /** The number of participants. */
  participants: { label: 'Participants', kind: 'integer', isDerived: true },
} as const satisfies Fields
export const historyItem = rowSchema(historyItemFields)
export type HistoryItem = RowOf<typeof historyItemFields>

/** A participant's fields (§3 History participant): the player's names at that moment, and the player's input. */
export const participantFields = {
  id: { label: 'ID', kind: 'integer', sheetWidth: 14 },
  username: { label: 'Username', kind: 'text', isOptional: true, sheetWidth: 20 },
  first_name: { label: 'First Name', kind: 'text', isOptional: true, sheetWidth: 20 },
  last_name: { label: 'Last Name', kind: 'text', isOptional: true, sheetWidth: 20 },
  userInput: { label: 'User Input', kind: 'text', isOptional: true, sheetWidth: 40 },
  timestamp: { label: 'Timestamp', kind: 'moment', sheetWidth: 20 },
} as const satisfies Fields
export const historyParticipant = rowSchema(participantFields)
export type HistoryParticipant = RowOf<typeof participantFields>

const tags = ['History']

export const history = {
  titles: call(['admin'])
    .route({ method: 'GET', path: '/api/history/{kind}', tags, summary: 'The titles of a tab, newest first' })
    .input(z.strictObject({ kind: historyKindField }))
    .output(z.object({ items: z.array(z.object({ id: idField, title: z.string() })) })),
  get: call(['admin'])
    .route({
      method: 'GET',
      path: '/api/history/{kind}/{id}',
      tags,
      summary: 'The details of a task or announcement, also of a deleted one',
    })
    .input(z.strictObject({ kind: historyKindField, id: idField }))
    .output(historyItem),
  participants: call(['admin'])
    .route({
      method: 'GET',
      path: '/api/history/{kind}/{id}/participants',
      tags,
      summary: 'Its participants, newest first, 50 a page',
    })
    .input(
      z
        .strictObject({
          kind: historyKindField,
          id: idField,
          /** Part of a username or name, or a whole user id. */
          search: searchField,
          after: cursorField.optional(),
          before: cursorField.optional(),
        })
        .refine(({ after, before }) => after === undefined || before === undefined, {
          path: ['before'],
          message: 'Give after or before, not both',
        }),
    )
    .output(z.object({ participants: z.array(historyParticipant), ...keysetPageOf })),
}
