/** Each rule must find its statements, and none that Citus accepts. All statements here were tried on a Citus cluster. */
import { describe, expect, test } from 'vitest'
import { distributionFaults, distributionRules } from './distribution-rules.ts'

const refused: Record<string, string[]> = {
  'locks rows of many players': [
    'select * from balances where balance > 1 for update skip locked',
    'select * from telegram_users where user_id = $1 or true for update',
    'select * from telegram_users where user_id = any($1) for no key update',
    'select * from tasks t join participations p on p.item_id = t.id for update of t',
    'with x as (select * from telegram_users for share) select * from x',
    'declare c cursor for select * from telegram_users for update',
  ],
  'joins distributed tables by another column than user_id': [
    'select a.user_id from telegram_users a join participations p on p.username = a.username',
    'select 1 from telegram_users a join balances b on a.user_id = b.user_id + 0',
    'select 1 from telegram_users a, balances b where a.user_id = $1 and b.user_id = $2',
    'delete from participations p using telegram_users t where t.username = p.username',
  ],
  'has a correlated subquery of a distributed table that is not tied by user_id': [
    'select t.id, (select count(*) from participations p where p.item_id = t.id) from tasks t',
    'select id from tasks where exists (select 1 from participations where item_id = id)',
    'select id from tasks where id = any(select item_id from participations where kind = collection)',
    'select t.id, (select count(*) from participations where item_id = t.id and user_id = $1) from tasks t',
    `select id, (select sum(amount) from uncounted_entries where item_id = 'n:' || tasks.id) from tasks`,
    'select count(*) from ledger_entries l, tasks t where l.reference = t.id and exists (select 1 from participations p where p.item_id = t.id)',
    'select user_id from telegram_users t where not exists (select 1 from participations p where p.username = t.username)',
    'select * from tasks t, lateral (select * from participations p where p.item_id = t.id limit 1) x',
    'select n from unnest($1::text[]) n where exists (select 1 from participations where item_id = n)',
    'with x as materialized (select user_id from telegram_users) select 1 from x where exists (select 1 from balances b where b.user_id = x.user_id)',
    'update tasks set title = (select max(item_id) from participations p where p.item_id = tasks.id)',
  ],
  'has a correlated subquery of a local table for rows of a distributed one': [
    'select p.user_id, (select title from tasks where id = p.item_id) from participations p where p.user_id = $1',
    'select 1 from participations p cross join lateral (select title from tasks where id = p.item_id) x',
    'delete from participations where exists (select 1 from tasks where id = item_id)',
  ],
  'is recursive and reads rows of many players': [
    'with recursive r as (select user_id from telegram_users union all select user_id from r) select * from r',
    'with recursive r as (select 1 as n union all select n + 1 from r where n < 3) select n, (select count(*) from participations) from r',
  ],
  'GROUPING SETS': [
    'select item_id, count(*) from participations group by grouping sets ((item_id), ())',
    'select item_id, count(*) from (select * from participations) p group by rollup (item_id)',
  ],
  'has a subquery in LIMIT or OFFSET': ['select item_id from participations limit (select count(*) from tasks)'],
  'has a correlated subquery in HAVING': [
    'select item_id from participations group by item_id having count(*) > (select max(value) from counters where name = item_id)',
  ],
  'selects no column in EXISTS': ['select exists (select from participations)'],
  'changes a local table by a subquery': [
    `update tasks set title = 'a' from (select item_id from participations) p where p.item_id = tasks.id`,
  ],
  'inserts VALUES into a local table': [`with x as (delete from uncounted_entries) insert into file_removals (key) values ('n')`],
  'has a subquery among inserted VALUES': [
    'insert into telegram_users (user_id, username) values ($1, (select title from tasks limit 1))',
    `insert into file_removals (key) values ((select max(item_id) from participations))`,
  ],
  'inserts rows without user_id': [
    'insert into telegram_users (username) values ($1)',
    'insert into telegram_users default values',
    'insert into telegram_users (username) select username from participations',
    'insert into telegram_users (user_id) values (null)',
  ],
  'has an ON CONFLICT target without user_id': [
    'insert into telegram_users (user_id, username) values ($1, $2) on conflict (username) do nothing',
  ],
  'changes the user_id of a row': [
    'update participations set user_id = $1 where user_id = $2',
    'update telegram_users set (user_id, username) = (select $1, $2)',
    'insert into balances (user_id) values ($1) on conflict (user_id) do update set user_id = 5',
  ],
  'changes rows by a volatile function': [
    'update balances set balance = random()',
    'delete from participations where random() < 0.5',
    'update tasks set title = clock_timestamp()::text where id in (select item_id from participations)',
  ],
  'computes a value that depends on the session': [
    'update participations set user_input = at::text where user_id = $1',
    `delete from participations where to_char(at, 'YYYY') = '2020' and user_id = $1`,
  ],
  'in RETURNING or ON CONFLICT': [
    'delete from uncounted_entries where user_id = $1 returning seq, at::text as at',
    'update balances set balance = 1 where user_id = $1 returning extract(epoch from blocked_at)',
    'insert into balances (user_id) values ($1) on conflict (user_id) do update set blocked_at = now()',
    'delete from participations returning *, (select count(*) from tasks)',
  ],
  ctid: [
    'update balances set balance = 1 where ctid = any(array(select ctid from balances limit 100))',
    'delete from balances where ctid in (select ctid from balances limit 100)',
  ],
  'changes the current row of a cursor': ['delete from participations where current of c'],
  MERGE: [
    'merge into telegram_users using tasks on true when matched then delete',
    `merge into telegram_users t using participations p on t.username = p.username when matched then update set first_name = 'x'`,
  ],
  'has a unique key without user_id': [
    'create unique index x on participations (item_id)',
    'alter table participations add constraint x unique (item_id)',
  ],
  'has a foreign key between': [
    'alter table participations add constraint x foreign key (kind, item_id) references tasks (collection, id)',
    'alter table tasks add constraint x foreign key (id) references telegram_users (user_id)',
  ],
  'creates a trigger': [
    'create trigger x before update on participations for each row execute function suppress_redundant_updates_trigger()',
  ],
  'adds an identity or serial column': [
    'alter table participations add column n bigint generated always as identity',
    'alter table participations add column n bigserial',
  ],
  'changes the distribution column': ['alter table participations alter column user_id type numeric'],
  'adds a constraint together with': [
    `alter table participations add column x text, add constraint y check (x <> '')`,
    `alter table participations add column x text check (x <> '')`,
  ],
  'does not pass on': ['alter table participations alter column item_id set statistics 500'],
}

