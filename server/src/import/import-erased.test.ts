/** An import of old data does not bring back an erased player (ADR 22); the game can add the id as a new player. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { expectReconciled } from '#test/ledger.ts'
import { rowsOfTables } from '#test/console-rows.ts'
import { testApp } from '#test/test-app.ts'
import { importDirectory } from './import.ts'

const ID = 7_345_678_901
const ndjson = (...rows: object[]): string => rows.map((row) => JSON.stringify(row)).join('\n')

test('ADR 22 the game can add an erased id as a new player with balance 0, an import refuses it', async () => {
  const app = await testApp()
  const { database } = app
  const [admin, bot] = [await app.signUp('admin'), await app.bot()]
  const directory = await mkdtemp(join(os.tmpdir(), 'arcade-erased-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const timestamp = '2026-01-02T03:04:05Z'
  const players = [
    { userId: ID, firstName: 'Adelheid', balance: 99 },
    { userId: 9, balance: 1 },
  ]
  await writeFile(join(directory, 'telegramUsers.ndjson'), ndjson(...players))
  await writeFile(join(directory, 'announcementHistory.ndjson'), ndjson({ id: 'a', title: 'A', type: 'desc', reward: 1 }))
  await writeFile(
    join(directory, 'announcementHistory.users.ndjson'),
    ndjson({ parent: 'a', id: ID, first_name: 'Adelheid', timestamp }, { parent: 'a', id: 9, timestamp }),
  )
  const importAll = () => importDirectory({ database, directory, rejectedPath: join(directory, 'rejected.ndjson') })
  const rejected = async (): Promise<number[]> => (await importAll()).files.map((file) => file.rejected)
  expect(await rejected()).toEqual([0, 0, 0])
  const { body } = await admin.call('POST', `/api/telegram-users/${ID}/erase`, { confirmation: ID })
  expect(body.success).toBe(true)
  expect(await rejected()).toEqual([1, 0, 1])
  const everything = async (): Promise<string> => JSON.stringify(await rowsOfTables(database.db))
  expect(await everything()).not.toContain('Adelheid')

  const put = await bot.call('PUT', `/bot/v1/players/${ID}`, { firstName: 'Somebody' })
  expect(put.body).toMatchObject({ player: { balance: 0, firstName: 'Somebody' } })
  expect(await rejected()).toEqual([1, 0, 1])
  expect((await bot.call('GET', `/bot/v1/players/${ID}`)).body).toMatchObject({ player: { balance: 0, firstName: 'Somebody' } })
  await expectReconciled(database)
  const { rows } = await sql`select user_id > 0 as "isPlayer", balance from balances order by balance`.execute(database.db)
  expect(rows).toEqual([
    { isPlayer: true, balance: 0 },
    { isPlayer: true, balance: 1 },
    { isPlayer: false, balance: 99 },
  ])
})
