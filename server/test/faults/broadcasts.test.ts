/** Two servers send a broadcast and are killed at random, while Telegram fails in every way: nobody gets the message twice, none is lost. */
import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import type { Broadcast } from '@arcade/contract/broadcasts/calls'
import { OUTCOMES } from '#src/broadcasts/outcomes.ts'
import { openDatabase } from '#src/db/database.ts'
import { giveBalances } from '#test/players.ts'
import { temporaryDataDir, waitFor } from '#test/processes.ts'
import { reportFigure, rounds, seededRandom } from '#test/size.ts'
import { type Behaviour, BOT_TOKEN, startTelegram } from '#test/telegram.ts'
import { createDatabase } from '#test/test-database.ts'
import { expectGoodEnd, type ServerProcess, signInAdmin, startServer } from './console-process.ts'

const PLAYERS = rounds(1000, 100_000)
const KILLS = rounds(5, 100)
const RATE = rounds(150, 500)
/** The most workers of a server at these rates. */
const WORKERS = 32
const PATIENCE_MS = rounds(600_000, 3_600_000)

test(
  'security: crash: a broadcast by two servers that are killed while Telegram fails: nobody gets it twice, no recipient is lost',
  { timeout: rounds(20 * 60_000, 3 * 3_600_000) },
  async () => {
    const random = seededRandom()
    const api = await startTelegram()
    onTestFinished(() => api.stop())
    let lost = 0
    api.behave((chatId): Behaviour => {
      if (chatId % 10 === 0) return 403
      const chance = random()
      const behaviour = LOST_ANSWERS.find(([, below]) => chance < below)?.[0]
      if (behaviour) {
        lost += 1
        return behaviour
      }
      if (chance < 0.03) return 500
      return chance < 0.032 ? 429 : 200
    })
    const url = await createDatabase('broadcasts', { isMigrated: true })
    const database = await openDatabase({ dataDir: '', url, use: 'command', log: pino({ level: 'silent' }) })
    onTestFinished(() => database.close())
    await sql`insert into telegram_users (user_id, first_name) select n, 'Player ' || n from generate_series(1, ${PLAYERS}::int) n`.execute(
      database.db,
    )
    await giveBalances(database.db)
    const env = { DATABASE_URL: url, TELEGRAM_BOT_TOKEN: BOT_TOKEN, TELEGRAM_API_ROOT: api.url, TELEGRAM_RATE: String(RATE) }
    const start = async (dataDir: string): Promise<{ server: ServerProcess; address: string; dataDir: string }> => {
      const server = startServer(dataDir, env)
      return { server, address: await server.ready, dataDir }
    }
    const servers = [await start(await temporaryDataDir()), await start(await temporaryDataDir())]
    const cookie = await signInAdmin(servers[0]!.address)
    const ask = async (path: string, body?: object): Promise<unknown> => {
      const init = body === undefined ? { method: 'GET' } : { method: 'POST', body: JSON.stringify(body) }
      const answer = await fetch(servers[0]!.address + path, { ...init, headers: { cookie, 'content-type': 'application/json' } })
      const text = await answer.text()
      expect(answer.status, text).toBe(200)
      return JSON.parse(text)
    }
    const { id: announcementId } = (await ask('/api/announcements', ANNOUNCEMENT)) as { id: string }
    const { id } = (await ask('/api/broadcasts', { announcementId })) as { id: string }
    const begun = performance.now()
    for (let kill = 0; kill < KILLS; kill += 1) {
      const enough = api.calls() + Math.ceil((random() * PLAYERS) / (KILLS + 2))
      await waitFor('messages', () => api.calls() >= enough || api.calls() >= PLAYERS, PATIENCE_MS)
      const victim = servers.shift()!
      victim.server.child.kill('SIGKILL')
      await victim.server.ended
      servers.push(await start(victim.dataDir))
    }
    const read = async () => (await ask(`/api/broadcasts/${id}`)) as Broadcast
    const done = await waitFor(
      'the end of the broadcast',
      async () => {
        const broadcast = await read()
        return broadcast.state === 'done' ? broadcast : undefined
      },
      PATIENCE_MS,
    )
    const got = new Map<number, number>()
    for (const { chatId } of api.sent) got.set(chatId, (got.get(chatId) ?? 0) + 1)
    expect([...got].filter(([, times]) => times > 1)).toEqual([])
    const { rows } = await sql<{ userId: number; outcome: number }>`
      select user_id as "userId", outcome from broadcast_recipients`.execute(database.db)
    const of = (outcome: number) => rows.filter((row) => row.outcome === outcome).map(({ userId }) => userId)
    expect(rows).toHaveLength(PLAYERS)
    // What counts as sent has arrived; what has arrived counts as sent, or as unknown if its answer was lost.
    expect(of(OUTCOMES.sent).filter((userId) => !got.has(userId))).toEqual([])
    const known = new Set([...of(OUTCOMES.sent), ...of(OUTCOMES.unknown)])
    expect([...got.keys()].filter((userId) => !known.has(userId))).toEqual([])
    expect(of(OUTCOMES.pending)).toEqual([])
    expect(of(OUTCOMES.sending)).toEqual([])
    expect(of(OUTCOMES.unknown).length).toBeLessThanOrEqual(lost + KILLS * WORKERS)
    expect(done.total).toBe(PLAYERS)
    expect(done.sent).toBe(of(OUTCOMES.sent).length)
    expect(done.unknown).toBe(of(OUTCOMES.unknown).length)
    expect(done.sent + done.refused + done.failed + done.unknown).toBe(PLAYERS)
    for (const { server } of servers) await expectGoodEnd(server)
    reportFigure(
      `broadcast: ${PLAYERS} recipients, ${KILLS} kills, ${Math.round((performance.now() - begun) / 1000)} s: ${done.sent} sent, ` +
        `${done.refused} refused, ${done.failed} failed, ${done.unknown} unknown (${lost} answers lost by Telegram), none twice, none lost`,
    )
  },
)

const ANNOUNCEMENT = { type: 'desc', title: 'News', subtitle: 'Today', reward: 5 }
/** Answers that are lost, with the chance below which a call gets one. A call that hangs takes half a minute, so few do. */
const LOST_ANSWERS: [Behaviour, number][] = [
  ['hang', 0.002],
  ['drop', 0.012],
  ['close', 0.02],
]
