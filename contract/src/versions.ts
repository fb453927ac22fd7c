/** Bringing a record back to how an entry of its history left it. That is a new change: nothing of the history is rewritten. */
import { z } from 'zod'
import { idField, versionField } from './field-schemas.ts'

/**
 * `seq` is the number of the entry that left the record as it is wanted, or 0 for how it was before the oldest entry there is: what was
 * imported has none of its own. `version` is the present one that the caller saw. A dry run tells what would change.
 */
export const restoreInput = z.strictObject({
  id: idField,
  seq: z.int().min(0),
  version: versionField,
  dryRun: z.boolean().default(false),
})

/** `changes` is a JSON text as in the audit trail. `missing` names files of that version that are stored no more: it comes back without them. */
export const restoreOutput = z.object({
  success: z.literal(true),
  changes: z.string(),
  missing: z.array(z.enum(['image', 'icon'])),
})
