/**
 * `npm run arcade -- export DIR`: writes every collection as NDJSON in the format of the import, of one moment, while others read and write,
 * and the files that announcements name beside them. Memory does not grow with the database.
 */
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import type { HistoryKind } from '@arcade/contract/history/fields'
import { taskCollections, type TaskCollection } from '@arcade/contract/tasks/fields'
import type { Database } from '#src/db/database.ts'
import { isJoinedField, playerEntity } from '#src/db/entities.ts'
import type { Snapshot } from '#src/db/snapshot.ts'
import type { FileStore } from '#src/files/disk.ts'
import { StartError } from '#src/postgres/errors.ts'
import * as read from './import-rows.ts'

export interface ExportReport {
  /** The rows of each file, such as `users.ndjson`. */
  files: { file: string; rows: number }[]
  /** The number of announcements' files, and the keys of those that the store does not have. */
  stored: number
  missing: string[]
}

interface Exported {
  /** The name of the file without `.ndjson`. */
  name: string
  /** SQL for the rows, the value of each field of a line, and the order. */
  from: string
  values: Record<string, string>
  order: string
}

const FILES = 'files'
const NEWLINE = 0x0a
const DIRECTORY_MODE = 0o700
const FILE_MODE = 0o600

interface SelectedField {
  name: string
  column: string
  type: string
}

/** Returns the SQL of each field. Times are ISO texts in microseconds. */
function valuesOf(fields: readonly SelectedField[], tableOf: (name: string) => string = () => 't'): Record<string, string> {
  return Object.fromEntries(
    fields.map(({ name, column, type }) => {
      const value = `${tableOf(name)}.${column}`
      return [name, type === 'timestamptz' ? isoText(value) : value]
    }),
  )
}

function isoText(value: string): string {
  return `to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
}

function tasks(name: string, collection: TaskCollection): Exported {
  const { type, ...values } = valuesOf(read.importedTasks)
  // §3 calls the type of a task `image`.
  return { name, from: `tasks t where collection = '${collection}'`, values: { ...values, image: type! }, order: 't.id' }
}

function history(name: string, kind: HistoryKind): Exported[] {
  const items = { ...valuesOf(read.importedHistoryItems), createdAt: isoText('t.created_at') }
  const participants = { ...valuesOf(read.importedParticipants), parent: 't.item_id' }
  return [
    { name, from: `history_items t where kind = '${kind}'`, values: items, order: 't.item_id' },
    {
      name: `${name}.users`,
      from: `participations t where kind = '${kind}'`,
      values: participants,
      order: 't.user_id, t.item_id, t.period',
    },
  ]
}

const exported: Exported[] = [
  { name: 'users', from: 'users t', values: valuesOf(read.importedUsers), order: 't.id' },
  {
    name: 'telegramUsers',
    from: 'telegram_users t join balances b on b.user_id = t.user_id',
    values: valuesOf(read.importedPlayers, (name) => (isJoinedField(playerEntity, name) ? 'b' : 't')),
    order: 't.user_id',
  },
  ...Object.keys(taskCollections).map((collection) => tasks(`${collection}Task`, collection as TaskCollection)),
  {
    name: 'announcements',
    from: 'announcements t',
    values: { ...valuesOf(read.importedAnnouncements), image: `'${FILES}/' || t.image_key`, icon: `'${FILES}/' || t.icon_key` },
    order: 't.id',
  },
  ...history('socialTasksHistory', 'social'),
  ...history('dailyTasksHistory', 'daily'),
  ...history('announcementHistory', 'announcement'),
]

interface ExportOptions {
  database: Database
  store: FileStore
  /** An empty folder, or one that is made in a folder that exists. */
  directory: string
  /** Called when the folder is ready, before anything is read. */
  onBegin?: () => Promise<void>
}

/** Makes the folder, but no folders above it. @throws StartError if it cannot be made, or is not empty */
async function prepareFolder(directory: string): Promise<void> {
  try {
    await mkdir(directory, { mode: DIRECTORY_MODE }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    if ((await readdir(directory)).length === 0) return
  } catch (cause) {
    throw new StartError(`${directory} cannot be used: ${(cause as Error).message}. Nothing was exported.`, { cause })
  }
  throw new StartError(`${directory} is not empty: nothing was exported.`)
}

/** @throws StartError if the folder cannot be made, or is not empty */
export async function exportDirectory({
  database,
  store,
  directory,
  onBegin = async () => {},
}: ExportOptions): Promise<ExportReport> {
  await prepareFolder(directory)
  await onBegin()
  const report: ExportReport = { files: [], stored: 0, missing: [] }
  const keys = await database.snapshot(
    async (snapshot) => {
      for (const collection of exported) report.files.push(await writeCollection(snapshot, collection, directory))
      const rows = await snapshot.query<{ key: string }>(
        `select image_key as key from announcements where image_key is not null
         union select icon_key from announcements where icon_key is not null order by key`,
      )
      return rows.map(({ key }) => key)
    },
    { isOneMoment: true },
  )
  for (const key of keys) {
    const file = await store.open(key)
    if (!file) {
      report.missing.push(key)
      continue
    }
    const path = join(directory, FILES, key)
    await mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE })
    await pipeline(
      Readable.fromWeb(file.body as Parameters<typeof Readable.fromWeb>[0]),
      createWriteStream(path, { mode: FILE_MODE }),
    )
    report.stored += 1
  }
  return report
}

async function writeCollection(
  snapshot: Snapshot,
  { name, from, values, order }: Exported,
  directory: string,
): Promise<ExportReport['files'][number]> {
  const file = `${name}.ndjson`
  const members = Object.entries(values).map(([field, value]) => `'${field}', ${value}`)
  const stream = createWriteStream(join(directory, file), { mode: FILE_MODE })
  const done = finished(stream)
  done.catch(() => {}) // reported where it is awaited
  let rows = 0
  const query = `select json_strip_nulls(json_build_object(${members.join(', ')})) from ${from} order by ${order}`
  for await (const chunk of snapshot.copy(query)) {
    for (const byte of chunk) if (byte === NEWLINE) rows += 1
    // In COPY's text a backslash is doubled; JSON has no other character that COPY escapes.
    if (!stream.write(chunk.toString('utf8').replaceAll('\\\\', '\\'))) await Promise.race([once(stream, 'drain'), done])
  }
  stream.end()
  await done
  return { file, rows }
}
