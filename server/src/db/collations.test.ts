/** The collations of a database that is run elsewhere (ADR 25), whatever its locale, its ICU and its earlier versions. */
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { locales } from '#test/databases/locales.ts'
import { createDatabase } from '#test/test-database.ts'
import { onServer } from '#test/test-server.ts'
import { aToZSql, lowerSql } from './collations.ts'
import { openDatabase } from './database.ts'
import { loadMigrations } from './migrate.ts'

const QUIET = pino({ level: 'silent' })
const NAMES = ['zoe', 'Émile', 'andrew', 'Zoe', 'Andrew', 'İrem', 'irem', 'Ivan', 'Лев', 'عمر', '_x', '7']
const IN_ORDER = ['_x', '7', 'andrew', 'Andrew', 'Émile', 'İrem', 'irem', 'Ivan', 'zoe', 'Zoe', 'Лев', 'عمر']

/** Migrates a database of these settings, after `before`. Returns what it logged and how to ask it. */
async function migrated(name: string, { settings = '', before = '' }: { settings?: string; before?: string }) {
  const url = await createDatabase(name, { settings })
  if (before !== '') await onServer(url, (run) => run(before))
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg) })
  await (await openDatabase({ dataDir: '/nowhere', url, log, use: 'command' })).close()
  const ask = <Row>(text: string) => onServer(url, (run) => run<Row>(text))
  return { url, logged: lines.filter((line) => line !== 'Database migrated'), ask }
}

const inOrder = (order: string) =>
  `select name from unnest(array[${NAMES.map((name) => `'${name}'`).join()}]) with ordinality as t (name, n) order by ${order}, n`

for (const [index, [name, settings]] of Object.entries(locales).entries()) {
  test(`design §5 capitals and the order A to Z do not depend on the locale: ${name}`, async () => {
    const { ask, logged } = await migrated(`locale_${index}`, { settings })
    expect(logged).toEqual([])
    const rows = await ask<{ name: string }>(inOrder(aToZSql('name')))
    expect(rows.map((row) => row.name)).toEqual(IN_ORDER)
    expect(await ask(`select ${lowerSql(`'INFO@ÄИΣİ'`)} as small`)).toEqual([{ small: 'info@äиσi' }])
    await expect(ask(twoAccounts)).rejects.toThrow('users_email_key')
    // Indexes without a pinned collation would be ordered by the database's own.
    expect(await ask(UNPINNED)).toEqual([])
  })
}

const twoAccounts = `insert into users (id, fname, lname, email, user_type)
  values ('a', 'A', 'A', 'INFO@x.org', 'user'), ('b', 'B', 'B', 'info@x.org', 'user')`

/** Expressions in indexes that have the collation of the database. */
const UNPINNED = `
  select c.relname, pg_get_indexdef(c.oid, place::int, true) as expression
    from pg_index i join pg_class c on c.oid = i.indexrelid,
         unnest(string_to_array(indcollation::text, ' ')::oid[], string_to_array(indkey::text, ' ')::int[]) with ordinality as k (ordered_by, attnum, place)
   where c.relnamespace = 'public'::regnamespace and attnum = 0 and ordered_by = 100`

test('design §5 without ICU, lists from A to Z follow code points, and the log says so', async () => {
  const { ask, logged } = await migrated('without_icu', { before: 'create collation a_to_z from "C"' })
  expect(logged).toEqual([expect.stringContaining('built without ICU')])
  const rows = await ask<{ name: string }>(inOrder(aToZSql('name')))
  expect(rows.map((row) => row.name)).toEqual([
    '7',
    '_x',
    'andrew',
    'Andrew',
    'İrem',
    'irem',
    'Ivan',
    'zoe',
    'Zoe',
    'Émile',
    'Лев',
    'عمر',
  ])
})

test('design §5 after an update of ICU the indexes in the order A to Z are made anew', async () => {
  const outdated = `create collation a_to_z (provider = icu, locale = 'und', version = '1')`
  const { url, ask, logged } = await migrated('other_icu', { before: outdated })
  expect(logged, 'a database without indexes').toEqual([expect.stringContaining('made anew')])
  await ask(
    `drop table migrations, telegram_users, users cascade; drop collation a_to_z; ${outdated}; create table t (x text); create index i on t ((${aToZSql('x')}))`,
  )
  const filenode = () => ask<{ file: string }>(`select pg_relation_filenode('i') as file`)
  const before = await filenode()
  await (await openDatabase({ dataDir: '/nowhere', url, log: QUIET, use: 'command', migrations: [] })).close()
  expect(await filenode()).not.toEqual(before)
  expect(await ask(`select from pg_collation where collname = 'a_to_z' and collversion = '1'`)).toEqual([])
})

test('design §4 a database in which the locale told what capitals are is converted', async () => {
  const url = await createDatabase('converted', { settings: locales.Turkish })
  const steps = await loadMigrations()
  const earlier = steps.filter(({ name }) => name < '0034')
  await (await openDatabase({ dataDir: '/nowhere', url, log: QUIET, use: 'command', migrations: earlier })).close()
  await onServer(url, async (run) => {
    await run(`insert into users (id, fname, lname, email, user_type) values ('u', 'U', 'U', 'u@x.org', 'user')`)
    await run(`insert into saved_views (id, list, name, address, owner_id)
      values ('first', 'users', 'INFO', '', 'u'), ('second', 'users', 'info', '', 'u')`)
    await run(
      `alter table telegram_users drop column searched_text, add column searched_text text generated always as (lower(first_name)) stored`,
    )
    await run(`insert into telegram_users (user_id, first_name) values (1, 'IRMA')`)
  })
  await (await openDatabase({ dataDir: '/nowhere', url, log: QUIET, use: 'command' })).close()
  await onServer(url, async (run) => {
    expect(await run('select trim(searched_text) as text from telegram_users')).toEqual([{ text: 'irma' }])
    expect(await run(`select name from saved_views order by id`)).toEqual([{ name: 'INFO' }, { name: 'info (second)' }])
    expect(
      await run(
        `select relname from pg_class where relname like 'telegram_users_by%_name' or relname = 'telegram_users_by_username'`,
      ),
    ).toEqual([])
  })
})
