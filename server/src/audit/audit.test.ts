/** The audit: each act has its entries, the chain reveals tampering, and a person can be erased from it. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Database, openDatabase } from '#src/db/database.ts'
import { loadMigrations } from '#src/db/migrate.ts'
import { sentStatements, type SentStatement } from '#src/postgres/connections.ts'
import { auditTrail } from '#test/audit-trail.ts'
import { createDatabase, openAgain, testDatabase } from '#test/test-database.ts'
import { type Act, actOfProcess, audit, changesBetween } from './audit.ts'
import { sealEntries } from './chain.ts'
import { dropEntries } from './drop.ts'
import { erasePerson } from './erase.ts'
import { verifyAudit } from './verify.ts'

const ada: Act = {
  ...actOfProcess('command', 'Ada Lovelace'),
  kind: 'user',
  actorId: 'ada',
  address: '192.0.2.7',
  device: 'Chrome on Windows',
}

const write = async (database: Database, count: number): Promise<void> => {
  const entries = Array.from({ length: count }, (_, n) => ({
    record: { kind: 'announcement' as const, id: `a${n}`, name: `Season "${n}", \\ ü` },
    changes: { title: [null, `Season ${n}`] as const },
    detail: { version: 1 },
  }))
  await audit(database.db, ada, 'announcement.create', entries)
}

/** Returns a database with twelve sealed entries. */
const sealed = async (): Promise<Database> => {
  const database = await testDatabase()
  for (let round = 0; round < 3; round += 1) {
    await write(database, 4)
    expect(await sealEntries(database)).toBe(4)
  }
  expect(await verifyAudit(database)).toMatchObject({ entries: 12, erased: 0, findings: [], head: { seq: 12 } })
  return database
}

test('a single entry’s statement is planned once per connection, and its entry is verified like those of bulk acts', async () => {
  const database = await testDatabase()
  const planned = await database.transaction(async (tx) => {
    for (const name of ['A', 'B "1", \\ ü']) await audit(tx, ada, 'user.update', { record: { kind: 'user', id: 'bob', name } })
    await audit(tx, ada, 'players.status', {})
    const { rows } = await sql<{ runs: number }>`
      select generic_plans + custom_plans as runs from pg_prepared_statements where statement like '%into audit_open%'`.execute(
      tx,
    )
    return rows
  })
  expect(planned).toEqual([{ runs: expect.any(Number) }])
  expect(planned[0]!.runs).toBeGreaterThanOrEqual(3)
  await write(database, 2)
  expect(await verifyAudit(database)).toMatchObject({ entries: 5, findings: [] })
})

test('an act on one record costs one statement, which also queues its event; an act without an event queues nothing', async () => {
  const database = await testDatabase()
  await sql`insert into webhooks (id, url, events, secret) values (gen_random_uuid(), 'https://x.test', '{task.changed}', ''::bytea)`.execute(
    database.db,
  )
  const sent: string[] = []
  const listen = (statement: unknown) => void sent.push((statement as SentStatement).text)
  await database.transaction(async (tx) => {
    sentStatements.subscribe(listen)
    onTestFinished(() => sentStatements.unsubscribe(listen))
    await audit(tx, ada, 'task.update', { record: { kind: 'socialTask', id: 't1', name: 'Follow us' } })
    await audit(tx, ada, 'user.update', { record: { kind: 'user', id: 'bob', name: 'Bob' } })
    sentStatements.unsubscribe(listen)
  })
  expect(sent).toHaveLength(2)
  const { rows } = await sql<{ event: string; data: unknown }>`
    select event, payload::json->'data' as data from webhook_deliveries`.execute(database.db)
  const items = [{ kind: 'socialTask', id: 't1', title: 'Follow us' }]
  expect(rows).toEqual([{ event: 'task.changed', data: { change: 'changed', items } }])
  expect(await verifyAudit(database)).toMatchObject({ entries: 2, findings: [] })
})