describe('design §4 a statement that a distributed database refuses is found', () => {
  test.each(Object.entries(refused).flatMap(([what, statements]) => statements.map((statement) => [what, statement] as const)))(
    '%s: %s',
    (what, statement) => {
      expect(distributionFaults(statement).join('\n')).toContain(what)
    },
  )

  test.each(distributionRules)('this test has a statement for the rule: %s', (rule) => {
    expect(Object.keys(refused).some((what) => rule.includes(what))).toBe(true)
  })

  test('a statement with a syntax error is found', () => {
    expect(distributionFaults('select from from participations')).toEqual([expect.stringMatching(/^cannot be read/)])
  })
})

test.each([
  'select * from telegram_users where user_id = $1 for update',
  'select * from telegram_users t join balances b using (user_id) where b.user_id = $1::bigint and b.balance > 1 for update of t',
  'select * from tasks where id in (select item_id from participations) for update',
  `select 'for update of telegram_users'`,
  'select from tasks for update',
  'update balances set balance = $1 where user_id = $2',
  'update balances b set block_reason = t.username from telegram_users t where t.user_id = b.user_id',
  `select sum(amount) from uncounted_entries where item_id = 'n:' || $1::text || ':' || $2::text`,
  'select 1 from telegram_users a join unnest($1::bigint[]) x (n) on x.n = a.user_id join balances b on b.user_id = x.n',
  'select 1 from telegram_users a join participations p on a.username = p.username where a.user_id = $1 and p.user_id = $1',
  'select 1 from (select item_id, count(*) from participations group by 1) a join telegram_users t on a.item_id = t.username',
  'select t.title from tasks t left join participations p on p.item_id = t.id',
  'select t.user_id, (select count(*) from participations p where p.user_id = t.user_id) from telegram_users t',
  'select t.user_id, (select count(*) from participations p left join tasks on id = p.item_id where p.user_id = t.user_id) from telegram_users t',
  'with c as (select item_id, count(*) as n from participations group by 1) select id, (select n from c where item_id = tasks.id) from tasks',
  'select id, array(select item_id from participations) from tasks where (select count(*) from balances) > 1',
  'select * from tasks t, lateral (select * from participations p where p.item_id = t.id) x',
  'with gone as (delete from uncounted_entries returning item_id) insert into file_removals (key) select item_id from gone group by item_id',
  'with p as materialized (select * from participations) select item_id, count(*) from p group by rollup (item_id)',
  'select item_id, count(*) from participations where user_id = $1 group by rollup (item_id)',
  'insert into participations (user_id, kind, item_id) select n, $1, $2 from generate_series(1, 3) n returning at::text',
  'insert into balances (user_id) values ($1) on conflict (user_id) do update set balance = excluded.balance returning blocked_at',
  'update balances set blocked_at = now() where user_id = $1 returning balance::text',
  'merge into balances b using telegram_users t on b.user_id = t.user_id when matched then delete',
  'create unique index x on participations (user_id, item_id)',
  `alter table balances add column x text constraint y check (x <> ''), add column z text`,
])('design §4 a statement that a distributed database accepts passes: %s', (statement) => {
  expect(distributionFaults(statement)).toEqual([])
})
