/** The file store in an S3-compatible bucket. */
import { openBucket } from './bucket.ts'
import { checkedKey, type FileStore } from './disk.ts'

const ANSWER_TIMEOUT_MS = 8000
const PROBE_KEY = 'readiness/probe'
const WRITE_AGAIN_MS = 30_000
export const STORE_UNAVAILABLE = 'The file store is not available right now. Please try again in a moment.'

export function s3Store(url: string): FileStore {
  const bucket = openBucket(url, { setting: 'FILES_URL', unavailable: STORE_UNAVAILABLE, answerTimeoutMs: ANSWER_TIMEOUT_MS })
  let writtenAt = Number.NEGATIVE_INFINITY

  return {
    /** Writes an empty file, because a store that can be read may still refuse to store. The result is remembered for a while. */
    async check() {
      if (performance.now() - writtenAt < WRITE_AGAIN_MS) {
        await bucket.has(PROBE_KEY)
        return
      }
      await bucket.put(PROBE_KEY, new Uint8Array(), 'application/octet-stream')
      writtenAt = performance.now()
    },
    put: async (key, bytes, mediaType) => bucket.put(checkedKey(key), bytes, mediaType),
    open: async (key) => bucket.open(checkedKey(key)),
    has: async (key) => bucket.has(checkedKey(key)),
    remove: async (key) => bucket.remove(checkedKey(key)),
    async *keys() {
      for await (const name of bucket.list('')) if (name !== PROBE_KEY) yield name
    },
  }
}
