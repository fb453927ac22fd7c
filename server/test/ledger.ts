/** Checks of the ledger, and concurrent requests for the balance of player 7. */
import { sql } from 'kysely'
import { expect } from 'vitest'
import type { Database } from '#src/db/database.ts'
import { reconcile } from '#src/ledger/reconcile.ts'
import { type Client, testApp, type TestApp } from './test-app.ts'
import { openAgain } from './test-database.ts'

const RACERS = 20

interface Raced {
  status: number
  text: string
  body: { code?: string; isFirst?: boolean; entry?: { id: string } }
}

/** Expects every balance to be the sum of its ledger entries. */
export async function expectReconciled(database: Pick<Database, 'snapshot'>): Promise<void> {
  const faults: unknown[] = []
  await reconcile(database, (fault) => faults.push(fault))
  expect(faults, 'balances that are not the sum of their entries').toEqual([])
}

/** Expects the same, and that player 7 has this balance and number of entries. */
export async function expectWhole({ database }: TestApp, balance: number, entries: number): Promise<void> {
  await expectReconciled(database)
  const { rows } = await sql`select balance, entries from balances where user_id = 7`.execute(database.db)
  expect(rows).toEqual([{ balance, entries }])
}

/** Sends 20 requests to two servers. All of them wait for the lock on player 7's balance before the first one can continue. */
export async function raceForBalance(
  app: TestApp,
  { headers }: Client,
  path: string,
  request: (n: number) => { body: unknown; key?: string | undefined },
): Promise<Raced[]> {
  // 10 requests must be able to wait on each server, where one kind of call may hold three quarters of the ledger's connections.
  const limits = { size: 20 }
  const servers = [
    await testApp({ database: await openAgain({ limits }) }),
    await testApp({ database: await openAgain({ limits }) }),
  ] as const
  const send = async (n: number): Promise<Raced> => {
    const { body, key } = request(n)
    const response = await servers[n % 2 === 0 ? 0 : 1].fetch(path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    return { status: response.status, text, body: JSON.parse(text) as Raced['body'] }
  }
  const { db } = app.database
  const { sending } = await db.transaction().execute(async (tx) => {
    await sql`select user_id from balances where user_id = 7 for update`.execute(tx)
    const answers = Promise.all(Array.from({ length: RACERS }, (_, n) => send(n)))
    // On a Citus cluster a statement may wait on a worker: the coordinator shows it as active, not as waiting for a lock.
    const waiting = sql`select pid from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state = 'active' and query like '%balances%'`
    await expect.poll(async () => (await waiting.execute(db)).rows.length, { timeout: 30_000 }).toBe(RACERS)
    return { sending: answers }
  })
  return sending
}
