/**
 * Streams rows by COPY, PostgreSQL's fastest way to read and write whole tables, in its text format. pg has no support for COPY, but accepts
 * a query object that handles the protocol's messages. The slower side makes the other one wait, so memory stays constant.
 */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import pg from 'pg'
import { type Connection, destroy } from './connections.ts'

/** Yields the rows of `copy … to stdout`, in chunks of complete rows of about `chunkBytes`. Leaving the iteration closes the connection. */
export async function* copyOut(client: Connection, statement: string, chunkBytes: number): AsyncGenerator<Buffer> {
  const socket = socketOf(client)
  const chunks: Buffer[] = []
  let buffer = Buffer.allocUnsafe(chunkBytes)
  let used = 0
  let isDone = false
  let failure: Error | undefined
  let news = Promise.withResolvers<void>()

  function finishChunk(): void {
    if (used === 0) return
    chunks.push(buffer.subarray(0, used))
    buffer = Buffer.allocUnsafe(chunkBytes)
    used = 0
    if (chunks.length > MAX_CHUNKS_WAITING) socket.pause()
    news.resolve()
  }

  client.query({
    ...ignored,
    text: statement, // published to listeners of sent statements
    submit: (connection: Protocol) => connection.query(statement),
    handleCopyData({ chunk }: { chunk: Buffer }) {
      if (used + chunk.length > buffer.length) finishChunk()
      // A row that is larger than a chunk becomes a chunk of its own.
      if (chunk.length > buffer.length) buffer = Buffer.allocUnsafe(chunk.length)
      used += chunk.copy(buffer, used)
    },
    handleError(error: Error) {
      failure = error
      news.resolve()
    },
    handleReadyForQuery() {
      finishChunk()
      isDone = true
      news.resolve()
    },
  } as unknown as pg.Submittable)

  try {
    for (;;) {
      for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
        if (chunks.length <= MAX_CHUNKS_WAITING) socket.resume()
        yield chunk
      }
      if (failure !== undefined) throw failure
      if (isDone) return
      await news.promise
      news = Promise.withResolvers()
    }
  } finally {
    socket.resume()
    if (!isDone && failure === undefined) destroy(client)
  }
}

/** Returns the COPY statement for a query. COPY takes no parameters, so they are inserted into its text as quoted literals. */
export function copyStatement(query: string, parameters: readonly unknown[]): string {
  const values = parameters.map((value) => prepareValue(value))
  const literals = values.map((value) => (value === null ? 'null' : pg.escapeLiteral(value)))
  return `copy (${query.replaceAll(/\$(\d+)/g, (_, number: string) => `${literals[Number(number) - 1]} `)}) to stdout`
}

/** Sends rows to `copy … from stdin`. If `source` throws, the statement fails. */
export async function copyIn(client: Connection, statement: string, source: AsyncIterable<Buffer>): Promise<void> {
  const started = Promise.withResolvers<Protocol>()
  const done = Promise.withResolvers<void>()
  started.promise.catch(() => undefined)
  done.promise.catch(() => undefined)
  client.query({
    ...ignored,
    submit: (connection: Protocol) => connection.query(statement),
    handleCopyInResponse: (connection: Protocol) => started.resolve(connection),
    handleError(error: Error) {
      started.reject(error)
      done.reject(error)
    },
    handleReadyForQuery: () => done.resolve(),
  } as unknown as pg.Submittable)

  const connection = await started.promise
  const socket = socketOf(client)
  let hasEnded = false
  const ended = done.promise.finally(() => (hasEnded = true))
  ended.catch(() => undefined)
  try {
    for await (const chunk of source) {
      for (let start = 0; start < chunk.length && !hasEnded; start += MESSAGE_BYTES) {
        connection.sendCopyFromChunk(chunk.subarray(start, start + MESSAGE_BYTES))
        if (socket.writableNeedDrain) await Promise.race([once(socket, 'drain'), ended])
      }
      if (hasEnded) break
    }
  } catch (error) {
    connection.sendCopyFail('its source failed')
    await done.promise.catch(() => undefined)
    throw error
  }
  if (!hasEnded) connection.endCopyFrom()
  await done.promise
}

/** The most finished chunks that wait for their reader. */
const MAX_CHUNKS_WAITING = 1
const MESSAGE_BYTES = 64 * 1024

/** Handlers that pg requires of a query object and that do nothing here. */
const ignored = Object.fromEntries(
  [
    'handleRowDescription',
    'handleDataRow',
    'handlePortalSuspended',
    'handleEmptyQuery',
    'handleCommandComplete',
    'handleCopyInResponse',
  ].map((name) => [name, () => undefined]),
)

/** pg's conversion of a parameter to text, which its types omit. */
const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => string | null } }).utils

/** The part of pg's protocol that its types omit. */
interface Protocol {
  stream: Socket
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(message: string): void
}

function socketOf(client: pg.ClientBase): Socket {
  return (client as unknown as { connection: Protocol }).connection.stream
}
