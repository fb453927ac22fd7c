/** Snapshots while others write (docs/scaling.md), on one PostgreSQL or a cluster: with CITUS_URL the database is distributed. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { addPlayers as storePlayers } from '#test/players.ts'
import { rounds } from '#test/size.ts'
import { type Client, testApp } from '#test/test-app.ts'
import { testDatabase } from '#test/test-database.ts'
import { beginActivity, addParticipationCount, addPlayerCount } from './activity.ts'
import { addToCounters, counterSql, foldCounters } from './counters.ts'
import { lockChangesShared } from '#src/db/transaction-locks.ts'

const PLAYERS = 200
const ROUNDS = rounds(25, 500)
const database = await testDatabase()
const item = { kind: 'social', itemId: 'moment' } as const

/** Runs each writer again and again, all at the same time, until `work` is done. */
async function amid(writers: (() => Promise<void>)[], work: () => Promise<void>): Promise<void> {
  let isOver = false
  const writing = writers.map(async (write) => {
    while (!isOver) await write()
  })
  try {
    await work()
  } finally {
    isOver = true
    await Promise.all(writing)
  }
}

const anyPlayer = (): number => 1 + Math.floor(Math.random() * PLAYERS)

async function addPlayers(): Promise<void> {
  await sql`insert into balances (user_id, balance) select n, 0 from generate_series(1, ${sql.lit(PLAYERS)}) n`.execute(
    database.db,
  )
}

test('design §4 a snapshot of all servers has a change of several players completely or not at all', async () => {
  await addPlayers()
  const movePoints = async (): Promise<void> => {
    const [from, to] = [anyPlayer(), anyPlayer()]
    if (from === to) return
    await database.transaction(async (tx) => {
      await lockChangesShared(tx)
      // In the order of ids, to avoid deadlocks.
      for (const userId of [from, to].toSorted((a, b) => a - b))
        await sql`update balances set balance = balance + ${userId === from ? -7 : 7} where user_id = ${userId}`.execute(tx)
      await sql`update status_epoch set epoch = epoch + 1`.execute(tx)
      await sql`insert into counter_deltas (user_id, name, delta) values (${to}, 'moved', 1)`.execute(tx)
    })
  }
  const moments = new Set<number>()
  await amid([movePoints, movePoints, movePoints], async () => {
    for (let round = 0; round < ROUNDS; round += 1)
      await database.snapshot(
        async (snapshot) => {
          const points = await snapshot.query('select sum(balance) as points from balances')
          const [moved] = await snapshot.query<{ rows: number }>('select count(*) as rows from counter_deltas')
          const epochs = await snapshot.query('select epoch from status_epoch')
          expect(points).toEqual([{ points: 0 }])
          expect(epochs).toEqual([{ epoch: moved?.rows }])
          moments.add(moved?.rows ?? 0)
        },
        { isOneMoment: true },
      )
  })
  expect(moments.size, 'the writers went on meanwhile').toBeGreaterThan(ROUNDS / 5)
})

test('design §4 in a snapshot of all servers counters match the rows, even while they are folded', async () => {
  let next = 0
  const takePart = async (): Promise<void> => {
    const userIds = Array.from({ length: 5 }, () => (next += 1))
    await database.transaction(async (tx) => {
      await sql`insert into telegram_users (user_id) select * from unnest(${userIds}::bigint[])`.execute(tx)
      await sql`insert into participations (user_id, kind, item_id, at) select *, 'social', 'moment', now() from unnest(${userIds}::bigint[])`.execute(
        tx,
      )
      const activity = await beginActivity(tx)
      addPlayerCount(activity, null, userIds.length)
      addParticipationCount(activity, item, activity.now, userIds.length)
      await addToCounters(tx, activity.deltas)
    })
  }
  await amid([takePart, takePart, () => foldCounters(database)], async () => {
    for (let round = 0; round < ROUNDS; round += 1)
      await database.snapshot(
        async (snapshot) => {
          const [row] = await snapshot.query<Record<string, number>>(`
            select (select count(*) from telegram_users) as players, (select count(*) from participations) as participations,
                   ${counterSql({ of: 'players' })} as counted`)
          expect(row?.['counted']).toBe(row?.['players'])
          expect(row?.['participations']).toBe(row?.['players'])
        },
        { isOneMoment: true },
      )
  })
  expect(next).toBeGreaterThan(ROUNDS)
})

