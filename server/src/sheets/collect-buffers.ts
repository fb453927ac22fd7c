/**
 * Frees the buffers through which the rows and pieces of spreadsheets have passed, those of sockets and messages: about six bytes for each
 * byte of rows. V8 ignores their size when it decides to collect young objects. The larger its young heap has become, the more of them
 * pile up: 30 to 60 MB during an export of a million players, which malloc then kept.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Little memory, and few collections: 75 for a million players. */
const COLLECT_AFTER_BYTES = 2 * 2 ** 20

// Node offers the function only with this flag, and only to contexts that are made afterwards.
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void

let passedBytes = 0

/** Notes that rows of this size were passed on. Every 2 MB it collects young objects. */
export function collectAfter(bytes: number): void {
  passedBytes += bytes
  if (passedBytes < COLLECT_AFTER_BYTES) return
  passedBytes = 0
  collect({ type: 'minor' })
}
