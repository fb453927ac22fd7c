import { type Selectable, sql } from 'kysely'
import { expect, expectTypeOf, test } from 'vitest'
import { playerFields } from '@arcade/contract/players/fields'
import { testDatabase } from '#test/test-database.ts'
import { addPlayers } from '#test/players.ts'
import {
  announcementEntity,
  columnName,
  columnTypes,
  defineEntity,
  type Entity,
  historyItemEntity,
  participantEntity,
  playerEntity,
  selectedFields,
  selectList,
  sourceSql,
  storedNames,
  taskEntity,
  trashEntity,
  userEntity,
} from './entities.ts'
import type { Tables } from './tables.ts'

const entities: Entity[] = [
  userEntity,
  playerEntity,
  taskEntity,
  announcementEntity,
  historyItemEntity,
  participantEntity,
  trashEntity,
]

test.each(entities)('§3 every stored field has its column in the migrated table $table', async (entity) => {
  const { db } = await testDatabase()
  const { rows } = await sql<{ name: string; type: string; isOptional: boolean }>`
    select attname as name, atttypid::regtype::text as type, not attnotnull as "isOptional"
      from pg_attribute where attrelid = any(${[entity.table, ...(entity.joined ? [entity.joined.table] : [])]}::regclass[]) and attnum > 0 and not attisdropped`.execute(
    db,
  )
  const found = new Map(rows.map((row) => [row.name, row]))
  for (const name of storedNames(entity.fields)) {
    const field = entity.fields[name]!
    const column = columnName(entity, name)
    expect(found.has(column), `${entity.table}.${column} for the field ${name}: is there a migration?`).toBe(true)
    const { type, isOptional } = found.get(column)!
    const stored = type.replace('timestamp with time zone', 'timestamptz').replace(/^integer$/, 'bigint')
    expect({ column, stored }).toEqual({ column, stored: columnTypes[field.kind] })
    expect({ column, isOptional }).toEqual({ column, isOptional: field.isOptional === true })
  }
})

test('columns are derived from the names of fields, or are named explicitly', () => {
  expect(columnName(playerEntity, 'linkedInUsername')).toBe('linked_in_username')
  expect(columnName(participantEntity, 'first_name')).toBe('first_name')
  expect(columnName(announcementEntity, 'icon')).toBe('icon_key')
  expect(selectList(participantEntity, { derived: {}, only: ['id', 'userInput'] })).toBe(
    'user_id as "id", user_input as "userInput"',
  )
  expectTypeOf<keyof Tables['telegram_users']>().toExtend<string>()
  expectTypeOf<Selectable<Tables['tasks']>>().toEqualTypeOf<{
    id: string
    collection: 'social' | 'daily'
    priority: number
    image: string
    title: string
    link: string | null
    reward: number
    verified_by_bot: boolean
    created_at: Date
    version: number
    from_before: string | null
    starts_at: Date | null
    ends_at: Date | null
    max_participants: number | null
    daily_budget: number | null
    segment_id: string | null
    start_pending: boolean
    end_pending: boolean
    full_at: Date | null
    budget_spent_on: Date | null
    paused: boolean
  }>()
})

test('a time is text in the format of Date.toISOString, cut to milliseconds', async () => {
  const { db } = await testDatabase()
  const moments = ['2026-03-04T05:06:07.089999Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z', '1969-12-31T23:59:59.9996Z']
  await addPlayers(
    db,
    moments.map((moment, index) => ({ user_id: index + 1, created_at: moment })),
  )
  const rows = await db
    .selectFrom(sql<object>`${sql.raw(sourceSql(playerEntity))}`.as('players'))
    .select(selectedFields(playerEntity, {}))
    .orderBy('userId')
    .execute()
  expectTypeOf(rows[0]!.createdAt).toEqualTypeOf<string | null>()
  expect(rows.map(({ createdAt }) => createdAt)).toEqual([
    '2026-03-04T05:06:07.089Z',
    '0001-01-01T00:00:00.000Z',
    '9999-12-31T23:59:59.999Z',
    '1969-12-31T23:59:59.999Z',
  ])
})

test('missing and misspelt names do not compile', () => {
  // @ts-expect-error a column name for a field that does not exist
  defineEntity({ table: 'telegram_users', fields: playerFields, columnNames: { shoeSize: 'shoes' }, id: 'userId' })
  // @ts-expect-error the id is not a field
  defineEntity({ table: 'telegram_users', fields: playerFields, columnNames: {}, id: 'id' })
  // @ts-expect-error the SQL of a derived field is missing
  expect(() => selectList(taskEntity, { derived: {} })).not.toThrow()
})
