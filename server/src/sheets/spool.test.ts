/** Storing a sheet for a slow reader (security.md, Exports): all bytes in order, limited, and removed with the transfer. */
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { waitFor } from '#test/processes.ts'
import { readAll } from '#test/read-sheets.ts'
import { openSpool, type SpoolOptions } from './spool.ts'

const MB = 2 ** 20
const PIECE_BYTES = 64 * 1024
const content = randomBytes(8 * MB)

test('security: exports: a source is read to its end while nobody reads, and is given byte for byte afterwards', async () => {
  const { spool, directory } = await opened()
  const source = sourceOf(content)
  const transfer = spool.through(source.stream)
  await expect.poll(() => source.isRead).toBe(true)
  expect([spool.transfers, transfer.takenShare()]).toEqual([1, 0])
  expect((await readAll(transfer.body)).equals(content)).toBe(true)
  expect([await transfer.ended, spool.transfers, transfer.takenShare()]).toEqual([undefined, 0, 1])
  expect(await readdir(directory)).toEqual([])
})

test('security: exports: a reader that is sometimes slower and sometimes faster than the source gets every byte in order', async () => {
  const { spool } = await opened()
  const source = sourceOf(content)
  const reader = spool.through(source.stream).body.getReader()
  const got: Uint8Array[] = []
  for (let pieces = 0; ; pieces += 1) {
    const { done, value } = await reader.read()
    if (done) break
    got.push(value)
    const ahead = Math.min(content.length, (pieces + 1 + (pieces % 40)) * PIECE_BYTES)
    if (pieces % 8 === 0) await waitFor('the source to go ahead', () => source.sent >= ahead)
  }
  expect(Buffer.concat(got).equals(content)).toBe(true)
})

test.each<[string, Partial<SpoolOptions>, number]>([
  ['beyond the limit', { limitBytes: 2 * MB }, 2 * MB],
  ['of a disk that is nearly full', { spareReserves: Infinity }, 0],
])('security: exports: no room %s is used; the source waits for its reader instead', async (_, options, limit) => {
  const { spool } = await opened(options)
  const source = sourceOf(content)
  const { body } = spool.through(source.stream)
  await expect.poll(() => source.sent).toBeGreaterThan(limit)
  const got: Uint8Array[] = []
  let ahead = 0
  for await (const bytes of body) {
    got.push(bytes)
    ahead = Math.max(ahead, source.sent - got.length * PIECE_BYTES)
  }
  expect(Buffer.concat(got).equals(content)).toBe(true)
  expect(ahead).toBeLessThan(limit + MB)
})

test('security: exports: all transfers share the limit, and a transfer that ends frees its part', async () => {
  const { spool } = await opened({ limitBytes: 6 * MB })
  const [first, second] = [sourceOf(content.subarray(0, 5 * MB)), sourceOf(content.subarray(0, 5 * MB))]
  const held = spool.through(first.stream)
  await expect.poll(() => first.isRead).toBe(true)
  const waiting = spool.through(second.stream)
  await expect.poll(() => second.sent).toBeGreaterThan(MB)
  expect(second.isRead).toBe(false)
  await held.body.cancel()
  const reader = waiting.body.getReader()
  await reader.read() // the source continues when its reader takes something
  await expect.poll(() => second.isRead).toBe(true)
  await reader.cancel()
  expect(spool.transfers).toBe(0)
})

test('security: exports: a failure of the source breaks the stream at once, whatever is still stored', async () => {
  const { spool } = await opened()
  const failure = new Error('the database went away')
  const transfer = spool.through(sourceOf(content, { failure }).stream)
  await expect(readAll(transfer.body)).rejects.toBe(failure)
  expect([await transfer.ended, spool.transfers]).toEqual([failure, 0])
})

test('security: exports: a reader that leaves ends the source', async () => {
  const { spool } = await opened({ limitBytes: 0 })
  const source = sourceOf(content)
  const { body } = spool.through(source.stream)
  await body.cancel('gone')
  expect([source.isCancelled, spool.transfers]).toEqual([true, 0])
})

test('security: exports: a reader that takes nothing for too long is cut off, even after the sheet is written', async () => {
  const { spool } = await opened({ stallMs: 100 })
  const source = sourceOf(content)
  const transfer = spool.through(source.stream)
  expect(await transfer.ended).toEqual(new Error('The reader stalled'))
  await expect(readAll(transfer.body)).rejects.toThrow('stalled')
})

test('security: exports: if its files cannot be stored, a reader still gets everything', async () => {
  const { spool, directory } = await opened()
  await writeFile(directory, 'no folder')
  expect((await readAll(spool.through(sourceOf(content).stream).body)).equals(content)).toBe(true)
})

test('security: crash: files that a killed process left behind are removed at the start', async () => {
  const { directory } = await opened()
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'left'), content)
  await openSpool({ directory, log: pino({ level: 'silent' }) })
  await expect(readdir(directory)).rejects.toThrow('ENOENT')
})

async function opened(options: Partial<SpoolOptions> = {}) {
  const parent = await mkdtemp(join(tmpdir(), 'arcade-test-spool-'))
  onTestFinished(() => rm(parent, { recursive: true, force: true }))
  const directory = join(parent, 'spool')
  return { directory, spool: await openSpool({ directory, log: pino({ level: 'silent' }), ...options }) }
}

/** Sends the bytes piece by piece on demand; with `failure`, breaks in the middle. */
function sourceOf(bytes: Uint8Array, { failure }: { failure?: Error } = {}) {
  const source = {
    sent: 0,
    isRead: false,
    isCancelled: false,
    stream: new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (failure && source.sent > bytes.length / 2) throw failure
          if (source.sent >= bytes.length) {
            source.isRead = true
            return controller.close()
          }
          controller.enqueue(bytes.subarray(source.sent, source.sent + PIECE_BYTES))
          source.sent = Math.min(bytes.length, source.sent + PIECE_BYTES)
        },
        cancel() {
          source.isCancelled = true
        },
      },
      { highWaterMark: 0 },
    ),
  }
  return source
}
