/**
 * Finds the progress of an export that another server writes. A load balancer may send the question to any server: one that does not know
 * the export asks all others with NOTIFY, and the one that writes it answers. Hides the channels and the time to wait for an answer.
 */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Database } from '#src/db/database.ts'

export interface Progress {
  rows: number
  total: number
}

type FindProgress = (exportId: string, userId: string) => Progress | undefined

const QUESTION_CHANNEL = 'export-asked'
const ANSWER_CHANNEL = 'export-told'
/** Milliseconds without an answer after which no server knows the export. */
const ANSWER_TIMEOUT_MS = 500

interface Question {
  id: string
  exportId: string
  userId: string
}

/**
 * Returns a function that asks the other servers, and returns undefined if none of them knows the export.
 * @param own finds the progress of this server's exports
 */
export async function progressElsewhere(
  { db, listen }: Pick<Database, 'db' | 'listen'>,
  own: FindProgress,
): Promise<(exportId: string, userId: string) => Promise<Progress | undefined>> {
  const asked = new Map<string, (progress: Progress) => void>()
  const notify = async (channel: string, message: object): Promise<void> => {
    await sql`select pg_notify(${channel}, ${JSON.stringify(message)})`.execute(db)
  }
  await listen(ANSWER_CHANNEL, (text) => {
    const { id, ...progress } = JSON.parse(text) as Progress & { id: string }
    asked.get(id)?.(progress)
  })
  await listen(QUESTION_CHANNEL, (text) => {
    const { id, exportId, userId } = JSON.parse(text) as Question
    const found = own(exportId, userId)
    // A lost answer does no harm: the client asks again a second later.
    if (found) notify(ANSWER_CHANNEL, { id, ...found }).catch(() => {})
  })
  return async (exportId, userId) => {
    const id = randomUUID()
    const answer = Promise.withResolvers<Progress | undefined>()
    asked.set(id, answer.resolve)
    const timer = setTimeout(() => answer.resolve(undefined), ANSWER_TIMEOUT_MS)
    try {
      await notify(QUESTION_CHANNEL, { id, exportId, userId } satisfies Question)
      return await answer.promise
    } finally {
      clearTimeout(timer)
      asked.delete(id)
    }
  }
}
