/** Counts rows of the sample data, for tests that compare them with what the console shows. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SAMPLE } from '../../server/test/console-server.ts'

/** Returns how many participations of a history collection are in a month (0 to 11, in UTC). */
export function participationsIn(history: string, { year, month }: { year: number; month: number }): number {
  const lines = readFileSync(join(SAMPLE, `${history}.users.ndjson`), 'utf8').trimEnd()
  return lines.split('\n').filter((line) => {
    const { _seconds } = (JSON.parse(line) as { timestamp: { _seconds: number } }).timestamp
    const at = new Date(_seconds * 1000)
    return at.getUTCFullYear() === year && at.getUTCMonth() === month
  }).length
}
