/**
 * How far an export is that another server writes. Any server may be asked for it, as proxies give requests to whichever they like: one
 * that does not know the export asks all of them, and the one that writes it tells. Hides the channels, and how long a silence is a no.
 */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Database } from '#src/db/database.ts'

export interface Progress {
  rows: number
  total: number
}

type Find = (exportId: string, userId: string) => Progress | undefined

const ASKED = 'export-asked'
const TOLD = 'export-told'
const SILENCE_MS = 500

interface Question {
  id: string
  exportId: string
  userId: string
}

/** @param own what this server knows of its own exports */
export async function progressElsewhere(
  { db, listen }: Pick<Database, 'db' | 'listen'>,
  own: Find,
): Promise<(exportId: string, userId: string) => Promise<Progress | undefined>> {
  const asked = new Map<string, (progress: Progress) => void>()
  const notify = async (channel: string, message: object): Promise<void> => {
    await sql`select pg_notify(${channel}, ${JSON.stringify(message)})`.execute(db)
  }
  await listen(TOLD, (text) => {
    const { id, ...progress } = JSON.parse(text) as Progress & { id: string }
    asked.get(id)?.(progress)
  })
  await listen(ASKED, (text) => {
    const { id, exportId, userId } = JSON.parse(text) as Question
    const found = own(exportId, userId)
    // Whoever asked asks again in a second.
    if (found) notify(TOLD, { id, ...found }).catch(() => {})
  })
  return async (exportId, userId) => {
    const id = randomUUID()
    const answer = Promise.withResolvers<Progress | undefined>()
    asked.set(id, answer.resolve)
    const timer = setTimeout(() => answer.resolve(undefined), SILENCE_MS)
    try {
      await notify(ASKED, { id, exportId, userId } satisfies Question)
      return await answer.promise
    } finally {
      clearTimeout(timer)
      asked.delete(id)
    }
  }
}
