/** Spreadsheet downloads (§7): streamed, so they are declared here once for both sides instead of as JSON calls. */
import { z } from 'zod'
import { call } from '#src/call.ts'

export const XLSX_MEDIA_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

/** What a download answers: the sheet as a stream, its name in content-disposition, the number of its rows in x-row-count. */
export const spreadsheetOutput = z.object({
  headers: z.record(z.string(), z.string()),
  body: z.custom<unknown>((value) => value instanceof Object),
})

export const downloads = {
  users: call(['admin'], { failure: 'status' })
    .route({
      method: 'GET',
      path: '/downloadUsersData',
      tags: ['Downloads'],
      summary: 'All dashboard users as userdata.xlsx',
      outputStructure: 'detailed',
    })
    .output(spreadsheetOutput),
}

/** The file names of §7 and §9, for an answer without content-disposition. */
export const defaultFileNames = {
  users: 'userdata.xlsx',
  telegramUsers: 'TelegramUserdata.xlsx',
  history: 'data.xlsx',
} as const
