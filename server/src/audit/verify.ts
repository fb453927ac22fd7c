/** Verifies the audit trail: no entry was changed, removed or inserted since it was sealed. */
import { actorCommitmentSql, chainedTextSql, recordCommitmentSql } from '#src/db/audit-hashes.ts'
import type { Database } from '#src/db/database.ts'
import type { Snapshot } from '#src/db/snapshot.ts'
import { sealEntries } from './chain.ts'

/** Entries of one range: reading the chain range by range needs no sort of all entries. */
const RANGE_ENTRIES = 100_000
/** Ranges that are read at the same time, each on its own connection. */
const READERS = 2
/** The most findings that are reported: a rewritten trail differs at every entry, and twenty show that. */
const MAX_FINDINGS = 20

export interface AuditHead {
  seq: number
  /** SHA-256, in hexadecimal. */
  hash: string
}

export interface AuditVerification {
  entries: number
  /** Parts of entries whose personal data were erased: only their commitments are left. */
  erased: number
  /** What is wrong, as sentences; empty if the trail is intact. */
  findings: string[]
  head: AuditHead
  /** The number of open entries and why they could not be sealed, for example because the disk is full. */
  unsealed: { entries: number; reason: string } | undefined
}

export interface VerifyOptions {
  /** A head that an earlier verification printed and the operator kept elsewhere: the chain must contain it. */
  kept?: AuditHead | undefined
  /** Called with the number of entries read so far. */
  onProgress?: (entries: number) => void
  /** Entries of one range; tests set a smaller number. */
  range?: number
}

type Readable = Pick<Database, 'db' | 'transaction' | 'snapshot'>

/** Seals the open entries, then reads the whole chain. If the database cannot be written, it reads the sealed entries only. */
export async function verifyAudit(database: Readable, options: VerifyOptions = {}): Promise<AuditVerification> {
  const { kept, onProgress = () => {}, range: size = RANGE_ENTRIES } = options
  const failure = await sealEntries(database, 'wait').then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
  return database.snapshot(async (snapshot) => {
    const unsealed = failure === undefined ? undefined : { entries: await countOpen(snapshot), reason: failure }
    const [head] = await snapshot.query<Head>(headSql)
    if (!head)
      return { entries: 0, erased: 0, findings: ['The head of the chain is missing.'], head: { seq: 0, hash: '' }, unsealed }
    const { last, lastHash } = (
      await snapshot.query<{ last: number; lastHash: string }>(lastSql, [head.baseSeq, head.baseHash])
    )[0]!
    const chain = { from: head.baseSeq, hash: head.baseHash, upTo: last, size }
    const { entries, erased, findings } = await readRanges(database, snapshot, { chain, onProgress })
    findings.push(...(await findEarly(snapshot, head)))
    if (last !== head.seq) findings.push(`The chain ends with no. ${last}, its head says ${head.seq}.`)
    else if (findings.length === 0 && lastHash !== head.hash) findings.push('The head is not that of the chain.')
    if (erased > 0) findings.push(...(await findUnexplained(snapshot)))
    if (head.baseSeq > 0 && !(await isDropKnown(snapshot, head)))
      findings.push(`Entries up to no. ${head.baseSeq} are missing, and no entry records that they were dropped.`)
    if (kept) findings.push(...(await checkKept(snapshot, head, kept)))
    const { seq, hash } = head
    return { entries, erased, findings: findings.slice(0, MAX_FINDINGS), head: { seq, hash }, unsealed }
  })
}

/** Finds entries before the first one of the chain. */
async function findEarly(snapshot: Snapshot, { baseSeq }: Head): Promise<string[]> {
  const early = await countUpTo(snapshot, baseSeq)
  if (early === 0) return []
  return [`The chain begins after no. ${baseSeq}, but ${early} entries have numbers up to it: they were put in.`]
}

/** Checks that the chain contains the head that an operator has kept elsewhere. */
async function checkKept(
  snapshot: Snapshot,
  { baseSeq, baseHash }: Head,
  { seq, hash }: NonNullable<VerifyOptions['kept']>,
): Promise<string[]> {
  if (seq < baseSeq)
    return [
      `The head that was kept, ${seq}:${hash}, is older than the drop of all entries up to no. ${baseSeq}: keep the new one.`,
    ]
  const [found] = await snapshot.query<{ hash: string }>(`select encode(hash, 'hex') as hash from audit_entries where seq = $1`, [
    seq,
  ])
  const chained = seq === baseSeq ? baseHash : found?.hash // the head still has the hash of the last dropped entry
  return chained === hash ? [] : [`The head that was kept, ${seq}:${hash}, is not in the chain.`]
}

interface Reading {
  /** `hash` belongs to the entry numbered `from`, which precedes the first one of the chain. */
  chain: { from: number; hash: string; upTo: number; size: number }
  onProgress: (entries: number) => void
}

