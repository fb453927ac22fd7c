/**
 * Seals new entries of the audit trail: each gets a number and a hash over itself and all entries before it, so that changing, removing or
 * inserting one is noticed. One server seals at a time. It locks the row of `audit_head`; PostgreSQL releases the lock if the server dies.
 */
import { createHash } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import { chainedTextSql } from '#src/db/audit-hashes.ts'
import type { Database } from '#src/db/database.ts'
import { microsecondsSql, momentParameter } from '#src/db/moments.ts'
import type { Tables } from '#src/db/tables.ts'

/** The columns that open and sealed entries share. */
const ENTRY_COLUMNS =
  'id, at, act_id, action, actor_kind, actor_id, actor_name, address, origin, device, ' +
  'actor_salt, actor_commitment, record_kind, record_id, record_name, changes, detail, record_salt, record_commitment'
const BATCH = 2000
/** Sealed entries after which the table of open entries is vacuumed at once, so that the next query does not scan their dead rows. */
const VACUUM_AFTER_ENTRIES = 20_000

/**
 * Seals all open entries and returns how many it sealed.
 * @param whenBusy what to do while another server or command is sealing: leave the work to it, or wait until it has finished
 */
export async function sealEntries(
  database: Pick<Database, 'db' | 'transaction'>,
  whenBusy: 'leave' | 'wait' = 'leave',
): Promise<number> {
  let total = 0
  let after: OpenEntryKey | undefined
  for (;;) {
    const { sealed, last } = await database.transaction((tx) => sealBatch(tx, whenBusy, after))
    total += sealed
    if (sealed < BATCH) break
    after = last
  }
  if (total >= VACUUM_AFTER_ENTRIES) await sql`vacuum audit_open`.execute(database.db)
  return total
}

/** The position of an open entry in the order of sealing. */
interface OpenEntryKey {
  /** Microseconds since 1970. */
  at: string
  id: string
}

/** @param after the position up to which this run has sealed, so that the query skips the dead rows before it */
async function sealBatch(
  tx: Transaction<Tables>,
  whenBusy: 'leave' | 'wait',
  after: OpenEntryKey | undefined,
): Promise<{ sealed: number; last?: OpenEntryKey }> {
  const { rows: heads } = await sql<{ seq: number; hash: Buffer }>`
    select seq, hash from audit_head for update ${sql.raw(whenBusy === 'leave' ? 'skip locked' : '')}`.execute(tx)
  const [head] = heads
  if (!head) return { sealed: 0 }
  const from = after === undefined ? sql`` : sql`where (at, id) > (${momentParameter(after.at)}, ${after.id}::uuid)`
  const { rows: open } = await sql<OpenEntryKey & { seq: number; text: string }>`
    select ${sql.raw(microsecondsSql('at'))} as at, id, seq, ${sql.raw(chainedTextSql('entry', 'seq'))} as text
      from (select *, ${head.seq}::bigint + row_number() over (order by at, id) as seq
              from (select * from audit_open ${from} order by at, id limit ${sql.lit(BATCH)}) as oldest) as entry
     order by seq`.execute(tx)
  const last = open.at(-1)
  if (!last) return { sealed: 0 }
  let { hash } = head
  const hashes = open.map(({ text }) => (hash = createHash('sha256').update(hash).update(text).digest()))
  const columns = sql.raw(ENTRY_COLUMNS)
  // Other entries lie between the first and the last one only if they were committed in the meantime: the next run seals them.
  await sql`
    with sealed as materialized (
      select * from unnest(${open.map(({ id }) => id)}::uuid[], ${open.map(({ seq }) => seq)}::bigint[], ${hashes}::bytea[]) as sealed (id, seq, hash)),
    gone as (
      delete from audit_open using sealed where audit_open.id = sealed.id
         and at between ${momentParameter(open[0]!.at)} and ${momentParameter(last.at)} returning audit_open.*)
    insert into audit_entries (${columns}, seq, hash)
    select ${columns}, seq, hash from gone join sealed using (id) order by seq`.execute(tx)
  await tx.updateTable('audit_head').set({ seq: last.seq, hash }).execute()
  return { sealed: open.length, last }
}
