/** What a move-in has kept of a record's document because the console has no place for it: shown on the record's page as `From before`. */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { idField } from '#src/field-schemas.ts'

/** The kinds of records that have a page, by the names of the audit. */
export const pageKinds = ['player', 'user', 'socialTask', 'dailyTask', 'announcement'] as const
export type PageKind = (typeof pageKinds)[number]

export const fromBefore = {
  get: call(['admin'])
    .route({
      method: 'GET',
      path: '/api/from-before/{kind}/{id}',
      tags: ['Move in'],
      summary: 'The fields of a record that a move-in has kept and the console does not know; none for other records',
    })
    .input(z.strictObject({ kind: z.enum(pageKinds), id: idField }))
    /** A value that is not a text is shown as JSON, with all digits of its numbers. */
    .output(z.object({ fields: z.array(z.object({ name: z.string(), value: z.string() })) })),
}
