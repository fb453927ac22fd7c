/** Verifying the audit trail: every entry is what it was when it was sealed, none is missing, and none came between. */
import { actorCommitmentSql, chainedTextSql, recordCommitmentSql } from '#src/db/audit-hashes.ts'
import type { Database } from '#src/db/database.ts'
import type { Snapshot } from '#src/db/snapshot.ts'
import { sealEntries } from './chain.ts'

/** An entry is read with the one before it, in ranges of so many, so that no sort of all of them is needed. */
const RANGE = 200_000
/** A trail that somebody rewrote differs everywhere; so many findings are enough to tell. */
const FINDINGS_MAX = 20

export interface AuditHead {
  seq: number
  /** Hexadecimal. */
  hash: string
}

export interface AuditVerification {
  entries: number
  /** Parts of entries whose personal data were erased, which only their commitments speak of. */
  erased: number
  /** What is wrong, in plain words; nothing if the trail is whole. */
  findings: string[]
  head: AuditHead
}

/**
 * Seals what is open, then reads the whole chain.
 * @param kept a head that was printed earlier and kept elsewhere: it has to be in the chain
 * @param onProgress is told how many entries have been read
 */
export async function verifyAudit(
  database: Pick<Database, 'db' | 'transaction' | 'snapshot'>,
  { kept, onProgress = () => {} }: { kept?: AuditHead | undefined; onProgress?: (entries: number) => void } = {},
): Promise<AuditVerification> {
  await sealEntries(database, 'wait')
  return database.snapshot(async (snapshot) => {
    const [head] = await snapshot.query<Head>(
      `select seq, encode(hash, 'hex') as hash, base_seq as "baseSeq", encode(base_hash, 'hex') as "baseHash" from audit_head`,
      [],
    )
    if (!head) return { entries: 0, erased: 0, findings: ['The head of the chain is missing.'], head: { seq: 0, hash: '' } }
    const findings: string[] = []
    let entries = 0
    let erased = 0
    let before = { seq: head.baseSeq, hash: head.baseHash }
    const ends = await snapshot.query<{ last: number }>('select coalesce(max(seq), $1::bigint) as last from audit_entries', [
      head.baseSeq,
    ])
    const last = ends[0]?.last ?? 0
    while (before.seq < Math.max(last, head.seq) && findings.length < FINDINGS_MAX) {
      const upTo = before.seq + RANGE
      const [range] = await snapshot.query<Range>(rangeSql, [before.seq, before.hash, upTo])
      entries += range!.entries
      erased += range!.erased
      for (const { seq, isGap, isChanged, isForged } of range!.wrong ?? []) {
        if (isGap) findings.push(`Entries before no. ${seq} are missing, or others were put in.`)
        else if (isChanged) findings.push(`Entry no. ${seq} is not the one that was sealed.`)
        else if (isForged) findings.push(`Entry no. ${seq} says something else than when it was sealed.`)
      }
      before = { seq: upTo, hash: range!.hash ?? before.hash }
      onProgress(entries)
    }
    if (last !== head.seq) findings.push(`The chain ends with no. ${last}, its head says ${head.seq}.`)
    else if (findings.length === 0 && before.hash !== head.hash) findings.push('The head is not that of the chain.')
    if (erased > 0) findings.push(...(await findUnexplained(snapshot)))
    if (head.baseSeq > 0 && !(await isDropKnown(snapshot, head)))
      findings.push(`Entries up to no. ${head.baseSeq} are missing, and no entry tells of their drop.`)
    if (kept && kept.seq <= head.baseSeq) {
      findings.push(
        `The head that was kept, ${kept.seq}:${kept.hash}, is older than the drop of all entries up to no. ${head.baseSeq}: keep the new one.`,
      )
    } else if (kept) {
      const [found] = await snapshot.query<{ hash: string }>(
        `select encode(hash, 'hex') as hash from audit_entries where seq = $1`,
        [kept.seq],
      )
      if (found?.hash !== kept.hash) findings.push(`The head that was kept, ${kept.seq}:${kept.hash}, is not in the chain.`)
    }
    return { entries, erased, findings: findings.slice(0, FINDINGS_MAX), head: { seq: head.seq, hash: head.hash } }
  })
}

/** Erased parts that no erasure tells of: somebody took the salts away, so that commitments cannot be compared any more. */
async function findUnexplained(snapshot: Snapshot): Promise<string[]> {
  const rows = await snapshot.query<{ id: string | null; parts: number }>(
    `select id, count(*)::int as parts from (
       select actor_id as id from audit_entries where actor_salt is null union all select record_id from audit_entries where record_salt is null
     ) as erased group by id
     having count(*) > coalesce((select sum((detail->>'entries')::int) from audit_entries
       where action = 'audit.erase' and record_id = erased.id and record_salt is not null), 0) limit $1`,
    [FINDINGS_MAX],
  )
  return rows.map(
    ({ id, parts }) => `${parts} parts of entries are erased of ${id ?? 'nobody'}, and no entry tells of that erasure.`,
  )
}

async function isDropKnown(snapshot: Snapshot, { baseSeq, baseHash }: Head): Promise<boolean> {
  const [drop] = await snapshot.query(
    `select from audit_entries where action = 'audit.drop' and (detail->>'upTo')::bigint = $1 and detail->>'hash' = $2 limit 1`,
    [baseSeq, baseHash],
  )
  return drop !== undefined
}

interface Head extends AuditHead {
  baseSeq: number
  baseHash: string
}

interface Range {
  entries: number
  erased: number
  /** The hash of the last entry. */
  hash: string | null
  wrong: { seq: number; isGap: boolean; isChanged: boolean; isForged: boolean }[] | null
}

/** $1 and $2: number and hash of the entry before the range. $3: the number at which it ends. */
const rangeSql = `
  with checked as (
    select seq, hash, actor_salt is null or record_salt is null as erased,
           seq <> lag(seq, 1, $1::bigint) over chain + 1 as "isGap",
           hash <> sha256(lag(hash, 1, decode($2, 'hex')) over chain || convert_to(${chainedTextSql('audit_entries', 'audit_entries.seq')}, 'UTF8')) as "isChanged",
           case when actor_salt is null then coalesce(actor_name, address, origin, device) is not null
                else actor_commitment <> ${actorCommitmentSql('audit_entries')} end
             or case when record_salt is null then coalesce(record_name, changes::text, detail::text) is not null
                else record_commitment <> ${recordCommitmentSql('audit_entries')} end as "isForged"
      from audit_entries where seq > $1::bigint and seq <= $3::bigint window chain as (order by seq))
  select count(*)::int as entries, (count(*) filter (where erased))::int as erased,
         (array_agg(encode(hash, 'hex') order by seq desc))[1] as hash,
         json_agg(json_build_object('seq', seq, 'isGap', "isGap", 'isChanged', "isChanged", 'isForged', "isForged"))
           filter (where "isGap" or "isChanged" or "isForged") as wrong
    from checked`
