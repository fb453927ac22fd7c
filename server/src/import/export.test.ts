/** `arcade export` writes what an import reads: the same rows come back. */
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Database } from '#src/db/database.ts'
import { diskStore } from '#src/files/disk.ts'
import { SAMPLE } from '#test/console-server.ts'
import { emptyTables, testDatabase } from '#test/test-database.ts'
import { exportDirectory } from './export.ts'
import { importDirectory } from './import.ts'

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-export-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}

/** All rows that an export contains, as text, with times to the millisecond. */
async function rowsOf({ db }: Database): Promise<Record<string, unknown[]>> {
  const tables = {
    users: 'id, fname, lname, email, user_type, created_at, from_before',
    telegram_users: 'telegram_users.*, (select balance from balances b where b.user_id = telegram_users.user_id)',
    tasks: '*',
    announcements: '*',
    history_items: '*',
    participations: '*',
  }
  const all: Record<string, unknown[]> = {}
  for (const [table, columns] of Object.entries(tables)) {
    const { rows } = await sql<{ row: Record<string, unknown> }>`
      select to_jsonb(r) as row from (select ${sql.raw(columns)} from ${sql.raw(table)}) as r order by r::text`.execute(db)
    all[table] = rows.map(
      ({
        row: { version: _version, seen_status_epoch: _seen, details_set_at: _set, image_key: _image, icon_key: _icon, ...row },
      }) => row,
    )
  }
  return all
}

test('what is exported is the same after an import into an empty console, and its files lie beside', async () => {
  const database = await testDatabase()
  const odd = { id: 'odd', fname: 'Back\\slash "quote"', lname: 'Tab\\n 🎲', email: 'odd@gmail.com', userType: 'admin' }
  const first = await folder()
  await writeFile(path.join(first, 'users.ndjson'), `${JSON.stringify(odd)}\n`)
  const rejectedPath = path.join(first, 'rejected.ndjson')
  await importDirectory({ database, directory: SAMPLE, rejectedPath })
  await importDirectory({ database, directory: first, rejectedPath })
  await sql`update users set created_at = date_trunc('milliseconds', created_at)`.execute(database.db)
  const store = diskStore(path.join(await folder(), 'files'))
  await store.put('announcements/1_a.png', Buffer.from('a picture'), 'image/png')
  await sql`update announcements set image_key = 'announcements/1_a.png', image_name = 'a.png', icon_key = 'announcements/2_gone.png',
    icon_name = 'gone.png' where id = (select min(id) from announcements)`.execute(database.db)
  for (const table of carried) await sql`update ${sql.table(table)} set from_before = '{"season":2}'`.execute(database.db)
  await sql`update telegram_users set details_set_at = now()`.execute(database.db)

  const directory = path.join(await folder(), 'made')
  const report = await exportDirectory({ database, store, directory })
  expect(report.files.find(({ file }) => file === 'users.ndjson')).toEqual({ file: 'users.ndjson', rows: 1 })
  expect(report).toMatchObject({ stored: 1, missing: ['announcements/2_gone.png'] })
  expect(await readFile(path.join(directory, 'files/announcements/1_a.png'), 'utf8')).toBe('a picture')
  expect((await stat(path.join(directory, 'users.ndjson'))).mode & 0o777).toBe(0o600)
  await expect(exportDirectory({ database, store, directory })).rejects.toThrow(`${directory} is not empty`)
  for (const unusable of [`${directory}/users.ndjson`, `${directory}/none/export`]) {
    const onBegin = vi.fn<() => Promise<void>>()
    await expect(exportDirectory({ database, store, directory: unusable, onBegin })).rejects.toThrow(`${unusable} cannot be used`)
    expect(onBegin).not.toHaveBeenCalled()
  }

  const before = await rowsOf(database)
  await emptyTables()
  const again = await importDirectory({ database, directory, rejectedPath })
  expect(again.files.map(({ file, read, added, rejected }) => [file, read, added, rejected])).toEqual(
    again.files.map(({ file, read }) => [file, read, read, 0]),
  )
  expect(again.files.map(({ file }) => file).toSorted()).toEqual(
    (await readdir(directory)).filter((name) => name.endsWith('.ndjson')).toSorted(),
  )
  for (const { file, rows } of report.files)
    expect([file, again.files.find((part) => part.file === file)?.read]).toEqual([file, rows])
  expect(await rowsOf(database)).toEqual(before)
  expect(before['participations']!.length).toBeGreaterThan(10)
  expect(Object.keys(before)).toEqual(carried)
})

