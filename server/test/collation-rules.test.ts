import { expect, test } from 'vitest'
import { collationFaults } from './collation-rules.ts'

test.each([
  'select lower(email) from users',
  'select 1 where upper($1::text) = name',
  `select id from users where email ilike 'a%'`,
  `update users set fname = initcap(fname)`,
  `select id from users where email ~* 'a'`,
])('design §5 the locale of the database would decide: %s', (text) => expect(collationFaults(text)).toEqual([text]))

test.each([
  'select lower(email collate letters) from users',
  'select id from users order by lower(fname collate letters) collate a_to_z',
  `select id from users where email like 'lower%'`,
  'create index i on users (lower(email))',
])('design §5 the locale of the database does not decide: %s', (text) => expect(collationFaults(text)).toEqual([]))
