/** What a move-in has kept of a record's document because the console has no place for it: shown on the record's page as `From before`. */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { idField } from '#src/field-schemas.ts'
import { historyKindField } from '#src/history/calls.ts'
import { shownIdParameter } from '#src/players/calls.ts'

/** The kinds of records that have a page: by the names of the audit, and the items of History. */
export const pageKinds = [
  'player',
  'user',
  'socialTask',
  'dailyTask',
  'announcement',
  'socialHistory',
  'dailyHistory',
  'announcementHistory',
] as const
export type PageKind = (typeof pageKinds)[number]

const tags = ['Move in']
/** A value that is not a text is shown as JSON, with all digits of its numbers. */
const fields = z.object({ fields: z.array(z.object({ name: z.string(), value: z.string() })) })

export const fromBefore = {
  get: call(['admin'], { needs: ['history.read', 'players.read', 'tasks.read', 'announcements.read', 'users.read'] })
    .route({
      method: 'GET',
      path: '/api/from-before/{kind}/{id}',
      tags,
      summary: 'The fields of a record that a move-in has kept and the console does not know; none for other records',
    })
    .input(z.strictObject({ kind: z.enum(pageKinds), id: idField }))
    .output(fields),
  /** Needs `players.personal`, too. */
  ofParticipation: call(['admin'], { needs: 'history.read' })
    .route({
      method: 'GET',
      path: '/api/from-before/{kind}/{id}/participants/{userId}',
      tags,
      summary: 'The fields of a participation that a move-in has kept and the console does not know; none for others',
    })
    .input(z.strictObject({ kind: historyKindField, id: idField, userId: shownIdParameter, timestamp: z.iso.datetime() }))
    .output(fields),
}