const carried = ['users', 'telegram_users', 'tasks', 'announcements', 'history_items', 'participations']
/** Tables whose rows follow from the ones that are carried, as counters do, or that the console makes for itself. */
const derived = [
  'balances',
  'uncounted_entries',
  'item_quotas',
  'migrations',
  'status_epoch',
  'secrets',
  'file_removals',
  'attempt_windows',
  'known_addresses',
  'setup_links',
]
/** The words of docs/move-in.md for the tables that an export leaves out. */
const leftOut: Record<string, string> = {
  accounts: 'accounts with their passwords',
  role_settings: 'settings of roles',
  sessions: 'sessions',
  adjusted_points: 'what people have adjusted today',
  notes: 'notes',
  note_mentions: 'notes',
  password_links: 'password links',
  operator_telegrams: 'linked Telegram accounts',
  telegram_link_codes: 'linked Telegram accounts',
  invitations: 'invitations',
  mails: 'mails',
  password_requests: 'password links',
  password_resets: 'password links',
  email_changes: 'changes of e-mail addresses',
  totp_secrets: 'second factors',
  recovery_codes: 'second factors',
  pending_sign_ins: 'sessions',
  passkeys: 'passkeys',
  passkey_challenges: 'passkeys',
  oidc_links: 'linked accounts of the sign-in service',
  oidc_flows: 'linked accounts of the sign-in service',
  ledger_entries: 'ledger entries',
  erased_players: 'erased players',
  audit_entries: 'audit',
  audit_head: 'audit',
  audit_log: 'audit',
  audit_open: 'audit',
  trash: 'trash',
  saved_views: 'saved views',
  default_views: 'saved views',
  dashboard_looks: 'looks at the dashboard',
  bot_tokens: 'bot tokens',
  webhooks: 'webhooks',
  webhook_deliveries: 'their deliveries',
  broadcasts: 'broadcasts',
  broadcast_chunks: 'broadcasts',
  broadcast_recipients: 'broadcasts',
  telegram_pace: 'broadcasts',
  player_keys: 'the keys of repeated requests',
  idempotency_keys: 'the keys of repeated requests',
  backups: 'the list of backups',
  backup_schedules: 'their schedule',
  scheduled_work_pauses: 'pauses',
  player_visits: 'when players were here last',
  player_messages: 'who wants no messages or cannot be reached',
  moved_documents: 'what a move-in remembers',
}

test('every table is exported, follows from what is, or is named as left out in docs/move-in.md', async () => {
  const { db } = await testDatabase()
  const { rows } = await sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public'`.execute(db)
  const known = [...carried, ...derived, ...Object.keys(leftOut)]
  const names = rows.map(({ name }) => name).filter((name) => !name.startsWith('counter'))
  expect(names.toSorted()).toEqual(known.toSorted())
  const text = await readFile(path.resolve(import.meta.dirname, '../../../docs/move-in.md'), 'utf8')
  const [, section = ''] = text.split('\n## Out again\n')
  const named = section.split('\n').flatMap((line) => /^\| (?!left out|-)(.*?) \|/.exec(line)?.[1] ?? [])
  const unnamed = Object.values(leftOut).filter((words) => !named.join(', ').includes(words))
  expect(unnamed).toEqual([])
})
