/**
 * Writes the rows that an import refused, one line for each: `{file, line, reason, row}`. A line that is not JSON has `text` instead of
 * `row`, and bytes that cannot be read as text have `base64`. No import changes the file of an earlier one.
 */
import { once } from 'node:events'
import { createReadStream, createWriteStream, type WriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import type { Line } from './import-lines.ts'

export interface Rejects {
  /** The path of the file, once it exists. */
  readonly path: string | undefined
  /** Why there is no file although rows were refused. The rows are then only in the files that they come from. */
  readonly problem: string | undefined
  /** Adds a row. `source` is the path of the file that contains the line. */
  add(reject: { source: string; line: Line; reason: string }): Promise<void>
  close(): Promise<void>
}

/** Creates the file with its first row, readable by its owner alone. If `wanted` exists, the name gets a number (`rejected-2.ndjson`). */
export function openRejects(wanted: string): Rejects {
  let path: string | undefined
  let problem: string | undefined
  let stream: WriteStream | undefined
  let failure: Error | undefined
  const write = async (text: string): Promise<void> => {
    if (!stream!.write(text) && !failure) await once(stream!, 'drain')
    if (failure) throw failure
  }
  return {
    get path() {
      return path
    },
    get problem() {
      return problem
    },
    async add({ source, line, reason }) {
      if (problem !== undefined) return
      if (stream === undefined) {
        path = await createNew(wanted).catch((error: Error) => void (problem = error.message))
        if (path === undefined) return
        stream = createWriteStream(path, { flags: 'a' }).on('error', (error) => (failure = error))
      }
      const head = JSON.stringify({ file: basename(source), line: line.number, reason }).slice(0, -1)
      if (line.problem !== undefined) {
        await write(`${head},"base64":"`)
        await writeBase64(createReadStream(source, { start: line.start, end: line.start + line.length - 1 }), write)
        await write('"}\n')
        return
      }
      // The row is written as it was read, so that digits beyond a JavaScript number's precision are kept.
      await write(`${head},${isJson(line.text) ? `"row":${line.text}` : `"text":${JSON.stringify(line.text)}`}}\n`)
    },
    async close() {
      if (!stream) return
      stream.end()
      if (!stream.closed) await once(stream, 'close')
      if (failure) throw failure
    },
  }
}

/** Writes chunks of any length as base64, in which three bytes are four characters. */
async function writeBase64(chunks: AsyncIterable<Buffer>, write: (text: string) => Promise<void>): Promise<void> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk])
    const whole = bytes.length - (bytes.length % 3)
    await write(bytes.toString('base64', 0, whole))
    rest = bytes.subarray(whole)
  }
  await write(rest.toString('base64'))
}

/** Creates the file and returns its path. Two imports at the same time get two files. */
async function createNew(wanted: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? basename(wanted) : `${basename(wanted, extname(wanted))}-${number}${extname(wanted)}`
    const path = join(dirname(wanted), name)
    try {
      await (await open(path, 'wx', 0o600)).close()
      return path
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
