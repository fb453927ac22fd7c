/** What was deleted, and undoing: the trash, from which records are restored or purged, and acts that are taken back. */
import { z } from 'zod'
import { BULK_BODY_LIMIT_BYTES, bulkOutput, bulkRun, bulkTarget } from '#src/bulk.ts'
import { call } from '#src/call.ts'
import { trashFields, trashKindLabels, trashList, type TrashKind } from './fields.ts'
import { filterSchema, orderFields, rowSchema } from '#src/list-schemas.ts'
import { emailField, idField, numberField, pageField, pageFields } from '#src/field-schemas.ts'

const trashFilter = filterSchema(trashList)
const kindField = z.enum(Object.keys(trashKindLabels) as TrashKind[])
const actIdField = z.uuid()

/** What the restored record is to have instead of what somebody else has by now. */
export const restoreInput = z.strictObject({ priority: numberField('Priority').optional(), email: emailField.optional() })

export const trash = {
  list: call(['admin'], { mayBeSecondOld: true })
    .route({ method: 'GET', path: '/api/trash', tags: ['Trash'], summary: 'What was deleted, the latest first, 50 a page' })
    .input(trashFilter.extend({ page: pageField, ...orderFields(trashList) }))
    .output(z.object({ records: z.array(rowSchema(trashFields)), ...pageFields })),
  /** A taken priority or e-mail fails the call with PRIORITY_TAKEN or EMAIL_TAKEN; it is then made with another one. */
  restore: call(['admin'])
    .route({
      method: 'POST',
      path: '/api/trash/restore-one',
      tags: ['Trash'],
      summary: 'Restore a deleted record, perhaps with another priority or e-mail',
    })
    .input(restoreInput.extend({ id: idField }))
    .output(z.object({ success: z.literal(true), kind: kindField, recordId: idField })),
  /** Records whose priority or e-mail is taken stay in the trash and are named with the reason. */
  restoreMany: call(['admin'], { bodyLimitBytes: BULK_BODY_LIMIT_BYTES })
    .route({ method: 'POST', path: '/api/trash/restore', tags: ['Trash'], summary: 'Restore many deleted records' })
    .input(z.strictObject({ target: bulkTarget(trashFilter), ...bulkRun }))
    .output(bulkOutput),
  restoreAct: call(['admin'])
    .route({
      method: 'POST',
      path: '/api/trash/restore-act',
      tags: ['Trash'],
      summary: 'Restore all that one act has deleted, those named whose priority or e-mail is taken',
    })
    .input(z.strictObject({ actId: actIdField }))
    .output(bulkOutput),
  purge: call(['admin'], { bodyLimitBytes: BULK_BODY_LIMIT_BYTES, onFullDisk: 'allowed' })
    .route({
      method: 'POST',
      path: '/api/trash/purge',
      tags: ['Trash'],
      summary: 'Remove deleted records and their files for good',
    })
    .input(z.strictObject({ target: bulkTarget(trashFilter), ...bulkRun }))
    .output(bulkOutput),
}

export const acts = {
  /**
   * Gives priorities and statuses back that an act has changed. If some of the records were changed or deleted since, it fails with
   * CHANGED_SINCE, whose `fields` name them with whoever did it; with `isPartial` the others are undone.
   */
  undo: call(['admin'])
    .route({
      method: 'POST',
      path: '/api/acts/{actId}/undo',
      tags: ['Trash'],
      summary: 'Undo an act that changed priorities or statuses, unless something has changed since',
    })
    .input(z.strictObject({ actId: actIdField, isPartial: z.boolean().default(false) }))
    .output(bulkOutput),
}
