/** Real processes start, share and stop the embedded PostgreSQL in order. */
import { readFile, readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { isRunning, postmasterPid, preparedDataDir, startProcess, temporaryDataDir, waitFor } from '#test/processes.ts'
import { findProcesses } from '#src/postgres/processes.ts'

test('design §4 the first start creates the embedded PostgreSQL, SIGTERM stops it, a restart finds its data', async () => {
  const dataDir = await temporaryDataDir()
  const first = startProcess({ dataDir, use: 'server' })
  await first.opened
  await first.query(`insert into counters values ('kept', 42)`)
  const postmaster = await postmasterPid(dataDir)
  first.kill('SIGTERM')
  expect(await first.ended).toMatchObject({ code: 0 })
  await waitFor('PostgreSQL to end', async () => !(await isRunning(postmaster)))

  const second = startProcess({ dataDir, use: 'server' })
  await second.opened
  expect(await second.query('select * from counters')).toEqual([{ name: 'kept', value: 42 }])
})

test('design §4 the embedded PostgreSQL is private: only its owner reads password and data, and the superuser cannot log in', async () => {
  const dataDir = await temporaryDataDir()
  const server = startProcess({ dataDir, use: 'server' })
  await server.opened
  const modes = await Promise.all(
    ['postgres', 'postgres/arcade.password', 'postgres/log'].map(
      async (file) => (await stat(path.join(dataDir, file))).mode & 0o777,
    ),
  )
  expect(modes).toEqual([0o700, 0o600, 0o700])
  expect((await readFile(path.join(dataDir, 'postgres/arcade.password'), 'utf8')).trim()).toMatch(/^[\w-]{43}$/)
  const [role] = await server.query(
    'select rolname, rolsuper, rolcreatedb, rolcreaterole from pg_roles where rolname = current_user',
  )
  expect(role).toEqual({ rolname: 'arcade', rolsuper: false, rolcreatedb: false, rolcreaterole: false })
  expect(await readFile(path.join(dataDir, 'postgres/pg_hba.conf'), 'utf8')).toBe(
    '# Written by Arcade Console at each start.\nhost arcade arcade 127.0.0.1/32 scram-sha-256\n',
  )
  const settings = await server.query(
    `select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'listen_addresses', 'server_encoding') order by name`,
  )
  expect(settings.map(({ setting }) => setting)).toEqual(['on', '127.0.0.1', 'UTF8', 'on'])
  const [locale] = await server.query(`select datlocprovider, datlocale from pg_database where datname = 'arcade'`)
  expect(locale).toEqual({ datlocprovider: 'b', datlocale: 'C.UTF-8' })
  const { uid } = await stat(path.join(dataDir, 'postgres'))
  expect(uid).toBeGreaterThan(0)
})

test('design §4 SIGTERM during the start ends the server and leaves no PostgreSQL behind', async () => {
  const dataDir = await preparedDataDir()
  const server = startProcess({ dataDir, use: 'server' })
  await waitFor('PostgreSQL to start', () => postmasterPid(dataDir).catch(() => undefined))
  server.kill('SIGTERM')
  expect(await server.ended).toMatchObject({ code: 0 })
  const inside = () => findProcesses(({ cwd }) => cwd === path.join(dataDir, 'postgres'))
  await waitFor('the end of PostgreSQL', async () => (await inside()).length === 0)
})

test('design §4 a second server on the same DATA_DIR is refused', async () => {
  const dataDir = await preparedDataDir()
  const first = startProcess({ dataDir, use: 'server' })
  await first.opened
  const second = startProcess({ dataDir, use: 'server' })
  await expect(second.opened).rejects.toThrow(
    `Another Arcade Console is already running on DATA_DIR ${dataDir} (process ${first.pid}; kill ${first.pid} ends it).`,
  )
  expect(await second.ended).toMatchObject({ code: 1 })
  expect(await first.query('select 1 as one')).toEqual([{ one: 1 }])
})

test('design §4 if two servers start at once on an empty DATA_DIR, one wins and the other is refused', async () => {
  const dataDir = await temporaryDataDir()
  const outcomes = await Promise.allSettled([
    startProcess({ dataDir, use: 'server' }).opened,
    startProcess({ dataDir, use: 'server' }).opened,
  ])
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(String(outcomes.find((outcome) => outcome.status === 'rejected')?.reason)).toMatch(
    'Another Arcade Console is already running',
  )
  expect(await readdir(dataDir)).toEqual(['postgres'])
})

test('design §4 a command works without a server and leaves nothing running', async () => {
  const dataDir = await preparedDataDir()
  const command = startProcess({ dataDir, use: 'command' })
  await command.opened
  const postmaster = await postmasterPid(dataDir)
  command.kill('SIGTERM')
  expect(await command.ended).toMatchObject({ code: 0 })
  await waitFor('PostgreSQL to end', async () => !(await isRunning(postmaster)))
})

test('design §4 a command beside a server uses its PostgreSQL and leaves it running', async () => {
  const dataDir = await preparedDataDir()
  const server = startProcess({ dataDir, use: 'server' })
  await server.opened
  const postmaster = await postmasterPid(dataDir)
  const command = startProcess({ dataDir, use: 'command' })
  await command.opened
  await command.query(`insert into counters values ('by command', 1)`)
  command.kill('SIGTERM')
  expect(await command.ended).toMatchObject({ code: 0 })
  expect(await server.query('select name from counters')).toEqual([{ name: 'by command' }])
  expect(await postmasterPid(dataDir)).toBe(postmaster)
})

test('design §4 a server that starts during a command keeps its PostgreSQL when the command ends, and the other way round', async () => {
  const dataDir = await preparedDataDir()
  const command = startProcess({ dataDir, use: 'command' })
  await command.opened
  const server = startProcess({ dataDir, use: 'server' })
  await server.opened
  const postmaster = await postmasterPid(dataDir)
  command.kill('SIGTERM')
  expect(await command.ended).toMatchObject({ code: 0 })
  expect(await server.query('select 1 as one')).toEqual([{ one: 1 }])

  const late = startProcess({ dataDir, use: 'command' })
  await late.opened
  server.kill('SIGTERM')
  expect(await server.ended).toMatchObject({ code: 0 })
  expect(await late.query('select 1 as one')).toEqual([{ one: 1 }])
  expect(await postmasterPid(dataDir)).toBe(postmaster)
  late.kill('SIGTERM')
  await late.ended
  await waitFor('PostgreSQL to end', async () => !(await isRunning(postmaster)))
})

test('design §4 processes that start while others stop PostgreSQL all get a running one', async () => {
  const dataDir = await preparedDataDir()
  const first = startProcess({ dataDir, use: 'command' })
  await first.opened
  // Each command ends as soon as it has a database, so starts and stops overlap again and again.
  const rounds = Array.from({ length: 3 }, async () => {
    for (let round = 0; round < 3; round += 1) {
      const command = startProcess({ dataDir, use: 'command' })
      await command.opened
      expect(await command.query('select 1 as one')).toEqual([{ one: 1 }])
      command.kill('SIGTERM')
      expect(await command.ended).toMatchObject({ code: 0 })
    }
  })
  first.kill('SIGTERM')
  await Promise.all(rounds)
  const left = await waitFor('the cluster to be stopped', async () =>
    (await readdir(path.join(dataDir, 'postgres'))).every((name) => name !== 'postmaster.pid'),
  )
  expect(left).toBe(true)
})
