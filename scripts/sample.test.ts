import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './children.ts'
import { sampleFiles } from './sample.ts'

const folder = join(root, 'sample')
const files = sampleFiles()
const rows = (name: string): Record<string, unknown>[] =>
  files[`${name}.ndjson`]!.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
const valuesOf = (name: string, field: string): Set<unknown> => new Set(rows(name).map((row) => row[field]))

test('§3 the sample in the repository is what its script writes, byte for byte, and nothing else', () => {
  expect(new Set(readdirSync(folder))).toEqual(new Set(Object.keys(files)))
  for (const [file, content] of Object.entries(files)) expect(readFileSync(join(folder, file), 'utf8'), file).toBe(content)
  expect(sampleFiles()).toEqual(files) // a second call in the same process gives the same
})

test('§9 the sample has 1,203 players, 12 social and 7 daily tasks, 9 announcements and their history', () => {
  const counts = Object.fromEntries(Object.keys(files).map((file) => [file, rows(file.replace('.ndjson', '')).length]))
  expect(counts).toEqual({
    'telegramUsers.ndjson': 1203,
    'socialTask.ndjson': 12,
    'socialTasksHistory.ndjson': 12,
    'socialTasksHistory.users.ndjson': 445,
    'dailyTask.ndjson': 7,
    'dailyTasksHistory.ndjson': 7,
    'dailyTasksHistory.users.ndjson': 251,
    'announcements.ndjson': 9,
    'announcementHistory.ndjson': 9,
    'announcementHistory.users.ndjson': 392,
  })
})

test('§5 the sample has every type of task and announcement, active and inactive, and items without participants', () => {
  const social = ['bsc', 'discord', 'email', 'instagram', 'linkedin', 'moreLink', 'twitter', 'youtube']
  expect(valuesOf('socialTask', 'image')).toEqual(new Set(social))
  expect(valuesOf('dailyTask', 'image')).toEqual(new Set(['instagram', 'moreLink', 'telegram', 'twitter', 'youtube']))
  expect(new Set(rows('announcements').map(({ type, linkType }) => linkType ?? type))).toEqual(
    new Set(['desc', 'input', 'noInput']),
  )
  expect(valuesOf('announcements', 'status')).toEqual(new Set([false, true]))
  for (const history of ['socialTasksHistory', 'dailyTasksHistory', 'announcementHistory'])
    expect(valuesOf(`${history}.users`, 'parent').size, history).toBeLessThan(rows(history).length)
})

test('§3 the sample’s players differ: the first page shows five people, and every optional field is there and missing somewhere', () => {
  const players = rows('telegramUsers')
  const name = ({ firstName, lastName }: Record<string, unknown>): string => `${String(firstName)} ${String(lastName)}`
  const byBalance = players.toSorted((a, b) => Number(b['balance']) - Number(a['balance']))
  expect(new Set(byBalance.slice(0, 5).map(name)).size).toBe(5)
  expect(new Set(byBalance.slice(0, 5).map(({ balance }) => balance)).size).toBe(5)
  expect(new Set(players.map(name)).size).toBeGreaterThan(1_200)
  const fields = new Set(players.flatMap((player) => Object.keys(player)))
  expect(fields.size).toBe(1 + 15)
  const complete = [...fields].filter((field) => players.every((player) => player[field] !== undefined))
  expect(complete).toEqual(['id', 'userId', 'createdAt', 'balance'])
})

test('§3 no player of the sample takes part before joining, and each of the last 14 days has activity', () => {
  const seconds = (row: Record<string, unknown>, field: string): number => {
    const { _seconds } = row[field] as { _seconds: number }
    return _seconds
  }
  const joined = new Map(rows('telegramUsers').map((player) => [player['id'], seconds(player, 'createdAt')]))
  const users = ['socialTasksHistory.users', 'dailyTasksHistory.users', 'announcementHistory.users'].flatMap(rows)
  expect(users.filter((user) => seconds(user, 'timestamp') < (joined.get(user['id']) ?? Number.POSITIVE_INFINITY))).toEqual([])
  const newest = Math.max(...joined.values(), ...users.map((user) => seconds(user, 'timestamp')))
  const daysAgo = (at: number): number => Math.floor((newest - at) / 86_400)
  const days = new Set([...joined.values()].map(daysAgo).filter((day) => day < 14))
  expect(days.size).toBe(14)
  expect(new Set(users.map((user) => daysAgo(seconds(user, 'timestamp'))).filter((day) => day < 14)).size).toBe(14)
})
