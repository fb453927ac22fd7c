/** The audit, for admins: all entries, and the entries of one record. */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { auditFields, auditList } from './fields.ts'
import { cursorQueryFields, filterSchema, rowSchema } from '#src/list-schemas.ts'
import { countOutput, cursorField, cursorPageFields, exactField, idField, oneCursor } from '#src/field-schemas.ts'

const auditEntry = rowSchema(auditFields)
const auditFilter = filterSchema(auditList)

/** An entry in the history of its record, without the address, site and device of the actor. */
const recordEntry = auditEntry.pick({
  seq: true,
  at: true,
  actorName: true,
  actorKind: true,
  action: true,
  changes: true,
  detail: true,
})
export type RecordEntry = z.infer<typeof recordEntry>

const recordKindField = z.enum(['socialTask', 'dailyTask', 'announcement', 'user'])
const tags = ['Audit']

export const audit = {
  list: call(['admin'], { needs: 'audit.read', mayBeSecondOld: true })
    .route({ method: 'GET', path: '/api/audit', tags, summary: 'The audit trail filtered, newest first, a page at a time' })
    .input(auditFilter.extend(cursorQueryFields(auditList)).refine(...oneCursor))
    .output(
      z.object({
        entries: z.array(auditEntry),
        /** The present names, by id, of the players of entries without a name: entries about balances hold none, so that it can be erased. */
        playerNames: z.record(z.string(), z.string()),
        ...cursorPageFields,
      }),
    ),
  count: call(['admin'], { needs: 'audit.read', mayBeSecondOld: true })
    .route({ method: 'GET', path: '/api/audit/count', tags, summary: 'How many entries a filter matches' })
    .input(auditFilter.extend({ exact: exactField }))
    .output(countOutput),
  ofRecord: call(['admin'], { needs: ['audit.read', 'tasks.read', 'announcements.read', 'users.read', 'players.read'] })
    .route({
      method: 'GET',
      path: '/api/audit/records/{kind}/{id}',
      tags,
      summary: 'What happened to a task, announcement or dashboard user, newest first, 50 a page',
    })
    .input(z.strictObject({ kind: recordKindField, id: idField, after: cursorField.optional() }))
    .output(z.object({ entries: z.array(recordEntry), after: z.string().nullable() })),
}