test('changes are the fields that differ, except the version and fields that never change', () => {
  const before = { id: '1', title: 'A', reward: 1, link: null, version: 3, createdAt: 'x' }
  expect(changesBetween(before, { ...before, title: 'B', link: 'https://t.me', version: 4 })).toEqual({
    title: ['A', 'B'],
    link: [null, 'https://t.me'],
  })
  expect(changesBetween(null, before)).toEqual({ title: [null, 'A'], reward: [null, 1] })
  expect(changesBetween(before, null)).toEqual({ title: ['A', null], reward: [1, null] })
})

describe('the chain', () => {
  test('numbers entries without gaps, in the order they were written', async () => {
    const database = await sealed()
    const { rows } = await sql<{ seq: number; id: string }>`select seq, record_id as id from audit_entries order by seq`.execute(
      database.db,
    )
    expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 12 }, (_, n) => n + 1))
    expect((await sql`select from audit_open`.execute(database.db)).rows).toHaveLength(0)
  })

  test.each([
    ['a changed action', `update audit_entries set action = 'task.remove' where seq = 5`, /no\. 5: its hash/],
    ['a changed time', `update audit_entries set at = at - interval '1 microsecond' where seq = 5`, /no\. 5: its hash/],
    ['another actor', `update audit_entries set actor_name = 'Bob' where seq = 5`, /no\. 5: what it says/],
    ['another address', `update audit_entries set address = null where seq = 5`, /no\. 5: what it says/],
    ['other changes', `update audit_entries set changes = '{"title":[null,"Season 9"]}' where seq = 5`, /no\. 5: what it says/],
    [
      'the same changes, written differently',
      `update audit_entries set changes = (changes::text || ' ')::json where seq = 5`,
      /no\. 5: what it says/,
    ],
    [
      'a new salt with a new commitment',
      `update audit_entries set actor_salt = gen_random_uuid(), actor_commitment = sha256('x') where seq = 5`,
      /no\. 5/,
    ],
    [
      'an entry without its salts',
      `update audit_entries set actor_salt = null, record_salt = null where seq = 5`,
      /no\. 5: what it says/,
    ],
    [
      'an entry that looks erased',
      `update audit_entries set actor_salt = null, actor_id = 'erased-x', actor_name = null, address = null, device = null where seq = 5`,
      /1 parts of entries about erased-x were erased/,
    ],
    [
      'a removed beginning',
      `update audit_head set base_seq = 5, base_hash = (select hash from audit_entries where seq = 5); delete from audit_entries where seq <= 5`,
      /up to no\. 5 are missing/,
    ],
    ['a removed entry', `delete from audit_entries where seq = 5`, /before no\. 6 are missing/],
    ['a removed first entry', `delete from audit_entries where seq = 1`, /before no\. 2 are missing/],
    ['a removed last entry', `delete from audit_entries where seq = 12`, /ends with no\. 11, its head says 12/],
    ['an entry moved far away', `update audit_entries set seq = 1e15 where seq = 12`, /before no\. 1000000000000000 are missing/],
    [
      'an entry inserted before the first',
      `insert into audit_entries select (jsonb_populate_record(entry, '{"seq": 0}')).* from audit_entries as entry where seq = 3`,
      /The chain begins after no. 0, but 1 entries have numbers up to it/,
    ],
    ['no entries', `delete from audit_entries`, /ends with no\. 0, its head says 12/],
    [
      'two swapped entries',
      `update audit_entries set seq = case seq when 5 then -5 when 6 then 5 end where seq in (5, 6); update audit_entries set seq = 6 where seq = -5`,
      /no\. 5: its hash/,
    ],
    [
      'an inserted entry, with all later ones renumbered',
      `update audit_entries set seq = seq + 1000 where seq >= 5; update audit_entries set seq = seq - 999 where seq > 1000; insert into audit_entries select (jsonb_populate_record(l, jsonb_build_object('seq', 5, 'id', gen_random_uuid()))).* from audit_entries l where seq = 4; update audit_head set seq = 13`,
      /no\. 5: its hash/,
    ],
    ['a truncated hash', `update audit_entries set hash = substr(hash, 1, 16) where seq = 5`, /no\. 5: its hash/],
    ['another head', `update audit_head set hash = sha256('x')`, /head is not that of the chain/],
  ])('finds %s', async (_what, tampering, finding) => {
    const database = await sealed()
    for (const statement of tampering.split('; ')) await sql.raw(statement).execute(database.db)
    for (const range of [undefined, 1, 2, 4, 5]) {
      const { findings } = await verifyAudit(database, range === undefined ? {} : { range })
      expect(findings.join('\n'), `ranges of ${range}`).toMatch(finding)
    }
  })

  test('an intact chain verifies in ranges of any size', async () => {
    const database = await sealed()
    for (const range of [1, 2, 5, 11, 12, 13])
      expect(await verifyAudit(database, { range })).toMatchObject({ entries: 12, findings: [] })
  })

  test('if nothing can be written, sealed entries are verified and waiting entries are counted', async () => {
    const database = await sealed()
    await write(database, 3)
    const refused = (): Promise<never> => Promise.reject(new Error('No space left on device'))
    expect(await verifyAudit({ ...database, transaction: refused })).toMatchObject({
      entries: 12,
      findings: [],
      head: { seq: 12 },
      unsealed: { entries: 3, reason: 'No space left on device' },
    })
    expect(await verifyAudit(database)).toMatchObject({ entries: 15, findings: [], unsealed: undefined })
  })

  test('a head that was kept elsewhere reveals that the whole audit was rewritten', async () => {
    const database = await sealed()
    const { head } = await verifyAudit(database)
    await write(database, 3)
    expect(await verifyAudit(database, { kept: head })).toMatchObject({ findings: [], entries: 15 })
    await sql`delete from audit_entries`.execute(database.db)
    await sql`update audit_head set seq = 0, hash = base_hash`.execute(database.db)
    await write(database, 20)
    const { findings } = await verifyAudit(database, { kept: head })
    expect(findings).toEqual([expect.stringContaining('is not in the chain')])
  })

  test('with two servers sealing and twenty writing at once, one chain has every entry', async () => {
    const database = await testDatabase()
    const other = await openAgain()
    const writing = Promise.all(Array.from({ length: 20 }, () => write(database, 7)))
    const sealing = async (by: Database): Promise<void> => {
      for (let round = 0; round < 20; round += 1) await sealEntries(by)
    }
    await Promise.all([writing, sealing(database), sealing(other)])
    expect(await verifyAudit(other)).toMatchObject({ entries: 140, findings: [], head: { seq: 140 } })
  })

  test('a sealer that dies half-way has sealed nothing, and the next one continues', async () => {
    const database = await sealed()
    await write(database, 2)
    const dying = database.transaction(async (tx) => {
      await sql`select from audit_head for update`.execute(tx)
      expect(await sealEntries(database), 'another sealer is busy').toBe(0)
      throw new Error('dead')
    })
    await expect(dying).rejects.toThrow('dead')
    expect(await sealEntries(database)).toBe(2)
    expect(await verifyAudit(database)).toMatchObject({ entries: 14, findings: [] })
  })

  test('an act that is rolled back leaves no entry', async () => {
    const database = await testDatabase()
    const act = database.transaction(async (tx) => {
      await audit(tx, ada, 'players.status', {})
      throw new Error('no')
    })
    await expect(act).rejects.toThrow('no')
    expect(await verifyAudit(database)).toMatchObject({ entries: 0, findings: [], head: { seq: 0 } })
  })
})

