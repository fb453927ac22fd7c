/**
 * The audit trail: the cost of an audit entry for the act that writes it, the speed of verifying, and pages of /audit against the bare
 * limit, each with another date, person or record. `--large` has ten million entries instead of one million.
 */
import { randomUUID } from 'node:crypto'
import { CompiledQuery, sql, type Transaction } from 'kysely'
import type { AuditChanges } from '@arcade/contract/audit/fields'
import { type Act, actOfProcess, audit } from '../server/src/audit/audit.ts'
import { sealEntries } from '../server/src/audit/chain.ts'
import { verifyAudit } from '../server/src/audit/verify.ts'
import { writeHistoryItems } from '../server/src/items/history-items.ts'
import { lockPriorities } from '../server/src/items/priorities.ts'
import type { Tables } from '../server/src/db/tables.ts'
import { planOnce } from '../server/src/postgres/connections.ts'
import {
  IS_LARGE,
  type Measured,
  measure,
  median,
  middle,
  report,
  reportRate,
  reportTail,
  ROUND_SECONDS,
  show,
  startBare,
  startBenchServer,
  stopProcess,
} from './measuring.ts'

const WRITE_BUDGET = 1.1
const VERIFY_BUDGET = 200_000
const PAGE_BUDGET = 0.6
const SEALED = 200_000
const WRITES = 2000
const WARM_UP = 200
/** Dates before which pages end, so that equal questions are seldom asked at the same time. */
const DIFFERENT = 1000
const ENTRIES = IS_LARGE ? 10_000_000 : 1_000_000

const BARE_INSERT = `
  insert into bare_entries (id, act_id, actor_salt, record_salt, action, actor_kind, actor_id, actor_name, address, record_kind, record_id,
    record_name, changes, detail, actor_commitment, record_commitment)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`

const server = await startBenchServer()
const { database } = server
const { db } = database

await measureWrites()
await measureChain()
await addEntries()
await measurePages()
await server.stop()

/**
 * Updates a task as features/tasks does it: without its audit entry, with it, and with a bare INSERT of as many bytes into a table of the same
 * columns, without hashes and the event for webhooks. The ways take turns, so that other work of the machine slows all alike.
 */
async function measureWrites(): Promise<void> {
  await sql`insert into tasks (collection, id, image, priority, title, link, reward)
    select 'social', 't' || n, 'twitter', n, 'Follow us on X ' || n, 'https://x.com/moon', 5 from generate_series(1, 50) n`.execute(
    db,
  )
  await sql`create table bare_entries (like audit_open including all)`.execute(db)
  planOnce(BARE_INSERT)
  const act: Act = { ...actOfProcess('command', 'Ada Lovelace'), kind: 'user', actorId: randomUUID(), address: '192.0.2.7' }
  const commitment = Buffer.alloc(32, 7)
  const ways: Record<'with' | 'without' | 'bare', (tx: Transaction<Tables>, entry: WrittenEntry) => Promise<unknown>> = {
    without: () => Promise.resolve(),
    with: (tx, entry) => audit(tx, act, 'task.update', entry),
    bare: (tx, { record, changes, detail }) => {
      const ids = [randomUUID(), act.id, randomUUID(), randomUUID()]
      const texts = ['task.update', act.kind, act.actorId, act.actorName, act.address, record.kind, record.id, record.name]
      const values = [...ids, ...texts, JSON.stringify(changes), JSON.stringify(detail), commitment, commitment]
      return tx.executeQuery(CompiledQuery.raw(BARE_INSERT, values))
    },
  }
  const names = Object.keys(ways) as (keyof typeof ways)[]
  const times = { with: [] as number[], without: [] as number[], bare: [] as number[] }
  for (let n = 1; n <= WRITES; n += 1)
    for (let turn = 0; turn < names.length; turn += 1) {
      const way = names[(n + turn) % names.length]!
      const started = performance.now()
      await database.transaction(async (tx) => ways[way](tx, await updateTask(tx, n)))
      if (n > WARM_UP) times[way].push(performance.now() - started)
    }
  const limit = median(times.without)
  const unit = 'ms'
  report('updating a task with its audit entry, against without', {
    ours: median(times.with),
    limit,
    unit,
    atMost: WRITE_BUDGET,
  })
  report('updating a task with one more bare INSERT, against without', { ours: median(times.bare), limit, unit })
  await sealEntries(database)
}

interface WrittenEntry {
  record: { kind: 'socialTask'; id: string; name: string }
  changes: AuditChanges
  detail: { version: number }
}

async function updateTask(tx: Transaction<Tables>, n: number): Promise<WrittenEntry> {
  await lockPriorities(tx, 'social')
  const id = `t${1 + (n % 50)}`
  const name = `Follow us on X ${n}`
  await tx.selectFrom('tasks').selectAll().where('collection', '=', 'social').where('id', '=', id).forUpdate().execute()
  await tx
    .updateTable('tasks')
    .set({ title: name, reward: n, version: sql`version + 1` })
    .where('collection', '=', 'social')
    .where('id', '=', id)
    .execute()
  await writeHistoryItems(tx, 'social', { changed: [id] })
  const changes: AuditChanges = { title: [`Follow us on X ${n - 1}`, name], reward: [n - 1, n] }
  return { record: { kind: 'socialTask', id, name }, changes, detail: { version: n } }
}

