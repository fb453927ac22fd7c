/** Errors of the operating system, as a move-in tells them. */
import { createReadStream } from 'node:fs'
import { StartError } from '#src/postgres/errors.ts'

/** Whether an error of the operating system has this code, such as ENOENT. */
export function isFileError(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code
}

/** Returns what to tell about a file that the operating system does not let us read; other errors are returned as they are. */
export function unreadable(path: string, error: unknown): unknown {
  const isOfSystem = error instanceof Error && (error as NodeJS.ErrnoException).syscall !== undefined
  return isOfSystem ? new StartError(`${path} cannot be read: ${error.message}.`, { cause: error }) : error
}

/** Yields the bytes of a file. @throws StartError if it cannot be read */
export async function* chunksOf(path: string, chunkBytes: number): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path, { highWaterMark: chunkBytes }) as AsyncIterable<Buffer>
  } catch (error) {
    throw unreadable(path, error)
  }
}
