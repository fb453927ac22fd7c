/**
 * Exports a list as a spreadsheet (§7): the whole list in its own order, or selected rows or the matches of a filter in the requested order.
 * The sheet has all columns that the contract declares, regardless of which ones the page shows.
 */
import { sql } from 'kysely'
import type { Target } from '@arcade/contract/bulk'
import type { SheetFormat } from '@arcade/contract/downloads/calls'
import type { FilterOf, List, SortName } from '@arcade/contract/entity'
import type { ListName } from '@arcade/contract/lists'
import { listPermissions } from '@arcade/contract/team/records'
import { type CallContext, refuseWithoutPermission, signedIn, untilClientLeaves } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { selectList, sourceSql } from '#src/db/entities.ts'
import type { DownloadAnswer, Downloads } from '#src/sheets/download.ts'
import { datedFileName } from '#src/sheets/file-name.ts'
import { orderSql, type ServedList, servedTo } from './list.ts'
import { seesPersonal } from './personal.ts'
import { sheetColumns, sheetNames } from './sheet.ts'
import { whereTarget } from './where.ts'

/** The most ids that the audit entry of an export of selected rows names, besides their number. */
const AUDITED_IDS = 1000

interface ExportOptions {
  exportId?: string | undefined
  format?: SheetFormat | undefined
}

export interface ExportInput<Filter> extends ExportOptions {
  target: Target<Filter>
  /** A sort of the list, which the contract has checked. */
  sort: string
  reversed: boolean
}

export interface ListExports<L extends List> {
  /** Every row of the list, hidden ones included. */
  all: (input: ExportOptions, context: CallContext) => Promise<DownloadAnswer>
  selection: (input: ExportInput<FilterOf<L>>, context: CallContext) => Promise<DownloadAnswer>
}

interface Start extends ExportOptions {
  context: CallContext
  where: { sql: string; parameters: readonly unknown[] }
  source: string
  order: string
  /** SQL for the number of rows, with the parameters of `where`, if there are any. */
  total: string
  /** What the audit entry says about the export. */
  detail?: Record<string, unknown>
  fileName?: string
}

/** Makes the exports of one list. Rows are counted and read in one snapshot. */
export function listExports<L extends List>(
  { database, downloads }: { database: Database; downloads: Downloads },
  served: ServedList<L>,
): ListExports<L> {
  const { list, entity, derived, baseCondition = 'true', counted, sheet } = served
  const columns = sheetColumns<L['fields']>(list.fields, sheet)
  const only = sheetNames<L['fields']>(list.fields, sheet.first)

  return {
    all(options, context) {
      const total = counted?.({}) ?? `(select count(*) from ${entity.table} where ${baseCondition})`
      return start({
        ...options,
        context,
        where: { sql: baseCondition, parameters: [] },
        ...ordered(list.defaultSort, false),
        total,
      })
    },

    selection({ target, sort, reversed, exportId, format }, context) {
      const where = sql`${whereTarget(served, target, context)}`.compile(database.db)
      const detail = 'ids' in target ? { ids: target.ids.slice(0, AUDITED_IDS) } : target
      const total = `(select count(*) from ${sourceSql(entity)} where ${where.sql})`
      const part = 'ids' in target ? 'selected' : Object.keys(target.filter).length > 0 ? 'filtered' : ''
      const fileName = datedFileName(list.fileName.replace(/\.xlsx$/, ''), part)
      return start({ exportId, format, context, where, ...ordered(sort, reversed), total, detail, fileName })
    },
  }

  function ordered(sort: string, reversed: boolean): { source: string; order: string } {
    const source = sourceSql(entity, list.sorts[sort]!.field)
    return { source, order: orderSql(served, sort as SortName<L>, reversed) }
  }

  async function start(options: Start): Promise<DownloadAnswer> {
    const { exportId, format, context, where, source, order, total, detail = {}, fileName = list.fileName } = options
    for (const one of ['exports.make', listPermissions[list.name as ListName]] as const)
      refuseWithoutPermission(one, signedIn(context))
    // Personal fields that the caller may not see are empty: §7 fixes the columns.
    const { masks } = servedTo(served, seesPersonal(context))
    const selected = selectList(entity, { derived, only, moments: 'milliseconds', masks })
    return downloads.start({
      context,
      exportId,
      format,
      target: list.name,
      detail,
      fileName,
      sheetName: sheet.sheetName,
      async open(snapshot) {
        const parameters = [...where.parameters]
        const counting = snapshot.query<{ total: number }>(`select ${total} as total`, parameters)
        const [row] = await untilClientLeaves(counting, context.signal)
        const rows = { sql: `select ${selected} from ${source} where ${where.sql} order by ${order}`, parameters }
        return { columns, total: row?.total ?? 0, rows }
      },
    })
  }
}

type Selection = (input: ExportInput<never>, context: CallContext) => Promise<DownloadAnswer>

/** POST /api/exports: exports the list that the input names, by a filter that the contract has checked. */
export function exportSelection(selections: Readonly<Record<ListName, Selection>>) {
  return (input: { list: ListName } & ExportInput<unknown>, context: CallContext): Promise<DownloadAnswer> =>
    selections[input.list](input as ExportInput<never>, context)
}