test('an erased person is named nowhere; the chain stays intact, and what others did is unchanged', async () => {
  const database = await sealed()
  await audit(database.db, { ...ada, id: randomUUID() }, 'user.remove', {
    record: { kind: 'user', id: 'bob', name: 'Bob Bobson' },
    changes: { email: ['bob@gmail.com', null] },
  })
  await sealEntries(database)
  const erase = (id: string, anonymousId: string) =>
    database.transaction((tx) => erasePerson(tx, actOfProcess('command', 'test'), { kind: 'user', id, anonymousId }))
  expect(await erase('bob', 'erased-1')).toBe(1)
  expect(await verifyAudit(database)).toMatchObject({ entries: 14, erased: 1, findings: [] })
  expect(await erase('ada', 'erased-2')).toBe(13)
  const { rows } = await sql<{ text: string }>`select string_agg(audit_entries::text, ' ') as text from audit_entries`.execute(
    database.db,
  )
  expect(rows[0]!.text).not.toMatch(/\bada\b|lovelace|\bbob|192\.0\.2\.7|chrome/i)
  expect(rows[0]!.text).toContain('Season 3')
  expect(await verifyAudit(database)).toMatchObject({ entries: 15, findings: [] })
})

test('entries that are too old are dropped from the beginning; the chain then starts later and is intact', async () => {
  const database = await testDatabase()
  const act = actOfProcess('command', 'test')
  const drop = (before: Date) => database.transaction((tx) => dropEntries(tx, act, before))
  await write(database, 5)
  await sql`update audit_open set at = at - interval '2 years'`.execute(database.db)
  const { head: lastDropped } = await verifyAudit(database)
  await write(database, 7)
  await sealEntries(database)
  expect(await drop(new Date('2000-01-01'))).toBe(0)
  expect(await drop(new Date(Date.now() - 365 * 86_400_000))).toBe(5)
  expect(await verifyAudit(database)).toMatchObject({ entries: 8, findings: [], head: { seq: 13 } })
  expect((await verifyAudit(database, { kept: lastDropped })).findings).toEqual([])
  expect((await verifyAudit(database, { kept: { ...lastDropped, hash: 'ab' } })).findings).toEqual([
    'The head that was kept, 5:ab, is not in the chain.',
  ])
  expect((await verifyAudit(database, { kept: { ...lastDropped, seq: 4 } })).findings).toEqual([
    expect.stringContaining('is older than the drop of all entries up to no. 5'),
  ])
  await sql`delete from audit_entries where seq = 6`.execute(database.db)
  expect((await verifyAudit(database)).findings[0]).toContain('before no. 7 are missing')
  expect(await drop(new Date('3000-01-01'))).toBe(8)
  expect(await verifyAudit(database)).toMatchObject({ entries: 1, findings: [], head: { seq: 14 } })
})

