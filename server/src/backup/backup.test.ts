/** Backups and restores of databases on the tests' server: what is saved, what is restored, what is refused. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import { beforeAll, afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Database, openDatabase } from '#src/db/database.ts'
import { lockChangesShared } from '#src/db/transaction-locks.ts'
import { diskStore, type FileStore } from '#src/files/disk.ts'
import { createFiles } from '#src/files/files.ts'
import { StartError } from '#src/postgres/errors.ts'
import { LOCKS } from '#src/postgres/lock-holder.ts'
import { addRows, rowsOfTables, endedTables } from '#test/console-rows.ts'
import { createDatabase, testDatabase } from '#test/test-database.ts'
import { startS3Server } from '#test/s3-server.ts'
import { onServer } from '#test/test-server.ts'
import { makeBackup, removeBackup } from './backup.ts'
import { type Manifest, readManifest, sha256, writeManifest } from './manifest.ts'
import { openPlace, type Place } from './place.ts'
import { restoreBackup, verifyBackup } from './restore.ts'
import { takeTurn, TurnTakenError } from './turn.ts'

const log = pino({ level: 'silent' })
const IMAGE = 'announcements/1_image.png'
const ICON = 'announcements/2_icon.png'

async function folder(): Promise<string> {
  const base = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-backup-'))
  onTestFinished(() => rm(base, { recursive: true, force: true }))
  return path.join(base, 'backup')
}

async function storeWithFiles(root?: string): Promise<FileStore> {
  const store = diskStore(root ?? (await folder()))
  for (const key of [IMAGE, ICON, 'announcements-thumbs/1_image.png.webp', 'announcements-thumbs/2_icon.png.webp'])
    await store.put(key, Buffer.from(`the bytes of ${key}`), 'image/png')
  return store
}

/** Makes a small console and a backup of it. */
async function saved(compression: Manifest['compression'] = 'zstd') {
  const database = await testDatabase()
  await addRows(database)
  const fileStore = await storeWithFiles()
  const at = await folder()
  const place = openPlace(at)
  const manifest = await makeBackup({ database, fileStore, place, compression })
  return { database, fileStore, at, place, manifest }
}

let targets = 0

/** Makes an empty database. Its functions inspect it on demand. */
async function emptyTarget(filesRoot?: string) {
  const url = await createDatabase(`backup_${process.env['VITEST_POOL_ID']}_${(targets += 1)}`)
  const root = filesRoot ?? (await folder())
  const files = { store: diskStore(root), address: root }
  const tables = () =>
    onServer(url, (run) => run<{ name: string }>(`select tablename as name from pg_tables where schemaname = 'public'`))
  const open = async (): Promise<Database> => {
    const database = await openDatabase({ dataDir: '/nowhere', url, log, use: 'command' })
    onTestFinished(() => database.close())
    return database
  }
  return { url, files, options: { dataDir: '/nowhere', url, files, log }, tables, open, root }
}

