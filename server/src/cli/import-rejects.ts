/** The rows that an import refused, a line each: `{file, line, reason, row}`, or `text` instead of `row` for what is no JSON. */
import { once } from 'node:events'
import { constants, createWriteStream, type WriteStream } from 'node:fs'
import { access, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { StartError } from '#src/postgres/errors.ts'
import type { Line } from './import-lines.ts'

export interface Rejects {
  path: string
  add(reject: { file: string; line: Line; reason: string }): Promise<void>
  close(): Promise<void>
}

/** Removes the file of an earlier import. A new one is made with its first row. @throws StartError when it could not be made */
export async function openRejects(path: string): Promise<Rejects> {
  try {
    await access(dirname(path), constants.W_OK)
    await rm(path, { force: true })
  } catch (error) {
    throw new StartError(`Refused rows cannot be written to ${path}: ${(error as Error).message}`, { cause: error })
  }
  let stream: WriteStream | undefined
  let failure: Error | undefined
  return {
    path,
    async add({ file, line, reason }) {
      stream ??= createWriteStream(path).on('error', (error) => (failure = error))
      const head = JSON.stringify({ file, line: line.number, reason }).slice(0, -1)
      // The row is written as it was read, with digits that a JavaScript number cannot hold.
      const content = isJson(line) ? `"row":${line.text}` : `"text":${JSON.stringify(line.text)}`
      if (!stream.write(`${head},${content}}\n`) && !failure) await once(stream, 'drain')
      if (failure) throw failure
    },
    async close() {
      if (!stream) return
      stream.end()
      if (!stream.closed) await once(stream, 'close')
      if (failure) throw failure
    },
  }
}

function isJson({ text, problem }: Line): boolean {
  if (problem !== undefined) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
