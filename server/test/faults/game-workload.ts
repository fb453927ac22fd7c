/**
 * The game's bot writes claims and ledger entries, and repeats each request with its key until it gets an answer. After a crash, each
 * acknowledged entry must be there exactly once, there must be no others, and balances must be the sums of their entries.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { actOfProcess } from '#src/audit/audit.ts'
import type { Database } from '#src/db/database.ts'
import { createBotToken } from '#src/identity/bot-tokens.ts'
import { expectReconciled } from '#test/ledger.ts'

export interface GameWorkload {
  /** Writes until `isOver`, then waits for the answers that are left. Waits while the server is away. */
  run(isOver: () => boolean): Promise<void>
  /** Number of acknowledged entries. */
  readonly acknowledged: number
  /** Number of requests that were sent again because they got no answer. */
  repeated: number
  /** Compares ledger and balances with the acknowledged entries. @throws Error if they differ */
  check(database: Database): Promise<void>
}

interface Written {
  isFirst: boolean
  entry: { id: string; amount: number } | null
}

/** Fewer players than callers, so that callers compete for a player. */
const PLAYERS = 5
const CALLERS = 8
const AWAY_MS = 50
const ANSWER_MS = 60_000

/** @param address returns the server's present address */
export async function createGameWorkload(database: Database, random: () => number, address: () => string): Promise<GameWorkload> {
  const { token } = await createBotToken(database, actOfProcess('command', 'test'), { name: 'game', scope: 'play' })
  const { rows: players } = await sql<{ id: number }>`
    select user_id as id from telegram_users order by user_id limit ${PLAYERS}`.execute(database.db)
  const { rows: items } = await sql<{ kind: string; id: string }>`
    select collection as kind, id from tasks union all select 'announcement', id from announcements where status`.execute(
    database.db,
  )
  const before = await entriesOfTheGame(database)
  /** Id of an acknowledged entry → its amount. */
  const entries = new Map<string, number>()
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!

  const workload: GameWorkload = {
    get acknowledged() {
      return entries.size
    },
    repeated: 0,
    async run(isOver) {
      const caller = async (): Promise<void> => {
        while (!isOver()) await write()
      }
      await Promise.all(Array.from({ length: CALLERS }, caller))
    },
    async check(checked) {
      await expectReconciled(checked)
      const found = await entriesOfTheGame(checked)
      for (const id of before.keys()) found.delete(id)
      expect(found, 'entries that were acknowledged').toEqual(entries)
    },
  }
  return workload

  async function write(): Promise<void> {
    const path = `/bot/v1/players/${pick(players).id}`
    if (random() < 0.5) return writeOnce(`${path}/claims`, { ...pick(items), userInput: 'done' })
    const amount = Math.round(random() * 40 - 15) / 2 || 1
    return writeOnce(`${path}/entries`, { amount, cause: 'round', reference: randomUUID() })
  }

  /** Writes a claim or entry. Repeats one in four answered requests, with the same key or another one. */
  async function writeOnce(path: string, input: object): Promise<void> {
    const key = randomUUID()
    const first = await send(path, input, key)
    if (first.status !== 200) {
      expect(first.text, 'a refusal').toMatch(/"BALANCE_TOO_LOW"/)
      return
    }
    const { entry } = JSON.parse(first.text) as Written
    if (entry) entries.set(entry.id, entry.amount)
    if (random() < 0.75) return
    const isSameKey = random() < 0.5
    const again = await send(path, input, isSameKey ? key : randomUUID())
    if (isSameKey) expect(again.text, 'the answer to the same key').toBe(first.text)
    else expect(JSON.parse(again.text), 'the answer to another key').toMatchObject({ isFirst: false, entry })
  }

  async function send(path: string, input: object, key: string): Promise<{ status: number; text: string }> {
    for (;;) {
      const answer = await fetch(`${address()}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(input),
        signal: AbortSignal.timeout(ANSWER_MS),
      })
        .then(async (response) => ({ status: response.status, text: await response.text() }))
        .catch(() => undefined)
      if (answer && answer.status < 500) return answer
      workload.repeated += 1
      await pause(AWAY_MS)
    }
  }
}

/** Reads the entries of claims and rounds: id → amount. */
async function entriesOfTheGame({ db }: Database): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string; amount: number }>`
    select user_id || '-' || seq as id, amount from ledger_entries where cause in ('claim', 'round')`.execute(db)
  return new Map(rows.map(({ id, amount }) => [id, amount]))
}