describe('round trip', () => {
  test.each(['zstd', 'none'] as const)('design §8 a backup and its restore keep every row and file (%s)', async (compression) => {
    const { database, place, manifest } = await saved(compression)
    expect(manifest.files.map(({ key }) => key)).toEqual([
      'announcements-thumbs/1_image.png.webp',
      'announcements-thumbs/2_icon.png.webp',
      IMAGE,
      ICON,
    ])
    const target = await emptyTarget()
    const { tokens } = await restoreBackup(place, target.options)
    expect(tokens).toEqual([expect.objectContaining({ name: 'game bot' })])
    expect(JSON.stringify(tokens)).not.toContain('hash')

    const restored = await target.open()
    const ended = [...endedTables, 'scheduled_work_pauses', 'audit_open']
    expect(await rowsOfTables(restored.db, ended)).toEqual(await rowsOfTables(database.db, ended))
    expect(await readFile(path.join(target.root, IMAGE), 'utf8')).toBe(`the bytes of ${IMAGE}`)
    const indexes = (db: Database) => sql`select indexdef from pg_indexes where schemaname = 'public' order by 1`.execute(db.db)
    expect((await indexes(restored)).rows).toEqual((await indexes(database)).rows)
  })

  test('security: a restore ends sessions and one-time links, and pauses scheduled work', async () => {
    const target = await emptyTarget()
    await restoreBackup((await saved()).place, target.options)
    const { db } = await target.open()
    const rows = await rowsOfTables(db)
    for (const table of endedTables) expect(rows[table]).toEqual([])
    expect(rows['scheduled_work_pauses']).toEqual([expect.stringContaining('restored from the backup')])
  })

  test('a restore pauses broadcasts that may have been sent since the backup', async () => {
    const database = await testDatabase()
    await sql`insert into broadcasts (id, number, announcement_id, title, filter, state) values
      ('scheduled', 11, 'n', '', '{}', 'scheduled'), ('sending', 12, 'n', '', '{}', 'sending'), ('over', 13, 'n', '', '{}', 'done')`.execute(
      database.db,
    )
    const target = await emptyTarget()
    await restoreBackup((await saved()).place, target.options)
    const { db } = await target.open()
    const rows = await db.selectFrom('broadcasts').select(['id', 'problem']).where('is_paused', '=', true).orderBy('id').execute()
    const problem = expect.stringContaining('Players may have got the message since') as string
    expect(rows).toEqual(['scheduled', 'sending'].map((id) => ({ id, problem })))
  })

  test('design §8 a backup taken while others write has one snapshot', async () => {
    const database = await testDatabase()
    await sql`insert into balances (user_id, balance) select n, 100 from generate_series(1, 20000) n`.execute(database.db)
    let isRunning = true
    let writes = 0
    const writing = Array.from({ length: 3 }, async () => {
      // Points move from one player to another. One may be saved already and the other not yet.
      for (; isRunning; writes += 1)
        await database.transaction(async (tx) => {
          await lockChangesShared(tx)
          const [from, to] = [1 + Math.floor(Math.random() * 100), 19_900 + Math.floor(Math.random() * 100)]
          await sql`update balances set balance = balance + case user_id when ${from} then -7 else 7 end
            where user_id in (${from}, ${to})`.execute(tx)
          await sql`update status_epoch set epoch = epoch + 1`.execute(tx)
          await sql`insert into file_removals (key, requested_at) values (gen_random_uuid(), now() + interval '1 day')`.execute(
            tx,
          )
        })
    })
    const place = openPlace(await folder())
    const before = writes
    try {
      await makeBackup({ database, fileStore: await storeWithFiles(), place })
    } finally {
      isRunning = false
      await Promise.all(writing)
    }
    expect(writes).toBeGreaterThan(before)
    const target = await emptyTarget()
    await restoreBackup(place, target.options)
    const { db } = await target.open()
    const { rows } = await sql`
      select (select sum(balance) from balances) as balances,
             (select epoch from status_epoch) = (select count(*) from file_removals) as "isOneMoment"`.execute(db)
    expect(rows).toEqual([{ balances: 2_000_000, isOneMoment: true }])
  })

  test('design §8 a backup on S3 can be made, verified, restored and removed', async () => {
    const server = await startS3Server({ isListed: true })
    onTestFinished(() => server.stop())
    const database = await testDatabase()
    await addRows(database)
    const place = openPlace(server.url.replace('/console', '/backups')).below('first')
    expect(place.address).toBe('s3://arcade/backups/first')
    await makeBackup({ database, fileStore: await storeWithFiles(), place })
    const target = await emptyTarget()
    await restoreBackup(place, target.options)
    expect((await rowsOfTables((await target.open()).db))['telegram_users']).toHaveLength(2)
    await removeBackup(place)
    expect(await place.names()).toEqual([])
  })

  test('design §8 a backup holds everything that can be in a database: tables with indexes, and views, which have no data', async () => {
    const { db } = await testDatabase()
    const { rows } = await sql`
      select relname, relkind from pg_class c where relnamespace = 'public'::regnamespace and relkind not in ('r', 'i', 'v')
       union all select tgname, 't' from pg_trigger join pg_class c on c.oid = tgrelid
                  where relnamespace = 'public'::regnamespace and not tgisinternal
       union all select oid::text, 'l' from pg_largeobject_metadata`.execute(db)
    expect(rows).toEqual([])
  })
})

