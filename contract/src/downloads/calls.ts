/** Spreadsheet downloads (§7). Their answers are streams, which is why they have declarations of their own instead of JSON calls. */
import { z } from 'zod'
import { BULK_BODY_LIMIT_BYTES } from '#src/bulk.ts'
import { call } from '#src/call.ts'
import { orderFields, targetSchema } from '#src/list-schemas.ts'
import { MAX_NUMBER } from '#src/entity.ts'
import { participantList } from '#src/history/fields.ts'
import { playerList } from '#src/players/fields.ts'
import { userList } from '#src/users/fields.ts'
import { idField } from '#src/field-schemas.ts'
import { historyKindField } from '#src/history/calls.ts'
import { type ListName, lists } from '#src/lists.ts'

export const XLSX_MEDIA_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
export const CSV_MEDIA_TYPE = 'text/csv; charset=utf-8'

const sheetFormat = z.enum(['xlsx', 'csv'])
export type SheetFormat = z.infer<typeof sheetFormat>

/** A download answers the sheet as a stream, its name in content-disposition and the number of its rows in x-row-count. */
export const spreadsheetOutput = z.object({
  headers: z.record(z.string(), z.string()),
  body: z.custom<unknown>((value) => value instanceof Object),
})

/** The caller chooses a download's id, so that it can ask for the progress from the first row on. */
export const exportIdField = z.uuid()
/** What every download takes; one that is a POST takes it in its address, too. */
const exportOptions = { exportId: exportIdField.optional(), format: sheetFormat.optional() }
const exportInput = z.strictObject(exportOptions)

/** A download renders at most so many participants that the caller posts (design §7); from the database it renders any number. */
export const HISTORY_POSTED_USERS = 10_000
const HISTORY_BODY_LIMIT_BYTES = 8 * 1024 * 1024

const anyText = z.union([z.string(), z.number().transform(String)]).nullish()

/** The body of §7. Fields that it does not name are ignored. With `kind` and `id` the whole item comes from the database. */
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

/** Rows of one list, in one of its orders, with all columns of the list's sheet. Ids are texts here, also those of players. */
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

/** §7 has whole lists downloaded by GET. That changes nothing, yet another site could have one written again and again: it is for our pages. */
function wholeList(route: { path: `/${string}`; summary: string }) {
  return call(['admin'], { failure: 'status', mayBeSecondOld: true, isForOwnPages: true })
    .route({ method: 'GET', ...route, tags, outputStructure: 'detailed' })
    .input(exportInput)
    .output(spreadsheetOutput)
}

export const downloads = {
  users: wholeList({ path: '/downloadUsersData', summary: 'All dashboard users as userdata.xlsx' }),
  players: wholeList({ path: '/downloadTelegramUsersData', summary: 'All players as TelegramUserdata.xlsx' }),
  // A POST by §7 that writes nothing, so a full disk does not forbid it.
  history: call(['admin'], {
    failure: 'status',
    bodyLimitBytes: HISTORY_BODY_LIMIT_BYTES,
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
  // This is a POST because the ids of picked rows may be too long for an address.
  selection: call(['admin'], {
    failure: 'status',
    bodyLimitBytes: BULK_BODY_LIMIT_BYTES,
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
  progress: call(['admin'])
    .route({
      method: 'GET',
      path: '/api/exports/{exportId}',
      tags,
      summary: 'How far a download of oneself is: rows so far of all',
    })
    .input(z.strictObject({ exportId: exportIdField }))
    .output(z.object({ rows: z.int(), total: z.int() })),
}

/** The file names that §7 and §9 give an answer without content-disposition. */
export const defaultFileNames = {
  users: userList.fileName,
  players: playerList.fileName,
  history: participantList.fileName,
} as const
