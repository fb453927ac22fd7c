/** The audit trail, for admins: who did what, and what happened to one record. */
import { z } from 'zod'
import { call } from './call.ts'
import { auditFields, auditList } from './entities/audit.ts'
import { filterSchema, orderFields, rowSchema } from './entity-schemas.ts'
import { cursorField, idField, keysetPageFields } from './fields.ts'
import { numberParameter } from './numbers.ts'

const auditEntry = rowSchema(auditFields)
const auditFilter = filterSchema(auditList)

/** An entry as the history of its record shows it: nothing of where the act came from. */
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

const itemKindField = z.enum(['socialTask', 'dailyTask', 'announcement'])
const pageSizeField = numberParameter.pipe(z.literal(auditList.pageSizes)).default(auditList.pageSizes[0])
const recordOutput = z.object({ entries: z.array(recordEntry), after: z.string().nullable() })
const tags = ['Audit']

export const audit = {
  list: call(['admin'])
    .route({ method: 'GET', path: '/api/audit', tags, summary: 'The audit trail filtered, newest first, a page at a time' })
    .input(
      auditFilter
        .extend({
          ...orderFields(auditList),
          pageSize: pageSizeField,
          after: cursorField.optional(),
          before: cursorField.optional(),
        })
        .refine(({ after, before }) => after === undefined || before === undefined, {
          path: ['before'],
          message: 'Give after or before, not both',
        }),
    )
    /** `total` and `pageCount` are null for a filtered list that is too long to be counted with its rows; `count` counts it. */
    .output(
      z.object({
        entries: z.array(auditEntry),
        ...keysetPageFields,
        pageCount: z.int().nullable(),
        total: z.int().nullable(),
      }),
    ),
  count: call(['admin'])
    .route({ method: 'GET', path: '/api/audit/count', tags, summary: 'How many entries a filter matches' })
    .input(auditFilter)
    .output(z.object({ total: z.int() })),
  ofItem: call(['admin'])
    .route({
      method: 'GET',
      path: '/api/audit/items/{kind}/{id}',
      tags,
      summary: 'What happened to a task or announcement, newest first, 50 a page',
    })
    .input(z.strictObject({ kind: itemKindField, id: idField, after: cursorField.optional() }))
    .output(recordOutput),
  ofUser: call(['admin'])
    .route({
      method: 'GET',
      path: '/api/audit/users/{id}',
      tags,
      summary: 'What happened to a dashboard user, newest first, 50 a page',
    })
    .input(z.strictObject({ id: idField, after: cursorField.optional() }))
    .output(recordOutput),
}
