import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { citusUrl, createClusterDatabase } from '#test/citus.ts'
import { auditTrail } from '#test/audit-trail.ts'
import { openAgain, testDatabase } from '#test/test-database.ts'
import { withDatabase } from '#test/test-server.ts'
import { giveBalances } from '#test/players.ts'
import { temporaryDataDir } from '#test/processes.ts'
import { arcade, arcadeIn } from '#test/run-arcade.ts'

/** Dividing a table that others write to takes long on a busy cluster. */
const timeout = 300_000

test(
  'design §8 distribute divides a cluster’s tables with their rows and goes on where it was; an ordinary PostgreSQL stays as it is',
  { timeout },
  async () => {
    expect.hasAssertions()
    await (citusUrl ? divides() : refuses())
  },
)

async function divides(): Promise<void> {
  const { url, template } = inject('testServer')
  const name = `${template}_distribute`
  await createClusterDatabase(url, name)
  const database = await openAgain({ url: withDatabase(url, name), use: 'command' })
  await sql`insert into telegram_users (user_id) select n from generate_series(1, 1000) as n`.execute(database.db)
  await giveBalances(database.db, 'telegram_users.user_id')
  await sql`select create_distributed_table('telegram_users', 'user_id')`.execute(database.db)
  const env = { DATABASE_URL: withDatabase(url, name), DATA_DIR: await temporaryDataDir() }
  const first = await arcadeIn(env, 'distribute')
  const second = await arcadeIn(env, 'distribute')
  expect([first.code, second.code]).toEqual([0, 0])
  expect(first.output + second.output).toMatch(
    /participations: divided in .*\nThe tables of players are distributed among \d+ servers\.\nThe tables .* already\.\n$/s,
  )
  const { rows } =
    await sql`select count(*) as players, sum(balance) as balance from telegram_users join balances using (user_id)`.execute(
      database.db,
    )
  expect(rows).toEqual([{ players: 1000, balance: 500_500 }])
  const settings = `select string_agg(s, ',') from pg_db_role_setting join pg_database d on d.oid = setdatabase, unnest(setconfig) s where datname = '${name}'`
  const { rows: servers } = await sql<{ result: string }>`select result from run_command_on_workers(${settings})`.execute(
    database.db,
  )
  expect(new Set(servers.map(({ result }) => result))).toEqual(new Set(['enable_mergejoin=off']))
  expect(await auditTrail(database.db, 'data.distribute')).toHaveLength(1)
}

async function refuses(): Promise<void> {
  expect(await arcade('distribute')).toEqual({ code: 1, output: expect.stringContaining('has no Citus, so nothing was changed') })
  expect(await auditTrail((await testDatabase()).db)).toEqual([])
}