describe('files', () => {
  test('security: a file that is removed during a backup is in the backup, and is removed afterwards', async () => {
    const database = await testDatabase()
    await addRows(database)
    const store = await storeWithFiles()
    const files = createFiles({ database, store, log, trashDays: 30 })
    let isRemoved = false
    const slow: FileStore = {
      ...store,
      async open(key) {
        if (!isRemoved) {
          isRemoved = true
          await sql`update announcements set image_key = null, image_name = null`.execute(database.db)
          await database.transaction(async (tx) => {
            await files.withdraw(tx, [IMAGE], 'purge')
            await files.purge(tx, [IMAGE])
          })
          await files.sweep()
        }
        return store.open(key)
      },
    }
    const place = openPlace(await folder())
    const manifest = await makeBackup({ database, fileStore: slow, place })
    expect(manifest.files.map(({ key }) => key)).toContain(IMAGE)
    expect(manifest.missingFiles).toEqual([])
    // PostgreSQL releases the backup's lock when it notices that the connection is closed.
    const isThere = async (): Promise<boolean> => {
      await files.sweep()
      return store.has(IMAGE)
    }
    await expect.poll(isThere, { timeout: 20_000 }).toBe(false)
  })

  test('design §8 a file that a row names but the store does not have is reported', async () => {
    const database = await testDatabase()
    await addRows(database)
    const store = await storeWithFiles()
    await store.remove(ICON)
    const manifest = await makeBackup({ database, fileStore: store, place: openPlace(await folder()) })
    expect(manifest.missingFiles).toEqual([ICON])
  })
})

