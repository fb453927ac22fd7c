/** Sends claims of random players as the game's bot, one after another on each client: as fast as possible, or at a fixed rate. */
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { actOfProcess } from '../server/src/audit/audit.ts'
import { SEED_BASE } from '../server/src/import/seed.ts'
import type { Database } from '../server/src/db/database.ts'
import { createBotToken } from '../server/src/identity/bot-tokens.ts'
import { openPosting, type Posting } from './posting.ts'

export interface Claiming {
  url: string
  /** The bot's headers. */
  headers: Record<string, string>
  /** The ids of social tasks. */
  tasks: string[]
  /** The number of seeded players to choose from. */
  players: number
  clients: number
  /** The rate of all clients together. Without it they send as fast as possible. */
  perSecond?: number
  /** Milliseconds since 1970. */
  until: number
}

export interface Claimed {
  /** The time from request to answer, for each claim. */
  timesMs: number[]
  /** The messages of failed claims. */
  failures: string[]
}

export const REWARD = 5
/** Higher than all priorities of existing tasks. */
const FIRST_PRIORITY = 10_000

/** Adds tasks with the ids `bench-1`, `bench-2`, … and creates a bot token. */
export async function prepareClaiming(database: Database, tasks: number): Promise<Pick<Claiming, 'headers' | 'tasks'>> {
  const { token } = await createBotToken(database, actOfProcess('command', 'bench'), { name: 'bench', scope: 'play' })
  const { rows } = await sql<{ id: string }>`
    with made as (
      insert into tasks (collection, id, image, priority, title, reward)
      select 'social', 'bench-' || n, 'twitter', ${sql.lit(FIRST_PRIORITY)} + n, 'Task ' || n, ${sql.lit(REWARD)} from generate_series(1, ${sql.lit(tasks)}) n returning *)
    insert into history_items (kind, item_id, title, type, reward)
    select collection, id, title, image, reward from made returning item_id as id`.execute(database.db)
  return {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    tasks: rows.map(({ id }) => id),
  }
}

export async function claimUntil({ url, headers, tasks, players, clients, perSecond, until }: Claiming): Promise<Claimed> {
  const claimed: Claimed = { timesMs: [], failures: [] }
  const startedAt = performance.now()
  let begun = 0
  const client = async (): Promise<void> => {
    const posting = await openPosting(url)
    while (Date.now() < until) {
      begun += 1
      if (perSecond !== undefined) await pause(Math.max(0, startedAt + (begun / perSecond) * 1000 - performance.now()))
      const askedAt = performance.now()
      const asked = claim(posting, headers, SEED_BASE + 1 + random(players), tasks[random(tasks.length)]!)
      await asked.then(
        () => claimed.timesMs.push(performance.now() - askedAt),
        (error: Error) => claimed.failures.push(error.message),
      )
    }
    posting.close()
  }
  await Promise.all(Array.from({ length: clients }, client))
  return claimed
}

export async function claim(
  { post }: Posting,
  bot: Record<string, string>,
  player: number,
  task: string,
): Promise<{ balance: number }> {
  const headers = { ...bot, 'idempotency-key': crypto.randomUUID() }
  return (await post(`/bot/v1/players/${player}/claims`, headers, { kind: 'social', id: task })) as { balance: number }
}

/** Returns a random integer from 0 to `most` - 1. */
function random(most: number): number {
  return Math.floor(Math.random() * most)
}
