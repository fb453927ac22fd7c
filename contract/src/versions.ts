/** Restoring an earlier version of a record. This is a new change; the history is never rewritten. */
import { z } from 'zod'
import { idField, versionField } from './field-schemas.ts'

/**
 * `seq` is the number of the audit entry whose resulting version is restored, or 0 for the version before the oldest entry, because
 * imported records have no entry. `version` is the current version that the caller saw. A dry run returns what would change.
 */
export const restoreInput = z.strictObject({
  id: idField,
  seq: z.int().min(0),
  version: versionField,
  dryRun: z.boolean().default(false),
})

/**
 * `changes` is JSON as in the audit. `missing` names files of that version that are no longer stored; the record is restored without them.
 */
export const restoreOutput = z.object({
  success: z.literal(true),
  changes: z.string(),
  missing: z.array(z.enum(['image', 'icon'])),
})