describe('damage', () => {
  const part = async (at: string): Promise<string> => {
    const name = (await readdir(path.join(at, 'tables'))).find((one) => one.startsWith('telegram_users'))
    return path.join(at, 'tables', name ?? '')
  }
  const cases: [what: string, change: (at: string) => Promise<void>, reason: RegExp][] = [
    ['a truncated part', async (at) => truncate(await part(at), (await stat(await part(at))).size - 1), /bytes instead of/],
    ['an altered part', async (at) => flip(await part(at)), /telegram_users\S+ was altered/],
    ['a removed part', async (at) => rm(await part(at)), /telegram_users\S+ is missing/],
    ['a part that never ends', async (at) => replace(await part(at), (name) => symlink('/dev/zero', name)), /not a regular/],
    ['a part that is a folder', async (at) => replace(await part(at), (name) => mkdir(name)), /not a regular/],
    ['a removed file', async (at) => rm(path.join(at, 'files', IMAGE)), /1_image.png is missing/],
    ['an altered manifest', async (at) => flip(path.join(at, 'manifest.json'), 200), /manifest.json was altered/],
    ['a truncated manifest', async (at) => truncate(path.join(at, 'manifest.json'), 500), /manifest.json was altered/],
    ['a part outside the backup', async (at) => rename(at, 'files/../../passwd'), /manifest.json was altered/],
    ['no manifest', async (at) => rm(path.join(at, 'manifest.json')), /There is no whole backup in .*: it was cut off/],
  ]
  /** Gives a file another name in the manifest, which keeps a right checksum. */
  const rename = async (at: string, name: string): Promise<void> => {
    const manifest = await readManifest(openPlace(at))
    await writeManifest(openPlace(at), { ...manifest, files: manifest.files.map((file) => ({ ...file, name })) })
  }
  const replace = async (name: string, make: (name: string) => Promise<unknown>): Promise<void> => {
    await rm(name)
    await make(name)
  }
  let whole: string
  let untouched: Awaited<ReturnType<typeof emptyTarget>>
  beforeAll(async () => {
    whole = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-whole-'))
    const database = await testDatabase()
    await addRows(database)
    await makeBackup({
      database,
      fileStore: await storeWithFiles(path.join(whole, 'files')),
      place: openPlace(path.join(whole, 'backup')),
    })
    untouched = await emptyTarget(path.join(whole, 'restored'))
  })
  afterAll(() => rm(whole, { recursive: true, force: true }))

  test.each(cases)('security: %s is refused before anything is touched', async (_, change, reason) => {
    const at = await folder()
    await cp(path.join(whole, 'backup'), at, { recursive: true })
    await change(at)
    const refused = restoreBackup(openPlace(at), untouched.options)
    await expect(refused).rejects.toThrow(StartError)
    await expect(refused).rejects.toThrow(reason)
    expect(await untouched.tables()).toEqual([])
  })

  test('security: restored rows that differ from the saved ones are found, even if every file has its checksum', async () => {
    const { at, place, manifest } = await saved('none')
    const file = await part(at)
    const text = (await readFile(file, 'utf8')).replace('moon_7', 'moon_8')
    await writeFile(file, text)
    const table = manifest.tables.find(({ name }) => name === 'telegram_users')!
    table.parts[0]!.sha256 = sha256(Buffer.from(text))
    await writeManifest(place, manifest)
    const target = await emptyTarget()
    await expect(restoreBackup(place, target.options)).rejects.toThrow(/restored table telegram_users differs from the saved one/)
    await expect(target.open()).rejects.toThrow(/is being restored from a backup, or that was cut off/)
  })

  test('design §8 a backup of a newer version is refused, and the message says what to do', async () => {
    const { place, manifest } = await saved()
    await writeManifest(place, { ...manifest, version: '9.1.0', migrations: [...manifest.migrations, '9999_future'] })
    const expected =
      /made by a newer Arcade Console \(9.1.0; its migration 9999_future is unknown here\).*use that version or a later one/
    await expect(restoreBackup(place, untouched.options)).rejects.toThrow(expected)
    await expect(verifyBackup(place, { scratchDir: await folder(), log })).rejects.toThrow(expected)
    expect(await untouched.tables()).toEqual([])
    await writeManifest(place, { ...manifest, format: 2 as 1, version: '9.2.0' })
    await expect(readManifest(place)).rejects.toThrow(/made by a newer Arcade Console \(9.2.0\): use that version or a later one/)
  })
})

