/** The audit trail of every admin act, written in the transaction of the act itself (security.md, Operations). */
import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { CallContext } from '#src/calls.ts'
import type { Tables } from '#src/db/tables.ts'

/** An entry names so many of the rows it is about, beside the number of all. */
export const AUDITED_IDS = 1000

/** What an entry about many rows says of them. @param count of all rows, where `ids` are the first ones only */
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