test('entries of an earlier version become open entries, with today’s names of actions', async () => {
  const url = await createDatabase('earlier_audit')
  const earlier = (await loadMigrations()).filter(({ name }) => name < '0011')
  const opening = { url, dataDir: '', log: pino({ level: 'silent' }), use: 'command' } as const
  const before = await openDatabase({ ...opening, migrations: earlier })
  const { db } = before
  await sql`insert into users (id, fname, lname, email, user_type) values ('ada', 'Ada', 'Lovelace', 'ada@gmail.com', 'admin')`.execute(
    db,
  )
  await sql`insert into audit_log (id, at, actor_id, action, target, detail, request_id, address) values
    ('1', '2026-01-02', 'ada', 'task.remove-many', 'socialTasks', '{"count": 2}', '7b5f6a56-53f0-4bd6-9d5c-4c1c4c8b5a01', '192.0.2.7'),
    ('2', '2026-01-01', 'bot:b1', 'players.status', 'all', '{}', null, null),
    ('3', '2026-01-03', null, 'sign-in.limited', 'unknown', '{"limit": "x"}', null, null)`.execute(db)
  await before.close()
  const database = await openDatabase(opening)
  onTestFinished(() => database.close())
  expect(await auditTrail(database.db)).toMatchObject([
    { actorKind: 'bot', actorId: 'b1', action: 'players.status', detail: null },
    {
      actorKind: 'user',
      actorId: 'ada',
      actorName: 'Ada Lovelace',
      action: 'task.remove',
      recordId: 'socialTasks',
      detail: { count: 2 },
    },
    { actorKind: 'guest', actorId: null, action: 'session.limit', recordId: 'unknown' },
  ])
  expect(await verifyAudit(database)).toMatchObject({ entries: 3, findings: [] })
})
