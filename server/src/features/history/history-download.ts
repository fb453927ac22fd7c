/** History as a spreadsheet (§7 /download-history): participants of an item, those that a search finds, or those in the request. */
import { type RawBuilder, sql } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { defaultFileNames, type HistoryDownloadInput } from '@arcade/contract/downloads/calls'
import type { SheetName } from '@arcade/contract/entity'
import { type HistoryItem, historyItemFields, participantFields } from '@arcade/contract/history/fields'
import { Failure, type Handlers, refuseWithoutPermission, signedIn } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { participantEntity, selectList } from '#src/db/entities.ts'
import type { Snapshot } from '#src/db/snapshot.ts'
import { seesPersonal } from '#src/lists/personal.ts'
import { sheetColumns, sheetNames, type SheetRow, sheetValues } from '#src/lists/sheet.ts'
import { copyText, textOf } from '#src/postgres/copy-text.ts'
import type { Column } from '#src/sheets/cells.ts'
import type { Downloads, Table } from '#src/sheets/download.ts'
import { datedFileName } from '#src/sheets/file-name.ts'
import { countSql, ITEM, masksFor, OF_ITEM, participantsFound, participantTerm, PERIOD, type Search } from './participants.ts'

/** The item's own values in a sheet. */
type Details = { [Name in SheetName<typeof historyItemFields>]?: string | number | null | undefined }

/** Repeats the item's details beside each participant, so that the table can be filtered, sorted and joined with others. */
function columnsFor(item: Details): Column[] {
  const values = sheetValues(historyItemFields, item)
  const details = sheetColumns(historyItemFields, { flags: {} }).map((column, index) => ({
    ...column,
    field: { always: textOf(values[index]) },
  }))
  return [...sheetColumns(participantFields, { flags: {} }), ...details]
}

/** The only row of an item without participants: just the item's details have values. */
const DETAILS_ONLY: SheetRow = {}

/**
 * POST /download-history: all participants of `kind` and `id` from the database, or those that a search finds, or the participants in the
 * request.
 */
export function historyDownload({
  database,
  downloads,
}: {
  database: Database
  downloads: Downloads
}): Handlers<typeof contract.downloads>['history'] {
  return ({ data, exportId, format }, context) => {
    const { kind, id, search = '' } = data
    refuseWithoutPermission('history.read', signedIn(context))
    const isNamed = kind !== undefined && id !== undefined
    if (!isNamed && (kind ?? id) !== undefined)
      throw new Failure('INVALID_INPUT', { message: 'Give both kind and id, or neither.' })
    return downloads.start({
      context,
      exportId,
      format,
      target: isNamed ? `history:${kind}:${id}` : 'history:posted',
      ...(isNamed && search !== '' && { detail: { filter: { search } } }),
      fileName: defaultFileNames.history,
      sheetName: 'Participants',
      open: (snapshot) =>
        isNamed ? openItem(snapshot, { kind, id, search, sees: seesPersonal(context) }, database) : openPosted(data),
    })
  }
}

async function openItem(
  snapshot: Snapshot,
  { kind, id, search, sees }: Pick<Search, 'kind' | 'id' | 'search' | 'sees'>,
  { db }: Database,
): Promise<Table> {
  const [item] = await snapshot.query<HistoryItem>(ITEM, [kind, id])
  if (!item) throw new Failure('NO_SUCH_HISTORY')
  const columns = columnsFor(item)
  if (item.participants === 0) return { columns, total: 0, rows: posted([DETAILS_ONLY]) }
  const only = sheetNames(participantFields)
  const fields = selectList(participantEntity, { derived: {}, only, moments: 'milliseconds', masks: masksFor(sees) })
  const term = participantTerm(search)
  if (term) {
    const countRows = async (query: RawBuilder<unknown>): Promise<number> => {
      const counting = countSql(query).compile(db)
      const [counted] = await snapshot.query<{ total: number }>(counting.sql, [...counting.parameters])
      return counted?.total ?? 0
    }
    const hits = await participantsFound({ kind, id, search, term, participants: item.participants, countRows })
    const found = sql`select ${sql.raw(fields)} from (${hits}) as hits order by at desc, user_id, ${sql.raw(PERIOD)}`.compile(db)
    const rows = { sql: found.sql, parameters: [...found.parameters] }
    return { columns, total: await countRows(hits), rows, fileName: datedFileName('history', item.title, 'filtered') }
  }
  const query = `select ${fields} ${OF_ITEM} order by at desc, user_id, ${PERIOD}`
  return { columns, total: item.participants, rows: { sql: query, parameters: [kind, id] } }
}

async function openPosted(data: HistoryDownloadInput['data']): Promise<Table> {
  const rows: SheetRow[] = data.users.length > 0 ? data.users : [DETAILS_ONLY]
  return { columns: columnsFor(data), total: data.users.length, rows: posted(rows) }
}

function posted(rows: SheetRow[]): Buffer {
  return copyText(rows.map((row) => sheetValues(participantFields, row)))
}
