/** Writes rows as NDJSON, one file for each collection of the import, into a folder that goes when the process ends. */
import { once } from 'node:events'
import { createWriteStream, rmSync, type WriteStream } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { isFileError } from './file-errors.ts'

export interface RowFiles {
  directory: string
  /** The bytes written so far. */
  readonly bytes: number
  add(collection: string, row: object): Promise<void>
  /** Call it before the files are read. */
  close(): Promise<void>
  remove(): Promise<void>
}

const PREFIX = 'move-in-'
const PORTION_CHARACTERS = 256 * 1024

interface RowFilesOptions {
  /** Called with the number of bytes before they are written. What it throws is thrown by `add` or `close`. */
  keepReserve: (bytes: number) => Promise<void>
}

/** @param dataDir where the folder is made; those of processes that were killed are removed */
export async function openRowFiles(dataDir: string, { keepReserve }: RowFilesOptions): Promise<RowFiles> {
  await removeAbandoned(dataDir)
  const directory = await mkdtemp(join(dataDir, `${PREFIX}${process.pid}-`))
  const removeNow = (): void => rmSync(directory, { recursive: true, force: true })
  process.once('exit', removeNow)
  const files = new Map<string, { stream: WriteStream; pending: string; failure?: Error }>()
  let bytes = 0

  const flush = async (file: { stream: WriteStream; pending: string; failure?: Error }): Promise<void> => {
    const portion = Buffer.from(file.pending)
    file.pending = ''
    await keepReserve(portion.length)
    bytes += portion.length
    if (file.failure) throw file.failure
    if (!file.stream.write(portion)) await once(file.stream, 'drain')
  }
  return {
    directory,
    get bytes() {
      return bytes
    },
    async add(collection, row) {
      let file = files.get(collection)
      if (!file) {
        const stream = createWriteStream(join(directory, `${collection}.ndjson`), { mode: 0o600 })
        const opened: { stream: WriteStream; pending: string; failure?: Error } = { stream, pending: '' }
        stream.on('error', (error) => (opened.failure = error))
        files.set(collection, opened)
        file = opened
      }
      file.pending += `${JSON.stringify(row)}\n`
      if (file.pending.length >= PORTION_CHARACTERS) await flush(file)
    },
    async close() {
      for (const file of files.values()) {
        await flush(file)
        file.stream.end()
        await finished(file.stream)
      }
      files.clear()
    },
    async remove() {
      for (const { stream } of files.values()) stream.destroy()
      process.off('exit', removeNow)
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function removeAbandoned(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split('-')[0]) : 0
    // In a container, this process may have the id of the one that was killed.
    if (pid > 0 && (pid === process.pid || !isRunning(pid))) await rm(join(dataDir, name), { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return !isFileError(error, 'ESRCH')
  }
}
