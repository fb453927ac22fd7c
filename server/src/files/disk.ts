/** The interface of a file store, and the store in a local folder: a file is written beside its place, flushed and renamed into it. */
import { mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { Readable } from 'node:stream'
import { isDiskFull } from '#src/postgres/errors.ts'

/** Bytes by key, whole or not at all. A key is `folder/name` of letters, digits, dots, hyphens and underscores. */
export interface FileStore {
  /** Rejects when files cannot be stored at the moment, with a StartError where only a person can mend it. */
  check(): Promise<void>
  /** Returns once the bytes would survive a power failure. */
  put(key: string, bytes: Uint8Array, mediaType: string): Promise<void>
  /** `undefined` if there is no such file. */
  open(key: string): Promise<OpenFile | undefined>
  has(key: string): Promise<boolean>
  /** Also succeeds when there is nothing to remove. */
  remove(key: string): Promise<void>
  /** What lies in the store. */
  keys(): AsyncIterable<string>
}

export interface OpenFile {
  body: ReadableStream
  lengthBytes: number
}

export function diskStore(root: string): FileStore {
  const toPath = (key: string): string => join(root, checkedKey(key))
  return {
    /** A full disk passes: reading goes on there. */
    async check() {
      const probe = join(root, `.probe-${process.pid}`)
      try {
        await mkdir(root, { recursive: true })
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

/** Writes a file that is there whole or not at all, also after a power failure. */
export async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
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

/** The files in a folder and those below it, as paths from there with slashes. A folder that is missing has none. */
export async function* filesBelow(root: string): AsyncGenerator<string> {
  for (const entry of (await readdir(root, { withFileTypes: true, recursive: true }).catch(unlessMissing)) ?? [])
    if (!entry.isDirectory()) yield relative(root, join(entry.parentPath, entry.name)).split(sep).join('/')
}

/** Where a file is until it is whole. One that a crash leaves there is removed together with the file it was to become. */
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

/** Whether a text has the form of a key: `folder/name`, without anything by which a path could leave the store. */
export function isKey(key: string): boolean {
  return /^[a-z-]+\/[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(key) && key.length <= 250 && !key.includes('..')
}

/** The key, once it is known to be safe as a path. @throws Error for any other text */
export function checkedKey(key: string): string {
  if (!isKey(key)) throw new Error(`not a key of the file store: ${JSON.stringify(key)}`)
  return key
}
