/** How a separate process streams spreadsheets: failures, slow and gone readers, memory and the event loop (security.md, Exports). */
import { createHash } from 'node:crypto'
import { getEventListeners } from 'node:events'
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { Readable } from 'node:stream'
import { setImmediate as loopTurn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { readAll } from '#test/read-sheets.ts'
import { chunkOf, columnsOf, type TestColumn } from '#test/sheet-source.ts'
import { type SheetOptions, stopSheetProcess, writeSheet } from './sheet-writer.ts'

describe('security: exports: failures, slow readers and readers that leave', () => {
  test('a failure half-way breaks the stream', async () => {
    const { rows, wasReturned } = source(100, { failAfter: 50 })
    await expect(readAll(open({ rows }))).rejects.toThrow('connection lost')
    expect(wasReturned()).toBe(true)
  })

  test('cancel calls return() of the source', async () => {
    const { rows, wasReturned } = source(10_000)
    const reader = open({ rows }).getReader()
    for (let i = 0; i < 10; i++) await reader.read()
    expect(wasReturned()).toBe(false)
    await reader.cancel()
    expect(wasReturned()).toBe(true)
  })

  test('cancel before the first read also frees the source', async () => {
    const returned = vi.fn<() => Promise<IteratorReturnResult<undefined>>>(async () => ({ done: true, value: undefined }))
    const rows = { [Symbol.asyncIterator]: () => ({ next: () => expect.unreachable(), return: returned }) }
    await open({ rows }).cancel()
    expect(returned).toHaveBeenCalledOnce()
  })

  test('cancel works while waiting for a batch that never comes', async () => {
    const next = vi.fn<() => Promise<never>>(() => new Promise(() => {}))
    const returned = vi.fn<() => Promise<IteratorReturnResult<undefined>>>(async () => ({ done: true, value: undefined }))
    const reader = open({ rows: { [Symbol.asyncIterator]: () => ({ next, return: returned }) } }).getReader()
    const reading = drain(reader)
    await expect.poll(() => next.mock.calls).toHaveLength(1)
    await reader.cancel()
    await reading
    expect(returned).toHaveBeenCalledOnce()
  })

  test('the signal breaks the stream with its reason, even if nobody reads', async () => {
    const stop = new AbortController()
    const { rows, wasReturned } = source(10_000)
    const reader = open({ rows, signal: stop.signal }).getReader()
    for (let i = 0; i < 10; i++) await reader.read()
    stop.abort(new Error('shutting down'))
    await expect.poll(wasReturned).toBe(true)
    await expect(reader.read()).rejects.toThrow('shutting down')
  })

  test('a signal that was aborted before breaks the stream at once', async () => {
    const { rows, batchesRead } = source(100)
    await expect(readAll(open({ rows, signal: AbortSignal.abort(new Error('too late')) }))).rejects.toThrow('too late')
    expect(batchesRead()).toBe(0)
  })

  test.each([
    ['finished', async (stream: ReadableStream<Uint8Array>) => void (await readAll(stream))],
    ['cancelled', async (stream: ReadableStream<Uint8Array>) => stream.cancel()],
  ])('a %s stream leaves no listener on the signal', async (_, end) => {
    const { signal } = new AbortController()
    const stream = open({ rows: source(10).rows, signal })
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await end(stream)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  test('nothing is read before the first read, and a slow reader slows down the source', async () => {
    const { rows, batchesRead } = source(10_000)
    const reader = open({ rows }).getReader()
    await pause()
    expect(batchesRead()).toBe(0)
    let bytes = 0
    while (batchesRead() < 100) bytes += (await reader.read()).value!.length
    const held = await untilHeld(batchesRead)
    expect(held, 'batches read ahead of a reader that has stopped').toBeLessThan(1000)
    expect(bytes).toBeGreaterThan(0)
    await reader.cancel()
  })

  test('at most one chunk is read ahead of the one being written', async () => {
    const { rows, batchesRead } = source(20, { size: 5000 })
    let furthest = 0
    const onRows = (written: number): void => {
      furthest = Math.max(furthest, batchesRead() - written / 5000)
    }
    await readAll(open({ rows, onRows }))
    expect(batchesRead()).toBe(20)
    expect(furthest).toBeLessThanOrEqual(2)
  })

  test('reports how many rows were written, up to all of them', async () => {
    const written: number[] = []
    await readAll(open({ rows: source(3, { size: 7 }).rows, onRows: (rows) => written.push(rows) }))
    expect(new Set(written)).toEqual(new Set([0, 7, 14, 21]))
    expect(written).toEqual(written.toSorted((a, b) => a - b))
  })

  test.each(['xlsx', 'csv'] as const)(
    'a sheet process that ends breaks the %s files in progress, and the next file gets a new process',
    async (format) => {
      const { rows, batchesRead, wasReturned } = source(10_000)
      const reader = open({ rows, format }).getReader()
      while (batchesRead() === 0) await reader.read()
      await stopSheetProcess()
      await expect(drain(reader)).rejects.toThrow('The process that writes spreadsheets ended')
      await expect.poll(wasReturned).toBe(true)
      expect((await readAll(open({ rows: source(3).rows, format }))).length).toBeGreaterThan(0)
    },
  )

  test('columns that the process cannot write break the stream with the reason', async () => {
    await expect(readAll(open({ rows: source(3).rows, columns: [null as never] }))).rejects.toThrow('null')
  })

  test('collects the buffers of passed rows every 2 MB, because V8 lets them pile up', async () => {
    let collections = 0
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as GcEntry[])
        if (entry.detail.flags === constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) collections++
    })
    observer.observe({ entryTypes: ['gc'] })
    onTestFinished(() => observer.disconnect())
    const chunk = chunkOf(textColumn, Array<string>(1000).fill('x'.repeat(1100))) // 1.1 MB
    await readAll(open({ rows: Readable.from(Array<Buffer>(8).fill(chunk)) }))
    await expect.poll(() => collections).toBeGreaterThanOrEqual(4)
  })

  test('other work continues while a large batch is written', async () => {
    let turns = 0
    let isOver = false
    const count = async (): Promise<void> => {
      while (!isOver) {
        await loopTurn()
        turns++
      }
    }
    const counting = count()
    await readAll(open({ rows: source(1, { size: 100_000 }).rows }))
    isOver = true
    await counting
    expect(turns).toBeGreaterThan(50)
  })
})

