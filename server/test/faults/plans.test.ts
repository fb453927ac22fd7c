/**
 * Explains each statement of each call, in a soak run with a million players and participations: no plan may take longer as tables grow
 * (design §4, §9). It checks custom plans, and also the generic plan of prepared statements.
 */
import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { actOfProcess, audit } from '#src/audit/audit.ts'
import { sealEntries } from '#src/audit/chain.ts'
import { seed as seedRows } from '#src/import/seed.ts'
import type { Database } from '#src/db/database.ts'
import { sentStatements, type SentStatement } from '#src/postgres/connections.ts'
import { citusUrl } from '#test/citus.ts'
import { reportFigure, rounds, seed } from '#test/size.ts'
import { testDatabase } from '#test/test-database.ts'
import { planFaults, type PlanNode } from './plan-faults.ts'
import { generatedRequest } from './requests.ts'
import { createWorld } from './world.ts'

const TIMEOUT_MS = 60 * 60_000
const ENTRIES_AT_ONCE = 5000
/** How many sets of parameters are explained for each statement. */
const MAX_PARAMETERS = 3

/** Rows that a statement may sort or count at any table size. */
const MAX_ROWS_READ = 25_000

/** The exact count of a filtered list (lists/counts.ts). It runs only where a sample has not shown that very many rows match. */
const exactCount = / limit 10001\) as counted$/
/** From this share of rows that match, the sample shows it in a table of a million rows. In the table of this test it cannot. */
const MANY_MATCH = 0.25

/** Calls whose purpose is to read a whole list. They stream it from a snapshot. */
const wholeLists = /^downloads\./

/** Statements that `planFaults` must find fault with. */
const slow = [
  `select * from telegram_users where email = 'a'`,
  `select * from telegram_users where email = 'a' limit 1`,
  'select * from telegram_users order by last_name limit 5',
  'select count(*) from participations',
  'select sum(balance) from balances where user_id > 0',
  'select * from balances join telegram_users using (user_id) where imported = 7 order by balance desc limit 5',
]

// On Citus, the coordinator's plan does not show what the workers do. They have the same indexes.
test.skipIf(citusUrl)('§9 no request reads, sorts or counts a table of millions', { timeout: TIMEOUT_MS }, async () => {
  const rows = rounds(30_000, 1_000_000)
  const database = await testDatabase()
  await seedRows({ database, telegramUsers: rows, participations: rows })
  await addEntries(database, rounds(30_000, 200_000))
  await addPlayerKeys(database, rows)
  await sql`analyze`.execute(database.db)
  const world = await createWorld()
  onTestFinished(() => world.stop())

  const statements = new Map<string, { call: string; statements: SentStatement[] }>()
  let call: string | undefined
  const listen = (message: unknown): void => {
    const statement = message as SentStatement
    if (
      call === undefined ||
      statement.name?.startsWith('world-') ||
      !/^\s*(select|insert|update|delete|with|declare)\b/i.test(statement.text ?? '')
    )
      return
    const known = statements.get(statement.text)
    if (!known) statements.set(statement.text, { call, statements: [statement] })
    else if (known.statements.length < MAX_PARAMETERS) known.statements.push(statement)
  }
  sentStatements.subscribe(listen)
  onTestFinished(() => {
    sentStatements.unsubscribe(listen)
  })
  for (const request of fc.sample(generatedRequest, { numRuns: rounds(3000, 5000), seed })) {
    if (wholeLists.test(request.call)) continue
    call = request.call
    await world.send(request)
    call = undefined
  }

  const connection = await database.connect('plans')
  onTestFinished(() => connection.end())
  const explain = async (options: string, { text, values }: Pick<SentStatement, 'text' | 'values'>): Promise<PlanNode> => {
    const { rows: plans } = await connection.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (${options}) ${text}`,
      values ?? [],
    )
    return plans[0]!['QUERY PLAN'][0].Plan
  }
  const many = { manyRows: Math.max(MAX_ROWS_READ, rows / 20) }
  for (const text of slow) expect(planFaults(await explain('format json', { text }), many), text).not.toEqual([])

  const faults = new Set<string>()
  for (const [text, { call: caller, statements: sent }] of statements) {
    const plans = await Promise.all(sent.map((statement) => explain('format json', statement)))
    if (sent[0]!.name !== undefined) plans.push(await explain('generic_plan, format json', { text }))
    for (const plan of plans)
      for (const fault of planFaults(plan, many).filter(({ matching }) => !exactCount.test(text) || matching < rows * MANY_MATCH))
        faults.add(`${caller} ${fault.does} ${fault.what}: ${text.replaceAll(/\s+/g, ' ').slice(0, 2000)}`)
  }
  reportFigure(`plans: ${statements.size} statements at ${rows} rows`)
  expect([...faults]).toEqual([])
})

async function addEntries(database: Database, count: number): Promise<void> {
  const act = actOfProcess('system', 'test')
  for (let written = 0; written < count; written += ENTRIES_AT_ONCE) {
    const entries = Array.from({ length: ENTRIES_AT_ONCE }, (_, n) => ({
      record: { kind: 'announcement' as const, id: `a${(written + n) % 5000}`, name: `Season ${n}` },
      changes: { title: [`Season ${n - 1}`, `Season ${n}`] as const },
    }))
    await audit(database.db, act, 'announcement.update', entries)
  }
  await sealEntries(database, 'wait')
}

/** Adds idempotency keys of players. */
async function addPlayerKeys(database: Database, count: number): Promise<void> {
  await sql`insert into player_keys (user_id, key_hash, fingerprint, is_first)
    select user_id, sha256(user_id::text::bytea), '', true from telegram_users limit ${count}`.execute(database.db)
}