/** Reads the chain in ranges, several at the same time, all within one snapshot. */
async function readRanges(
  database: Readable,
  snapshot: Snapshot,
  { chain: { from, hash, upTo, size }, onProgress }: Reading,
): Promise<Pick<AuditVerification, 'entries' | 'erased' | 'findings'>> {
  const [view] = await snapshot.query<{ id: string }>('select pg_export_snapshot() as id')
  const wrong: BrokenEntry[] = []
  let [entries, erased, next] = [0, 0, from]
  const read = async (reader: Snapshot): Promise<void> => {
    while (next < upTo && wrong.length < MAX_FINDINGS) {
      const before = next
      next += size
      const [range] = await reader.query<Range>(rangeSql, [before, before === from ? hash : null, before + size])
      entries += range!.entries
      erased += range!.erased
      wrong.push(...(range!.wrong ?? []))
      next = Math.max(next, (range!.following ?? upTo + 1) - 1)
      onProgress(entries)
    }
  }
  const readBeside = (): Promise<void> =>
    database.snapshot(async (reader) => {
      await reader.query(`set transaction snapshot '${view!.id}'`)
      await read(reader)
    })
  const readers = Math.min(READERS, Math.ceil((upTo - from) / size))
  await Promise.all(Array.from({ length: readers }, (_, index) => (index === 0 ? read(snapshot) : readBeside())))
  return { entries, erased, findings: wrong.toSorted((a, b) => a.seq - b.seq).map(describeWrong) }
}

function describeWrong({ seq, isGap, isChanged }: BrokenEntry): string {
  if (isGap) return `Entries before no. ${seq} are missing, or others were put in.`
  if (isChanged) return `Entry no. ${seq}: its hash does not match the entry and the one before it.`
  return `Entry no. ${seq}: what it says does not match its commitment.`
}

async function countUpTo(snapshot: Snapshot, seq: number): Promise<number> {
  const [found] = await snapshot.query<{ entries: number }>('select count(*) as entries from audit_entries where seq <= $1', [
    seq,
  ])
  return found!.entries
}

async function countOpen(snapshot: Snapshot): Promise<number> {
  const [open] = await snapshot.query<{ entries: number }>('select count(*) as entries from audit_open')
  return open!.entries
}

/** Finds erased parts that no erasure explains: somebody removed the salts so that the commitments cannot be compared any more. */
async function findUnexplained(snapshot: Snapshot): Promise<string[]> {
  const rows = await snapshot.query<{ id: string | null; parts: number }>(
    `select id, count(*)::int as parts from (
       select actor_id as id from audit_entries where actor_salt is null union all select record_id from audit_entries where record_salt is null
     ) as erased group by id
     having count(*) > coalesce((select sum((detail->>'entries')::int) from audit_entries
       where action = 'audit.erase' and record_id = erased.id and record_salt is not null), 0) limit $1`,
    [MAX_FINDINGS],
  )
  return rows.map(({ id, parts }) => `${parts} parts of entries about ${id ?? 'nobody'} were erased, and no entry records that.`)
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
  wrong: BrokenEntry[] | null
  /** The number of the first entry after the range, which a forger may have set far ahead. */
  following: number | null
}

interface BrokenEntry {
  seq: number
  isGap: boolean
  isChanged: boolean
}

const headSql = `select seq, encode(hash, 'hex') as hash, base_seq as "baseSeq", encode(base_hash, 'hex') as "baseHash" from audit_head`

/** $1 and $2: the number and hash before the first entry; they are also the last ones of a chain without entries. */
const lastSql = `
  select coalesce(max(seq), $1::bigint) as last,
         coalesce((select encode(hash, 'hex') from audit_entries order by seq desc limit 1), $2::text) as "lastHash"
    from audit_entries`

/** $1: the number of the entry before the range. $2: its hash, for when that entry does not exist. $3: the last number of the range. */
const rangeSql = `
  with before as (select coalesce(decode($2, 'hex'), (select hash from audit_entries where seq = $1::bigint)) as hash),
  checked as (
    select seq, actor_salt is null or record_salt is null as erased,
           seq is distinct from lag(seq, 1, (select case when hash is not null then $1::bigint end from before)) over chain + 1 as "isGap",
           hash is distinct from sha256(lag(hash, 1, (select hash from before)) over chain || convert_to(${chainedTextSql('audit_entries', 'audit_entries.seq')}, 'UTF8')) as "isChanged",
           case when actor_salt is null then coalesce(actor_name, address, origin, device) is not null
                else actor_commitment <> ${actorCommitmentSql('audit_entries')} end
             or case when record_salt is null then coalesce(record_name, changes::text, detail::text) is not null
                else record_commitment <> ${recordCommitmentSql('audit_entries')} end as "isForged"
      from audit_entries where seq > $1::bigint and seq <= $3::bigint window chain as (order by seq))
  select count(*)::int as entries, (count(*) filter (where erased))::int as erased,
         json_agg(json_build_object('seq', seq, 'isGap', "isGap", 'isChanged', "isChanged"))
           filter (where "isGap" or "isChanged" or "isForged") as wrong,
         (select min(seq) from audit_entries where seq > $3::bigint) as following
    from checked`
