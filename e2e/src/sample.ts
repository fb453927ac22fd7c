/** What is in the sample, for tests that count it themselves. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SAMPLE } from '../../server/test/console-server.ts'

/** How many participations of the history collection fall into the month, which is counted from 0. */
export function participationsIn(history: string, { year, month }: { year: number; month: number }): number {
  const lines = readFileSync(join(SAMPLE, `${history}.users.ndjson`), 'utf8').trimEnd()
  return lines.split('\n').filter((line) => {
    const { _seconds } = (JSON.parse(line) as { timestamp: { _seconds: number } }).timestamp
    const at = new Date(_seconds * 1000)
    return at.getUTCFullYear() === year && at.getUTCMonth() === month
  }).length
}
