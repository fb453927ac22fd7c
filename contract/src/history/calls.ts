/** Participation history (§2 /history, §3): a document per task or announcement, its participants as a subcollection. */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { historyItemFields, historyKinds, participantFields } from './fields.ts'
import { rowSchema } from '#src/list-schemas.ts'
import { cursorField, idField, countedCursorPageFields, searchField } from '#src/field-schemas.ts'

export const historyKindField = z.enum(historyKinds)

export const historyItem = rowSchema(historyItemFields)
export const historyParticipant = rowSchema(participantFields).extend({
  /** Whether a move-in has kept fields of it that the console does not know and the caller may see: `GET /api/from-before/…` returns them. */
  hasFromBefore: z.boolean(),
})
export type ListedParticipant = z.infer<typeof historyParticipant>
const tags = ['History']

export const history = {
  titles: call(['admin'], { needs: 'history.read', mayBeSecondOld: true })
    .route({ method: 'GET', path: '/api/history/{kind}', tags, summary: 'The titles of a tab, newest first' })
    .input(z.strictObject({ kind: historyKindField }))
    .output(
      z.object({
        items: z.array(
          z.object({
            id: idField,
            title: z.string(),
            participants: z.int(),
            createdAt: z.iso.datetime(),
            /** The task or announcement was deleted. */
            isDeleted: z.boolean(),
          }),
        ),
      }),
    ),
  get: call(['admin'], { needs: 'history.read', mayBeSecondOld: true })
    .route({
      method: 'GET',
      path: '/api/history/{kind}/{id}',
      tags,
      summary: 'The details of a task or announcement, also of a deleted one',
    })
    .input(z.strictObject({ kind: historyKindField, id: idField }))
    .output(historyItem),
  participants: call(['admin'], { needs: 'history.read', mayBeSecondOld: true })
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
          /** Part of a username or name, or a complete user id. */
          search: searchField,
          after: cursorField.optional(),
          before: cursorField.optional(),
        })
        .refine(({ after, before }) => after === undefined || before === undefined, {
          path: ['before'],
          message: 'Give after or before, not both',
        }),
    )
    .output(z.object({ participants: z.array(historyParticipant), ...countedCursorPageFields })),
}