test('design §4 one player’s data is consistent at any time, for every reader', async () => {
  await addPlayers()
  let claims = 0
  const claim = async (): Promise<void> => {
    const userId = 1 + (claims % 3)
    claims += 1
    const itemId = `item ${claims}`
    await database.transaction(async (tx) => {
      await sql`update balances set balance = balance + 1 where user_id = ${userId}`.execute(tx)
      await sql`insert into participations (user_id, kind, item_id, at) values (${userId}, 'social', ${itemId}, now())`.execute(
        tx,
      )
    })
  }
  const seen = new Set<number>()
  await amid([claim, claim, claim], async () => {
    for (let round = 0; round < ROUNDS * 4 || seen.size < 6; round += 1) {
      const { rows } = await sql<{ balance: number; taken: number }>`
        select balance, (select count(*) from participations where user_id = 2) as taken from balances where user_id = 2`.execute(
        database.db,
      )
      expect(rows[0]?.taken).toBe(rows[0]?.balance)
      seen.add(rows[0]?.balance ?? 0)
    }
  })
})

test('design §4 a count includes what was acknowledged before it started, and nothing that started after it ended', async () => {
  let begun = 0
  let acknowledged = 0
  const add = async (): Promise<void> => {
    begun += 1
    await sql`insert into balances (user_id, balance) values (${begun}, 1)`.execute(database.db)
    acknowledged += 1
  }
  await amid([add, add, add], async () => {
    for (let round = 0; round < ROUNDS * 4; round += 1) {
      const before = acknowledged
      const { rows } = await sql<{ players: number; points: number }>`
        select count(*) as players, coalesce(sum(balance), 0) as points from balances`.execute(database.db)
      const { players = 0, points = 0 } = rows[0] ?? {}
      expect(points).toBe(players)
      expect(players).toBeGreaterThanOrEqual(before)
      expect(players).toBeLessThanOrEqual(begun)
    }
  })
  expect(acknowledged).toBeGreaterThan(ROUNDS)
})

test('design §4 a snapshot of all servers has an erasure, a bulk block or an adjustment completely or not at all', async () => {
  const app = await testApp()
  const [admin, bot] = [await app.signUp('admin'), await app.bot('desk', 'admin')]
  const ids = Array.from({ length: PLAYERS }, (_, index) => index + 1)
  await storePlayers(
    app.database.db,
    ids.map((id) => ({ user_id: id, balance: 1 })),
  )
  const picked = { target: { ids: ids.slice(0, PLAYERS / 2).map(String) }, reason: 'Plays by a script' }
  const act = async (client: Client, path: string, body: object): Promise<void> => {
    expect(await client.call('POST', path, body)).toMatchObject({ status: 200 })
  }
  const block = async (): Promise<void> => {
    await act(admin, '/api/telegram-users/block', picked)
    await act(admin, '/api/telegram-users/unblock', { target: picked.target })
  }
  const adjust = () => act(bot, `/bot/v1/players/${PLAYERS - 1}/adjustments`, { amount: 1, reason: 'A gift' })
  let next = PLAYERS
  const erase = async (): Promise<void> => {
    next += 1
    await act(bot, '/bot/v1/players', { players: [{ userId: next }] })
    await act(admin, `/api/telegram-users/${next}/erase`, { confirmation: next })
  }
  const moments = new Set<string>()
  await amid([block, adjust, erase], async () => {
    for (let round = 0; round < ROUNDS * 4; round += 1)
      await app.database.snapshot(
        async (snapshot) => {
          const [row] = await snapshot.query<Record<string, number>>(`
            with acts as (select action from audit_open union all select action from audit_entries)
            select (select count(*) from telegram_users) as players, (select sum(balance) from balances) as points,
                   (select count(*) from balances where blocked_at is not null) as blocked,
                   (select count(*) from telegram_users where user_id < 0) as erased,
                   (select count(*) from acts where action = 'player.adjust') as "adjustedActs",
                   (select count(*) from acts where action = 'player.erase') as "erasedActs",
                   ${counterSql({ of: 'players' })} as counted`)
          const { players, points, blocked, erased, adjustedActs, erasedActs, counted } = row!
          expect({ players, points, erased }).toEqual({
            players: PLAYERS + counted!,
            points: PLAYERS + adjustedActs!,
            erased: erasedActs,
          })
          expect([0, PLAYERS / 2]).toContain(blocked)
          moments.add(JSON.stringify(row))
        },
        { isOneMoment: true },
      )
  })
  expect(moments.size, 'the acts went on meanwhile').toBeGreaterThan(ROUNDS / 5)
})
