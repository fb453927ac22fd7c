/** The collections that an import knows: how a row of each is read, and how it is written. */
import type { HistoryKind } from '@arcade/contract/history/fields'
import type { Database } from '#src/db/database.ts'
import { createSessions } from '#src/identity/sessions.ts'
import * as parse from './import-rows.ts'
import type { Row } from './import-values.ts'
import { usersWriter } from './import-users.ts'
import * as write from './import-write.ts'

export interface Collection {
  name: string
  /** The names of the fields that are read. */
  kept: ReadonlySet<string>
  parse(row: Row): parse.ParsedRow
  /** The columns of the key. */
  key: string[]
  writer(loading: Loading): write.Writer | Promise<write.Writer>
  /** The kind of the history documents that the writer writes, also along with their items. */
  kind?: HistoryKind
  /** The tables to vacuum after many rows. */
  tables?: readonly string[]
}

/** What the writers need to know of the import. */
export interface Loading {
  database: Database
  isDryRun: boolean
  isMoveIn: boolean
  /** The ids of the history documents that were written so far, by kind. */
  written: Record<HistoryKind, Set<string>>
}

const histories = { socialTasksHistory: 'social', dailyTasksHistory: 'daily', announcementHistory: 'announcement' } as const

function keptNames(fields: readonly { name: string }[], ...further: string[]): ReadonlySet<string> {
  return new Set([...fields.map(({ name }) => name), ...further])
}

/** The collections in the order of loading: items, then their history documents, then their participants. */
export const collections: readonly Collection[] = [
  {
    name: 'users',
    kept: keptNames(parse.importedUsers),
    parse: parse.parseUser,
    key: ['id'],
    writer: async ({ database }) => usersWriter(await createSessions(database)),
  },
  {
    name: 'telegramUsers',
    kept: keptNames(parse.importedPlayers, 'id'),
    parse: parse.parseTelegramUser,
    key: ['user_id'],
    writer: ({ isMoveIn }) => write.telegramUsersWriter(isMoveIn),
    tables: ['telegram_users', 'balances', 'ledger_entries'],
  },
  ...(['social', 'daily'] as const).map((kind) => ({
    name: `${kind}Task`,
    kept: keptNames(parse.importedTasks, 'image'),
    parse: (row: Row) => parse.parseTask(kind, row),
    key: ['id'],
    writer: () => write.tasksWriter(kind),
    kind,
  })),
  {
    name: 'announcements',
    kept: keptNames(parse.importedAnnouncements, 'image', 'icon'),
    parse: parse.parseAnnouncement,
    key: ['id'],
    writer: () => write.writeAnnouncements,
    kind: 'announcement',
  },
  ...Object.entries(histories).map(([name, kind]) => ({
    name,
    kept: keptNames(parse.importedHistoryItems, 'createdAt'),
    parse: (row: Row) => parse.parseHistoryItem(kind, row),
    key: ['item_id'],
    writer: ({ written }: Loading) => write.historyItemsWriter(new Set(written[kind])),
    kind,
  })),
  ...Object.entries(histories).map(([name, kind]) => ({
    name: `${name}.users`,
    kept: keptNames(parse.importedParticipants, 'parent'),
    parse: (row: Row) => parse.parseParticipation(kind, row),
    key: ['user_id', 'item_id', 'period'],
    // A dry run has rolled back the documents that participations refer to.
    writer: ({ isDryRun, written }: Loading) => write.participationsWriter(kind, isDryRun ? written[kind] : new Set()),
    tables: ['participations'],
  })),
]

/** The collections by the names of their files without `.ndjson`, each with the names of the fields that are read. */
export const importedCollections: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  collections.map(({ name, kept }) => [name, kept]),
)
