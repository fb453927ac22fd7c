/** The audit trail of every admin act, written in the transaction of the act itself (security.md, Operations). */
import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { CallContext } from '#src/calls.ts'
import type { Tables } from '#src/db/tables.ts'

/** An entry about many rows names at most so many of them, beside their number. */
export const AUDITED_IDS = 1000

/** The detail of an entry about many rows. @param count the number of all rows, of which `ids` may hold only the first */
export function auditedRows(ids: readonly string[], count = ids.length): { count: number; ids: string[] } {
  return { count, ids: ids.slice(0, AUDITED_IDS) }
}

/** Records `action` (`user.remove`, say) on `target`, an id; `detail` must hold no secret. */
export async function audit(
  tx: Kysely<Tables>,
  context: CallContext,
  entry: { action: string; target: string; detail?: Record<string, unknown> },
): Promise<void> {
  const { caller } = context
  await tx
    .insertInto('audit_log')
    .values({
      id: randomUUID(),
      actor_id: caller.kind === 'user' ? caller.user.id : caller.kind === 'bot' ? `bot:${caller.id}` : null,
      action: entry.action,
      target: entry.target,
      detail: JSON.stringify(entry.detail ?? {}),
      request_id: context.requestId,
      address: context.address,
      origin: context.origin ?? null,
    })
    .execute()
}