describe('places', () => {
  test('security: a restore refuses a database or a file store that is not empty, and leaves it as it is', async () => {
    const { place } = await saved()
    const target = await emptyTarget()
    await onServer(target.url, (run) => run('create table theirs as select 1 as one'))
    await expect(restoreBackup(place, target.options)).rejects.toThrow(/The database of DATABASE_URL is not empty \(theirs\)/)
    expect(await target.tables()).toEqual([{ name: 'theirs' }])

    const other = await emptyTarget()
    await other.files.store.put('announcements/theirs.png', Buffer.from('x'), 'image/png')
    await expect(restoreBackup(place, other.options)).rejects.toThrow(
      /The file store .* is not empty \(announcements\/theirs.png\)/,
    )
    expect(await other.tables()).toEqual([])
    expect(await other.files.store.has('announcements/theirs.png')).toBe(true)
  })

  test('security: a restore refuses a DATA_DIR that is not empty and does not touch it', async () => {
    const { place } = await saved()
    const dataDir = await folder()
    await openPlace(dataDir).put('notes.txt', Buffer.from('mine'))
    const options = { dataDir, files: { store: diskStore(path.join(dataDir, 'files')), address: dataDir }, log }
    await expect(restoreBackup(place, options)).rejects.toThrow(/DATA_DIR .* is not empty \(notes.txt\)/)
    expect(await readdir(dataDir)).toEqual(['notes.txt'])
  })

  test('design §8 a backup is refused where another backup or other files are', async () => {
    const { database, fileStore, at, place } = await saved()
    const before = await readFile(path.join(at, 'manifest.json'), 'utf8')
    await expect(makeBackup({ database, fileStore, place })).rejects.toThrow(/There is a backup in .*: name an empty place/)
    expect(await readFile(path.join(at, 'manifest.json'), 'utf8')).toBe(before)

    const other = await folder()
    await openPlace(other).put('tables/holiday.jpg', Buffer.from('x'))
    await expect(makeBackup({ database, fileStore, place: openPlace(other) })).rejects.toThrow(
      /is not empty \(tables\/holiday.jpg\)/,
    )
    expect(await openPlace(other).names()).toEqual(['tables/holiday.jpg'])
  })

  test('design §8 a turn waits for another that is about to end, and is refused if the other takes longer', async () => {
    const database = await testDatabase()
    const first = await takeTurn(database)
    const refused = takeTurn(database)
    await expect(refused).rejects.toThrow(TurnTakenError)
    await expect(refused).rejects.toThrow(/Another backup of this database is being made or verified \(arcade backup\)/)

    const next = takeTurn(database, { waitMs: 60_000 })
    const waiting = sql<{ waiting: boolean }>`
      select exists (select from pg_locks join pg_database d on d.oid = database and d.datname = current_database()
                      where locktype = 'advisory' and objid in (${LOCKS.backup}, ${LOCKS.backupSchedule}) and not granted) as waiting`
    await expect
      .poll(async () => (await waiting.execute(database.db)).rows[0]?.waiting, { interval: 20, timeout: 50_000 })
      .toBe(true)
    await first.end()
    await (await next).end()
  })

  test('design §8 a failed backup leaves nothing behind, and the next one works', async () => {
    const { database, fileStore } = await saved()
    const at = await folder()
    const whole = openPlace(at)
    let puts = 0
    const failing: Place = {
      ...whole,
      put: (name, bytes) => ((puts += 1) > 5 ? Promise.reject(new Error('the disk is broken')) : whole.put(name, bytes)),
    }
    await expect(makeBackup({ database, fileStore, place: failing })).rejects.toThrow('the disk is broken')
    expect(await whole.names()).toEqual([])
    await makeBackup({ database, fileStore, place: whole })
    expect(await whole.names()).toContain('manifest.json')
  })
})

describe('trial', () => {
  let scratchDir: string
  beforeAll(async () => {
    scratchDir = path.join(await mkdtemp(path.join(os.tmpdir(), 'arcade-test-trial-')), 'trial')
  })
  afterAll(() => rm(path.dirname(scratchDir), { recursive: true, force: true }))

  test('design §8 verify restores into a temporary database, also checks the audit, and leaves nothing behind', async () => {
    const { database, fileStore, place } = await saved()
    await verifyBackup(place, { scratchDir, log })
    expect(await readdir(path.dirname(scratchDir))).toEqual([])

    await sql`update audit_entries set action = 'export' where seq = 1`.execute(database.db)
    const forged = openPlace(await folder())
    await makeBackup({ database, fileStore, place: forged })
    await expect(verifyBackup(forged, { scratchDir, log })).rejects.toThrow(
      /are those that were saved, but its audit trail is not whole: Entry no. 1: its hash does not match the entry/,
    )
    expect(await readdir(path.dirname(scratchDir))).toEqual([])
  })
})

/** Flips one bit of the file. */
async function flip(file: string, at?: number): Promise<void> {
  const bytes = await readFile(file)
  const index = at ?? Math.floor(bytes.length / 2)
  bytes[index] = (bytes[index] ?? 0) ^ 1
  await writeFile(file, bytes)
}
