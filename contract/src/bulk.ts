/** Acting on many rows at once: on picked ones, or on all that a filter matches; first as a dry run whose summary one confirms. */
import { z } from 'zod'
import { idField } from './fields.ts'

/** Picked rows that one call acts on; beyond that, a filter. */
export const BULK_MAX_IDS = 10_000
export const BULK_BODY_LIMIT_BYTES = 2 * 1024 * 1024

/** The rows to act on: these, or all that `filter` matches (an empty one matches all). */
export function bulkTarget<Filter extends z.ZodType>(filter: Filter) {
  return z.union([z.strictObject({ ids: z.array(idField).min(1).max(BULK_MAX_IDS) }), z.strictObject({ filter })])
}

/** Rows that are left alone, and why; at most `BULK_SHOWN_REFUSALS` are named, `refused` counts all. */
export const BULK_SHOWN_REFUSALS = 20

/**
 * What was done, or with `dryRun` would be. `expected` of a call is the `affected` of its dry run: if other rows would be affected
 * by now the call answers STALE and does nothing.
 */
export const bulkOutput = z.object({
  success: z.literal(true),
  affected: z.int(),
  refused: z.int(),
  refusals: z.array(z.object({ id: idField, title: z.string(), reason: z.string() })),
})
export type BulkOutput = z.infer<typeof bulkOutput>

export const bulkRun = { dryRun: z.boolean().default(false), expected: z.int().min(0).optional() }