type GcEntry = PerformanceEntry & { detail: { flags: number } }

/** Batches of text that compress badly, so that bytes come out steadily. */
function source(batches: number, { size = 100, failAfter = Infinity } = {}) {
  let read = 0
  let returned = false
  async function* generate(): AsyncGenerator<Buffer> {
    try {
      for (; read < batches;) {
        if (read >= failAfter) throw new Error('connection lost')
        read++
        const seed = createHash('sha256').update(String(read)).digest('base64')
        const texts = Array.from({ length: size }, (_, i) => createHash('sha1').update(`${seed}${i}`).digest('hex'))
        yield chunkOf(textColumn, texts)
      }
    } finally {
      returned = true
    }
  }
  return { rows: generate(), batchesRead: () => read, wasReturned: () => returned }
}

const textColumn: TestColumn<string>[] = [{ header: 'Text', width: 20, kind: 'text', value: (row) => row }]

function open(options: Partial<SheetOptions> & Pick<SheetOptions, 'rows'>): ReadableStream<Uint8Array> {
  return writeSheet({ format: 'xlsx', sheetName: 'Sheet', columns: columnsOf(textColumn), ...options })
}

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done);
}

/** Returns how many batches were read, once no more are read. */
async function untilHeld(batchesRead: () => number): Promise<number> {
  let before = -1
  await expect
    .poll(
      () => {
        const isHeld = before === batchesRead()
        before = batchesRead()
        return isHeld
      },
      { interval: 200 },
    )
    .toBe(true)
  return before
}

async function pause(): Promise<void> {
  for (let i = 0; i < 50; i++) await loopTurn()
}
