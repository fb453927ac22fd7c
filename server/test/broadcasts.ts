/** Broadcasts in tests: an app with a Bot API of its own, whose background task the test runs itself. */
import { sql } from 'kysely'
import { expect, onTestFinished } from 'vitest'
import type { Broadcast } from '@arcade/contract/broadcasts/calls'
import { beginDue, planBatch } from '#src/broadcasts/planning.ts'
import type { Database } from '#src/db/database.ts'
import { addPlayers } from './players.ts'
import { waitFor } from './processes.ts'
import { BOT_TOKEN, type FakeTelegram, startTelegram } from './telegram.ts'
import { type Client, testApp, type TestApp } from './test-app.ts'

export interface Station {
  app: TestApp
  admin: Client
  api: FakeTelegram
  /** Adds an announcement and returns its id. */
  announce(fields?: object): Promise<string>
  /** Makes a broadcast and returns its id. */
  send(input: object): Promise<string>
  read(id: string): Promise<Broadcast>
  act(
    id: string,
    what: 'pause' | 'resume' | 'cancel' | 'resend-unknown' | 'test',
  ): Promise<{ status: number; body: { code?: string; affected?: number } }>
  /** Runs the background task until the broadcast is in a state; returns the broadcast. */
  until(id: string, isReached: (broadcast: Broadcast) => boolean): Promise<Broadcast>
}

type AppOptions = NonNullable<Parameters<typeof testApp>[0]>

/** Opens an app that sends as fast as it can, unless `telegram` says otherwise. */
export async function station(
  telegram: AppOptions['telegram'] = {},
  options: Omit<AppOptions, 'telegram'> = {},
): Promise<Station> {
  const api = await startTelegram()
  const app = await testApp({
    ...options,
    telegram: { botToken: BOT_TOKEN, apiRoot: api.url, ratePerSecond: 1000, ...telegram },
  })
  onTestFinished(async () => {
    await app.broadcasts.stop()
    await api.stop()
  })
  const admin = await app.signUp('admin')
  const read = async (id: string): Promise<Broadcast> => {
    const { status, body } = await admin.call('GET', `/api/broadcasts/${id}`)
    expect(status).toBe(200)
    return body as Broadcast
  }
  return {
    app,
    admin,
    api,
    async announce(fields = {}) {
      const input = { type: 'desc', title: 'News', subtitle: 'Today', reward: 5, ...fields }
      const { status, body } = await admin.call('POST', '/api/announcements', input)
      expect(status, JSON.stringify(body)).toBe(200)
      return body.id as string
    },
    async send(input) {
      const { status, body } = await admin.call('POST', '/api/broadcasts', input)
      expect(status, JSON.stringify(body)).toBe(200)
      return body.id as string
    },
    read,
    act: (id, what) => admin.call('POST', `/api/broadcasts/${id}/${what}`, {}),
    until: (id, isReached) =>
      waitFor('the broadcast', async () => {
        await app.broadcasts.run()
        const broadcast = await read(id)
        return isReached(broadcast) ? broadcast : undefined
      }),
  }
}

/** Begins and plans what is due, without sending. */
export async function planAll({ database }: { database: Database }): Promise<void> {
  while (await beginDue(database, undefined));
  while ((await planBatch(database)).outcome === 'planned');
}

export const isOver = ({ state }: Pick<Broadcast, 'state'>): boolean => state === 'done' || state === 'cancelled'

/** Adds players with the ids from 1 to `count`. */
export async function addNumbered({ database: { db } }: TestApp, count: number): Promise<void> {
  await addPlayers(
    db,
    Array.from({ length: count }, (_, index) => ({ user_id: index + 1, first_name: `Player ${index + 1}` })),
  )
}

/** Returns the stored outcomes of a broadcast's recipients by player. */
export async function outcomesOf({ database: { db } }: TestApp, id: string): Promise<Map<number, number>> {
  const { rows } = await sql<{ userId: number; outcome: number }>`
    select user_id as "userId", outcome from broadcast_recipients
     where broadcast = (select number from broadcasts where id = ${id}) order by user_id`.execute(db)
  return new Map(rows.map(({ userId, outcome }) => [userId, outcome]))
}

/** The numbers of a broadcast's recipients. */
export function numbers({ total, pending, sent, refused, failed, unknown, skipped, held }: Broadcast) {
  return { total, pending, sent, refused, failed, unknown, skipped, held }
}
/** The numbers of a broadcast without recipients. */
export const NONE = { total: 0, pending: 0, sent: 0, refused: 0, failed: 0, unknown: 0, skipped: 0, held: 0 }
