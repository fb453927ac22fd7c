/**
 * Migrations of a database of an earlier version. With CITUS_URL its tables of players were distributed then, so that Citus runs each
 * later migration on every shard.
 */
import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, inject, onTestFinished, test } from 'vitest'
import { citusUrl, createDistributedDatabase, dropClusterDatabase } from '#test/citus.ts'
import { createDatabase } from '#test/test-database.ts'
import { onServer, withDatabase } from '#test/test-server.ts'
import { aToZSql } from '#src/db/collations.ts'
import { type Database, openDatabase } from '#src/db/database.ts'
import { type Migration, loadMigrations } from '#src/db/migrate.ts'
import { DISTRIBUTED_TABLES, findCluster } from '#src/postgres/citus.ts'

/** Creating and migrating a database on a busy cluster takes long. */
const timeout = 300_000
const log = pino({ level: 'silent' })

test.each([
  ['before the ledger', '0018'],
  ['before the collations', '0033'],
])('design §4 rows that were distributed %s are migrated on each shard', { timeout }, async (_when, first) => {
  const url = await earlierDatabase(`from_${first}`, first)
  await onServer(url, (run) =>
    run(
      `insert into telegram_users (user_id, first_name, username) select n, case when n % 2 = 0 then 'Émile' else 'Zoe' end, 'ÄPFEL_' || n
         from generate_series(1, 20) n`,
    ),
  )
  const { db } = await open(url)

  const { rows } = await sql
    .raw(`
    select first_name, count(*)::int as players, count(balance)::int as balances from telegram_users left join balances using (user_id)
     where searched_text like '%apfelQ%' group by first_name order by ${aToZSql('first_name')}`)
    .execute(db)
  expect(rows).toEqual([
    { first_name: 'Émile', players: 10, balances: first === '0018' ? 10 : 0 },
    { first_name: 'Zoe', players: 10, balances: first === '0018' ? 10 : 0 },
  ])
  const { url: server, template } = inject('testServer')
  expect(await onServer(url, (run) => run(DEFINITIONS))).toEqual(
    await onServer(withDatabase(server, template), (run) => run(DEFINITIONS)),
  )
  const cluster = await findCluster(db)
  expect(cluster?.distributed).toEqual(citusUrl ? [...DISTRIBUTED_TABLES].toSorted() : undefined)
})

/** The columns and indexes of the tables of players. */
const DEFINITIONS = `
  select table_name as name, string_agg(column_name || ' ' || data_type || coalesce(' ' || collation_name, ''), ', ' order by column_name) as text
    from information_schema.columns where table_schema = 'public' and table_name in (${DISTRIBUTED_TABLES.map((name) => `'${name}'`).join()})
   group by 1
   union all
  select indexname, indexdef from pg_indexes
   where schemaname = 'public' and tablename in (${DISTRIBUTED_TABLES.map((name) => `'${name}'`).join()})
   order by 1`

test('design §4 a distributed column in which the locale told what capitals are is converted', { timeout }, async () => {
  const url = await earlierDatabase('converted_shards', '0034', '')
  await onServer(url, async (run) => {
    await run(`alter table telegram_users drop column searched_text`)
    await run(`alter table telegram_users add column searched_text text generated always as (lower(first_name)) stored`)
    await run(`insert into telegram_users (user_id, first_name) select n, 'ÄPFEL' from generate_series(1, 20) n`)
  })
  const { db } = await open(url)
  const { rows } = await sql`select count(*)::int as players from telegram_users where searched_text like '%apfel%'`.execute(db)
  expect(rows).toEqual([{ players: 20 }])
})

test(
  'design §5 after an update of ICU on the workers, the indexes of all shards are made anew; else they stay',
  { timeout },
  async () => {
    const url = await earlierDatabase('other_icu_of_shards', '9999', '')
    const ask = (text: string) => onServer(url, (run) => run<{ result: string }>(text))
    const onWorkers = (text: string) => ask(`select result from run_command_on_workers($$${text}$$)`)
    const files = `select array_agg(pg_relation_filenode(indexrelid) order by 1)::text as result ${INDEXES}`
    const askFiles = () =>
      ask(
        citusUrl
          ? `select result from run_command_on_shards('telegram_users', $$${files} and indrelid = '%s'::regclass$$)`
          : files,
      )
    const before = await askFiles()
    await (await open(url)).close()
    expect(await askFiles()).toEqual(before)
    if (!citusUrl) return
    await onWorkers(`update pg_collation set collversion = '1' where collname = 'a_to_z'`)
    await (await open(url)).close()
    const after = await askFiles()
    expect(after).toHaveLength(before.length)
    for (const file of before) expect(after).not.toContainEqual(file)
    expect(await onWorkers(`select count(*) from pg_collation where collversion = '1'`)).toEqual([
      { result: '0' },
      { result: '0' },
    ])
  },
)

/** The indexes in the order A to Z. */
const INDEXES = `from pg_index where position('a_to_z' in pg_get_indexdef(indexrelid)) > 0`

async function open(url: string, migrations?: Migration[]): Promise<Database> {
  const database = await openDatabase({ dataDir: '/nowhere', url, log, use: 'command', migrations })
  onTestFinished(() => database.close())
  return database
}

/** Creates a database of the version before the migration `first`, without the collations that came later. */
async function earlierDatabase(name: string, first: string, after = NO_COLLATIONS): Promise<string> {
  const migrations = (await loadMigrations()).filter((migration) => migration.name < first)
  const server = inject('testServer')
  if (citusUrl) {
    await dropClusterDatabase(citusUrl, `${server.template}_${name}`)
    const url = await createDistributedDatabase(citusUrl, `${server.template}_${name}`, migrations)
    await onServer(url, (run) => run(after))
    return url
  }
  const url = await createDatabase(name)
  await (await open(url, migrations)).close()
  await onServer(url, (run) => run(after))
  return url
}

/** What a database has of this version: collations are made at each start. */
const NO_COLLATIONS = 'drop collation if exists letters, a_to_z'
