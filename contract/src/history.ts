/** Participation history (§2 /history, §3): a document per task or announcement, its participants as a subcollection. */
import { z } from 'zod'
import { call } from './call.ts'
import { cursorField, idField, keysetPageOf, searchField } from './fields.ts'

export const HISTORY_PAGE_SIZE = 50 // §9
export const historyKinds = ['announcement', 'social', 'daily'] as const
export const historyKindField = z.enum(historyKinds)
export type HistoryKind = z.infer<typeof historyKindField>

const missingText = z.string().nullable()

/** The detail of §3. What is missing is null here and `not available` on the page. */
export const historyItem = z.object({
  kind: historyKindField,
  id: idField,
  title: z.string(),
  type: z.string(),
  linkType: missingText,
  link: missingText,
  description: missingText,
  inputText: missingText,
  reward: z.number(),
  /** How many took part. */
  participants: z.int(),
})
export type HistoryItem = z.infer<typeof historyItem>

export const historyParticipant = z.object({
  id: z.int(),
  username: missingText,
  first_name: missingText,
  last_name: missingText,
  userInput: missingText,
  timestamp: z.iso.datetime(),
})
export type HistoryParticipant = z.infer<typeof historyParticipant>

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
