/** Bulk calls act on many rows: picked ones, or all that a filter matches. A dry run comes first, and a person confirms its summary. */
import { z } from 'zod'
import { MAX_BULK_IDS } from './entity.ts'
import { type ErrorCode, errorCatalogue } from './errors.ts'
import { idField } from './field-schemas.ts'

export const MAX_BULK_BODY_BYTES = 2 * 1024 * 1024

/** The rows that a call acts on: picked rows, or all that a filter matches. An empty filter matches all rows. */
export type Target<Filter> = { ids: string[] } | { filter: Filter }

const TARGET_RULE = `target must be {ids} with 1 to ${MAX_BULK_IDS} ids, or {filter} with a filter of the list`

/** Returns the schema of a target. */
export function bulkTarget<Filter extends z.ZodType>(filter: Filter) {
  return z.union([z.strictObject({ ids: z.array(idField).min(1).max(MAX_BULK_IDS) }), z.strictObject({ filter })], TARGET_RULE)
}

/** Most affected rows that are named with their titles; `affected` counts all of them. */
export const BULK_NAMED_ROWS = 10

/** Most refused rows that are named with the reason; `refused` counts all of them. */
export const BULK_SHOWN_REFUSALS = 20

/**
 * The result of a bulk call, or of its dry run. The caller sends the `affected` of the dry run as `expected`; if the number has changed,
 * the call fails with STALE and does nothing.
 */
export const bulkOutput = z.object({
  success: z.literal(true),
  affected: z.int(),
  named: z.array(z.object({ id: idField, title: z.string() })),
  refused: z.int(),
  /** `code` is the error that the same act would return for this row alone, if there is one. */
  refusals: z.array(
    z.object({
      id: idField,
      title: z.string(),
      reason: z.string(),
      code: z.enum(Object.keys(errorCatalogue) as ErrorCode[]).optional(),
    }),
  ),
})
export type BulkOutput = z.infer<typeof bulkOutput>

export const bulkRun = { dryRun: z.boolean().default(false), expected: z.int().min(0).optional() }
