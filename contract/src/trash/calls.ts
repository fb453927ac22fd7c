/** The trash, from which deleted records are restored or purged, and undoing acts. */
import { z } from 'zod'
import { MAX_BULK_BODY_BYTES, bulkOutput, bulkRun, bulkTarget } from '#src/bulk.ts'
import { call } from '#src/call.ts'
import { trashFields, trashKindLabels, trashList, type TrashKind } from './fields.ts'
import { filterSchema, orderFields, rowSchema } from '#src/list-schemas.ts'
import { emailField, idField, numberField, pageField, pageFields } from '#src/field-schemas.ts'

const trashFilter = filterSchema(trashList)
const kindField = z.enum(Object.keys(trashKindLabels) as TrashKind[])
const actIdField = z.uuid()

/** New values for the restored record, if another record uses its old ones now. */
export const restoreInput = z.strictObject({ priority: numberField('Priority').optional(), email: emailField.optional() })

/** How many tasks come back paused, because their segment is gone. */
const pausedTasks = { pausedTasks: z.int() }

export const trash = {
  list: call(['admin'], { needs: 'trash.manage', mayBeSecondOld: true })
    .route({ method: 'GET', path: '/api/trash', tags: ['Trash'], summary: 'What was deleted, the latest first, 50 a page' })
    .input(trashFilter.extend({ page: pageField, ...orderFields(trashList) }))
    .output(z.object({ records: z.array(rowSchema(trashFields)), ...pageFields })),
  /** Fails with PRIORITY_TAKEN or EMAIL_TAKEN if the priority or e-mail is taken; the caller can then send another one. */
  restore: call(['admin'], { needs: 'trash.manage' })
    .route({
      method: 'POST',
      path: '/api/trash/restore-one',
      tags: ['Trash'],
      summary: 'Restore a deleted record, perhaps with another priority or e-mail',
    })
    .input(restoreInput.extend({ id: idField }))
    .output(z.object({ success: z.literal(true), kind: kindField, recordId: idField, ...pausedTasks })),
  /** Records whose priority or e-mail is taken stay in the trash, and are named with the reason. */
  restoreMany: call(['admin'], { needs: 'trash.manage', bodyLimitBytes: MAX_BULK_BODY_BYTES })
    .route({ method: 'POST', path: '/api/trash/restore', tags: ['Trash'], summary: 'Restore many deleted records' })
    .input(z.strictObject({ target: bulkTarget(trashFilter), ...bulkRun }))
    .output(bulkOutput.extend(pausedTasks)),
  restoreAct: call(['admin'], { needs: ['trash.manage', 'tasks.write', 'announcements.write', 'users.write'] })
    .route({
      method: 'POST',
      path: '/api/trash/restore-act',
      tags: ['Trash'],
      summary: 'Restore all that one act has deleted, those named whose priority or e-mail is taken',
    })
    .input(z.strictObject({ actId: actIdField }))
    .output(bulkOutput.extend(pausedTasks)),
  purge: call(['admin'], { needs: 'trash.manage', bodyLimitBytes: MAX_BULK_BODY_BYTES, onFullDisk: 'allowed' })
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
   * Restores the priorities and statuses that an act changed. If some of the records were changed or deleted since, it fails with
   * CHANGED_SINCE, whose `fields` name these records and who changed them. With `isPartial` the other records are undone.
   */
  undo: call(['admin'], { needs: ['tasks.write', 'announcements.write', 'players.block'] })
    .route({
      method: 'POST',
      path: '/api/acts/{actId}/undo',
      tags: ['Trash'],
      summary: 'Undo an act that changed priorities or statuses, unless something has changed since',
    })
    .input(z.strictObject({ actId: actIdField, isPartial: z.boolean().default(false) }))
    .output(bulkOutput),
}
