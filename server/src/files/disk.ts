/** The interface of a file store, and the store in a local folder, which writes a file under a temporary name, flushes and renames it. */
import { mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { Readable } from 'node:stream'
import { isDiskFull } from '#src/postgres/errors.ts'

/** Stores files by key, completely or not at all. A key is `folder/name` of letters, digits, dots, hyphens and underscores. */
export interface FileStore {
  /** Rejects if files cannot be stored now; with a StartError if only an operator can fix it. */
  check(): Promise<void>
  /** Resolves when the bytes would survive a power failure. */
  put(key: string, bytes: Uint8Array, mediaType: string): Promise<void>
  /** Resolves with `undefined` if there is no such file. */
  open(key: string): Promise<OpenFile | undefined>
  has(key: string): Promise<boolean>
  /** Removes a file; succeeds if there is none. */
  remove(key: string): Promise<void>
  /** Yields the files in the store. */
  keys(): AsyncIterable<string>
}

export interface OpenFile {
  body: ReadableStream
  lengthBytes: number
}

/** Reads the whole of a file. */
export async function bytesOf({ body }: Pick<OpenFile, 'body'>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Response(body).arrayBuffer())
}

/** Only this process's user can list a folder of files. */
const FOLDER = { recursive: true, mode: 0o700 } as const

export function diskStore(root: string): FileStore {
  const toPath = (key: string): string => join(root, checkedKey(key))
  return {
    /** Checks the folder. A full disk is not an error, because files can still be read. */
    async check() {
      const probe = join(root, `.probe-${process.pid}`)
      try {
        await mkdir(root, FOLDER)
        await (await open(probe, 'w', 0o600)).close()
        await unlink(probe)
      } catch (error) {
        if (!isDiskFull(error)) throw error
      }
    },

    put: async (key, bytes) => writeWhole(toPath(key), bytes),

    async open(key) {
      const file = await open(toPath(key)).catch(unlessMissing)
      if (!file) return undefined
      const { size } = await file.stat()
      return { body: Readable.toWeb(file.createReadStream()) as ReadableStream, lengthBytes: size }
    },

    async has(key) {
      return (await stat(toPath(key)).catch(unlessMissing))?.isFile() ?? false
    },

    async remove(key) {
      const path = toPath(key)
      await unlink(partialPath(path)).catch(unlessMissing)
      await unlink(path).catch(unlessMissing)
    },

    keys: () => filesBelow(root),
  }
}

/** Writes a file completely or not at all, even if the power fails. */
export async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(path), FOLDER)
  const file = await open(partialPath(path), 'w', 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(partialPath(path), path)
  await flushFolder(dirname(path))
}

/** Yields the files in a folder and below it, as relative paths with slashes. A missing folder has no files. */
export async function* filesBelow(root: string): AsyncGenerator<string> {
  for (const entry of (await readdir(root, { withFileTypes: true, recursive: true }).catch(unlessMissing)) ?? [])
    if (!entry.isDirectory()) yield relative(root, join(entry.parentPath, entry.name)).split(sep).join('/')
}

/** Returns the temporary path of an unfinished file. One that a crash leaves there is removed together with the file itself. */
function partialPath(path: string): string {
  return `${path}.part`
}

/** Makes a rename survive a power failure. */
async function flushFolder(path: string): Promise<void> {
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

/** Whether a text has the form of a key: `folder/name`, with nothing by which a path could leave the store. */
export function isKey(key: string): boolean {
  return /^[a-z-]+\/[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(key) && key.length <= 250 && !key.includes('..')
}

/** Returns the key if it is safe as a path. @throws Error for any other text */
export function checkedKey(key: string): string {
  if (!isKey(key)) throw new Error(`not a key of the file store: ${JSON.stringify(key)}`)
  return key
}
