/** Drops the oldest part of the audit trail, for operators who may keep it for a limited time only. The chain then begins at the cut. */
import { sql, type Transaction } from 'kysely'
import type { Tables } from '#src/db/tables.ts'
import { type Act, audit } from './audit.ts'

/**
 * Drops the sealed entries that precede the first entry written at `before` or later, and returns their number. It writes an entry of its
 * own, which names the number and the hash at which the chain begins from then on.
 */
export async function dropEntries(tx: Transaction<Tables>, act: Act, before: Date): Promise<number> {
  // The lock keeps others from sealing entries during the drop.
  const head = await tx.selectFrom('audit_head').select(['seq', 'base_seq']).forUpdate().executeTakeFirstOrThrow()
  const young = await tx
    .selectFrom('audit_entries')
    .select(sql<number>`min(seq)`.as('seq'))
    .where('at', '>=', before)
    .executeTakeFirstOrThrow()
  const last = (young.seq ?? head.seq + 1) - 1
  if (last <= head.base_seq) return 0
  const { hash } = await tx.selectFrom('audit_entries').select('hash').where('seq', '=', last).executeTakeFirstOrThrow()
  await tx.updateTable('audit_head').set({ base_seq: last, base_hash: hash }).execute()
  await tx.deleteFrom('audit_entries').where('seq', '<=', last).execute()
  await audit(tx, act, 'audit.drop', {
    detail: { entries: last - head.base_seq, upTo: last, hash: hash.toString('hex'), before: before.toISOString() },
  })
  return last - head.base_seq
}