async function measureChain(): Promise<void> {
  const act = actOfProcess('system', 'bench')
  const entries = Array.from({ length: 5000 }, (_, n) => ({
    record: { kind: 'announcement' as const, id: randomUUID(), name: `Season ${n}` },
    changes: { title: [`Season ${n - 1}`, `Season ${n}`] as const, reward: [n, n + 1] as const },
    detail: { version: 2 },
  }))
  for (let written = 0; written < SEALED; written += entries.length) await audit(db, act, 'announcement.update', entries)
  await sealEntries(database, 'wait')
  await sql`vacuum analyze audit_entries`.execute(db)
  const begun = performance.now()
  const { entries: read, findings } = await verifyAudit(database)
  const rate = (read / (performance.now() - begun)) * 1000
  if (findings.length > 0) throw new Error(findings.join('\n'))
  report(`verifying ${SEALED.toLocaleString('en')} entries`, { ours: rate, unit: 'entries/s', atLeast: VERIFY_BUDGET })
}

/** Pages need no valid chain, so one statement adds the other entries without indexes, which are created afterwards. */
async function addEntries(): Promise<void> {
  const { rows: indexes } = await sql<{ name: string; definition: string }>`
    select indexname as name, indexdef as definition from pg_indexes where tablename = 'audit_entries' and indexname <> 'audit_entries_seq_key'`.execute(
    db,
  )
  for (const { name } of indexes) await sql`drop index ${sql.ref(name)}`.execute(db)
  await sql`insert into audit_entries (id, at, act_id, action, actor_kind, actor_id, actor_name, address, actor_salt, actor_commitment,
      record_kind, record_id, record_name, changes, record_salt, record_commitment, seq, hash)
    select md5(n::text)::uuid, now() - (${ENTRIES}::bigint - n) * interval '1 second', md5('a' || n)::uuid,
      case when n % 100000 = 0 then 'user.role' else (array['task.update', 'task.create', 'announcement.update', 'session.begin'])[1 + n % 4] end,
      'user', 'u' || n % 200, 'Person ' || n % 200, '192.0.2.7', md5('b' || n)::uuid, sha256('a'),
      case when n % 3 = 0 then 'announcement' else 'socialTask' end, 't' || n % 5000, 'Task ' || n % 5000, '{"reward":[1,2]}', md5('c' || n)::uuid,
      sha256('a'), seq + n, sha256('a')
    from generate_series(1, ${ENTRIES}::bigint) n, audit_head`.execute(db)
  await sql`update audit_head set seq = seq + ${ENTRIES}::bigint`.execute(db)
  for (const { definition } of indexes) await sql.raw(definition).execute(db)
  await sql`vacuum analyze audit_entries`.execute(db)
}

async function measurePages(): Promise<void> {
  const columns = `seq, at, actor_name as "actorName", actor_kind as "actorKind", action, record_kind as "recordKind", record_name as "recordName",
    changes::text as changes, detail::text as detail, address, origin, device, actor_id as "actorId", record_id as "recordId", act_id as "actId",
    (select seq - base_seq from audit_head) as "all"`
  const newest = 'at desc, seq'
  // For a filter, the bare limit sorts as the filter's index does, so that it can use it.
  const filtered = `(at at time zone 'UTC') desc, seq`
  const days = Array.from({ length: DIFFERENT }, (_, n) =>
    new Date(Date.now() - (1 + ((n * 7919) % 800_000)) * 1000).toISOString(),
  )
  const searched = `lower(actor_name collate letters) ~>=~ $2 and lower(actor_name collate letters) ~<~ ($2 || 'z')`
  const pages: Record<string, { where?: string; order: string; query?: (n: number) => string; value?: (n: number) => string }> = {
    'before different dates': { order: newest },
    'of different people': {
      where: 'actor_id = $2',
      order: filtered,
      query: (n) => `actorId=u${n % 200}`,
      value: (n) => `u${n % 200}`,
    },
    'of different records': { where: 'record_id = $2', order: filtered, query: (n) => `recordId=t${n}`, value: (n) => `t${n}` },
    'of one kind of record': { where: `record_kind = 'announcement'`, order: filtered, query: () => 'recordKind=announcement' },
    'of one action': { where: `action = 'task.create'`, order: filtered, query: () => 'action=task.create' },
    'of a rare action': { where: `action = 'user.role'`, order: filtered, query: () => 'action=user.role' },
    'found by different names': {
      where: searched,
      order: newest,
      query: (n) => `search=person%20${n % 200}`,
      value: (n) => `person ${n % 200}`,
    },
  }
  for (const [name, { where = 'true', order, query, value }] of Object.entries(pages)) {
    const bare = await startBare(
      server,
      `select ${columns} from audit_entries where ${order === newest ? 'at < $1' : `(at at time zone 'UTC') < ($1::timestamptz at time zone 'UTC')`} and ${where}
        order by ${order} limit 50`,
      days.map((day, n) => [day, ...(value ? [value(n)] : [])]),
    )
    const url = days.map((day, n) => `${server.url}/api/audit?doneBefore=${day}${query ? `&${query(n)}` : ''}`)
    const load = { connections: 10, seconds: ROUND_SECONDS }
    const rounds = { limit: [] as Measured[], ours: [] as Measured[] }
    for (let round = 0; round < 3; round += 1) {
      rounds.limit.push(await measure({ ...load, url: bare.url }))
      rounds.ours.push(await measure({ ...load, url, headers: { cookie: server.admin.cookie } }))
    }
    await stopProcess(bare.child)
    const [limit, ours] = [middle(rounds.limit), middle(rounds.ours)]
    show(`bare, ${name}`, limit)
    show(`GET /api/audit, ${name}`, ours)
    const ratio = median(rounds.ours.map((one, round) => one.requestsPerSecond / rounds.limit[round]!.requestsPerSecond))
    reportRate(`50 entries, ${name}`, { ours, limit, ratio, atLeast: PAGE_BUDGET })
    reportTail(`50 entries, ${name}`, ours, limit)
  }
}
