/** Spreadsheet downloads (§7). Their answers are streams instead of JSON. */
import { z } from 'zod'
import { MAX_BULK_BODY_BYTES } from '#src/bulk.ts'
import { call } from '#src/call.ts'
import { orderFields, targetSchema } from '#src/list-schemas.ts'
import { MAX_NUMBER } from '#src/entity.ts'
import { participantList } from '#src/history/fields.ts'
import { playerList } from '#src/players/fields.ts'
import { userList } from '#src/users/fields.ts'
import { idField, searchField } from '#src/field-schemas.ts'
import { historyKindField } from '#src/history/calls.ts'
import { type ListName, lists } from '#src/lists.ts'
import type { Permission } from '#src/team/permissions.ts'

export const XLSX_MEDIA_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
export const CSV_MEDIA_TYPE = 'text/csv; charset=utf-8'

const sheetFormat = z.enum(['xlsx', 'csv'])
export type SheetFormat = z.infer<typeof sheetFormat>

/** The sheet as a stream, its file name in content-disposition, and its number of rows in x-row-count. */
export const spreadsheetOutput = z.object({
  headers: z.record(z.string(), z.string()),
  body: z.custom<unknown>((value) => value instanceof Object),
})

/** The caller chooses the id of a download, so that it can request the progress from the first row on. */
export const exportIdField = z.uuid()
/** Options of every download. A POST takes them in its query string as well. */
const exportOptions = { exportId: exportIdField.optional(), format: sheetFormat.optional() }
const exportInput = z.strictObject(exportOptions)

/** Most participants in the body of a history download (design §7). A download by `kind` and `id` has no limit. */
export const HISTORY_POSTED_USERS = 10_000
const MAX_HISTORY_BODY_BYTES = 8 * 1024 * 1024

const anyText = z.union([z.string(), z.number().transform(String)]).nullish()

/**
 * The body of §7; unknown fields are ignored. With `kind` and `id` the item and all its participants are read from the database, or with
 * `search` those that the page shows.
 */
export const historyDownloadInput = z.object({
  data: z.object({
    type: anyText,
    title: anyText,
    link: anyText,
    description: anyText,
    linkType: anyText,
    inputText: anyText,
    reward: z.union([z.number().min(-MAX_NUMBER).max(MAX_NUMBER), z.string()]).nullish(),
    users: z
      .array(
        z.object({
          id: anyText,
          username: anyText,
          first_name: anyText,
          last_name: anyText,
          userInput: anyText,
          timestamp: anyText,
        }),
      )
      .max(HISTORY_POSTED_USERS, `At most ${HISTORY_POSTED_USERS} users can be sent; name the item's kind and id for all of them`)
      .default([]),
    kind: historyKindField.optional(),
    id: idField.optional(),
    search: searchField,
  }),
  ...exportOptions,
})
export type HistoryDownloadInput = z.infer<typeof historyDownloadInput>

function selectionFrom<Name extends ListName>(name: Name) {
  return z.strictObject({
    list: z.literal(name),
    target: targetSchema<(typeof lists)[Name]>(lists[name]),
    ...orderFields<(typeof lists)[Name]>(lists[name]),
    ...exportOptions,
  })
}

/** Rows of one list in one of its orders, with all columns of its sheet. Ids are texts here, also ids of players. */
export const selectionDownloadInput = z.discriminatedUnion('list', [
  selectionFrom('users'),
  selectionFrom('telegramUsers'),
  selectionFrom('socialTasks'),
  selectionFrom('dailyTasks'),
  selectionFrom('announcements'),
  selectionFrom('audit'),
  selectionFrom('trash'),
])
export type SelectionDownloadInput = z.infer<typeof selectionDownloadInput>

const tags = ['Downloads']

/** Downloads a whole list. §7 makes this a GET, so it needs `isForOwnPages`: other sites must not make the server write sheets. */
function wholeList({ needs, ...route }: { path: `/${string}`; summary: string; needs: Permission }) {
  return call(['admin'], { needs, failure: 'status', mayBeSecondOld: true, isForOwnPages: true })
    .route({ method: 'GET', ...route, tags, outputStructure: 'detailed' })
    .input(exportInput)
    .output(spreadsheetOutput)
}

export const downloads = {
  /** Needs `exports.make`, too, as every download also needs the permission of its list. */
  users: wholeList({ path: '/downloadUsersData', summary: 'All dashboard users as userdata.xlsx', needs: 'users.read' }),
  players: wholeList({
    path: '/downloadTelegramUsersData',
    summary: 'All players as TelegramUserdata.xlsx',
    needs: 'exports.make',
  }),
  // §7 makes this a POST. It writes nothing, so it is allowed while the disk is full.
  history: call(['admin'], {
    needs: 'exports.make',
    failure: 'status',
    bodyLimitBytes: MAX_HISTORY_BODY_BYTES,
    onFullDisk: 'allowed',
    mayBeSecondOld: true,
  })
    .route({
      method: 'POST',
      path: '/download-history',
      tags,
      summary: 'An item and its participants as data.xlsx',
      outputStructure: 'detailed',
    })
    .input(historyDownloadInput)
    .output(spreadsheetOutput),
  // A POST, because the ids of picked rows may be too long for a URL.
  selection: call(['admin'], {
    needs: 'exports.make',
    failure: 'status',
    bodyLimitBytes: MAX_BULK_BODY_BYTES,
    onFullDisk: 'allowed',
    mayBeSecondOld: true,
  })
    .route({
      method: 'POST',
      path: '/api/exports',
      tags,
      summary: 'Picked rows of a list, or all that a filter matches, as a spreadsheet',
      outputStructure: 'detailed',
    })
    .input(selectionDownloadInput)
    .output(spreadsheetOutput),
  progress: call(['admin'], { needs: 'exports.make' })
    .route({
      method: 'GET',
      path: '/api/exports/{exportId}',
      tags,
      summary: 'How far a download of oneself is: rows so far of all; empty before it begins and once it is over',
    })
    .input(z.strictObject({ exportId: exportIdField }))
    .output(z.object({ rows: z.int(), total: z.int() }).partial()),
}

/** File names of §7 and §9 for an answer without content-disposition. */
export const defaultFileNames = {
  users: userList.fileName,
  players: playerList.fileName,
  history: participantList.fileName,
} as const
