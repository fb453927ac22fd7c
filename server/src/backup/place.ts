/** The place of a backup: a folder, or the objects below `s3://bucket/prefix?endpoint=…`. Hides which of the two it is. */
import { lstat, mkdir, readFile, realpath, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { arrayBuffer } from 'node:stream/consumers'
import { openBucket } from '#src/files/bucket.ts'
import { filesBelow, writeWhole } from '#src/files/disk.ts'
import { isDiskFull, StartError } from '#src/postgres/errors.ts'
import { reserveBytes } from '#src/postgres/free-space.ts'

export interface Place {
  /** The address as operators see it, without credentials. It does not end in a slash. */
  readonly address: string
  /** Resolves when the bytes would survive a power failure. @throws StartError if they do not fit */
  put(name: string, bytes: Uint8Array): Promise<void>
  /** Resolves with `undefined` if there is nothing of this name. */
  read(name: string): Promise<Buffer | undefined>
  remove(name: string): Promise<void>
  names(): Promise<string[]>
  /** Removes the folder itself, which must be empty. Does nothing for a bucket, which has no folders. */
  removeFolder(): Promise<void>
  /** Returns a place below this one. */
  below(name: string): Place
}

/** @param address the absolute path of a folder, or a URL that begins with `s3://` */
export function openPlace(address: string): Place {
  return isBucketAddress(address) ? bucketPlace(address) : folderPlace(withoutSlash(address))
}

/** Opens the place with an address, as the list of backups has it. Returns undefined if it does not lie below `place`. */
export function openBelow(place: Place, address: string): Place | undefined {
  const beginning = place.address.endsWith('/') ? place.address : `${place.address}/` // the root of the file system ends in one
  return address.startsWith(beginning) && address !== beginning ? place.below(address.slice(beginning.length)) : undefined
}

export function isBucketAddress(address: string): boolean {
  return address.startsWith('s3://')
}

function folderPlace(root: string): Place {
  return {
    address: root,
    async put(name, bytes) {
      try {
        await mkdir(root, { recursive: true, mode: 0o700 })
        await leaveReserve(root, bytes.byteLength)
        await writeWhole(join(root, name), bytes)
      } catch (error) {
        if (isDiskFull(error)) throw diskFull(root, error)
        throw isRefused(error) ? notUsable(root, error) : error
      }
    },
    async read(name) {
      const file = join(root, name)
      const found = await lstat(file).catch(unlessMissing)
      if (!found) return undefined
      // Reading a device or a pipe might never end, and a link would tell something about a file elsewhere.
      if (!found.isFile() || (await realpath(file)) !== join(await realpath(root), name))
        throw new StartError(`${file} is not a regular file of this folder, so this is not a backup as it was made.`)
      return readFile(file).catch(unlessMissing)
    },
    async remove(name) {
      await rm(join(root, name), { force: true })
    },
    async names() {
      if ((await stat(root).catch(unlessMissing))?.isFile()) throw new StartError(`${root} is a file: name a folder.`)
      return collect(filesBelow(root)).catch((error: unknown) => {
        throw isRefused(error) ? notUsable(root, error) : error
      })
    },
    async removeFolder() {
      await rm(root, { recursive: true, force: true })
    },
    below: (name) => folderPlace(join(root, name)),
  }
}

/** Refuses to use the last free space of the disk, because the database may be on the same disk. */
async function leaveReserve(root: string, bytes: number): Promise<void> {
  if ((await writableBytesIn(root)) < bytes) throw diskFull(root)
}

/** Returns how many bytes may be written to the disk of a folder until only the reserve is left. */
export async function writableBytesIn(folder: string): Promise<number> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return bavail * bsize - reserveBytes(blocks * bsize)
}

function diskFull(root: string, cause?: unknown): StartError {
  return new StartError(`The disk of ${root} has too little room left for this backup: free some, or name another place.`, {
    cause,
  })
}

/** Whether the operating system does not let this process write there. */
function isRefused(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException
  return ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST'].includes(code)
}

function notUsable(root: string, cause: unknown): StartError {
  const { code } = cause as NodeJS.ErrnoException
  return new StartError(
    `The console cannot use the folder ${root} (${code}): let its user read and write there, or name another place.`,
    {
      cause,
    },
  )
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
}

function bucketPlace(address: string): Place {
  const url = new URL(address)
  const bucket = openBucket(address, {
    setting: "The backup's address",
    unavailable: 'The store of backups does not answer: try again in a moment.',
    answerTimeoutMs: ANSWER_TIMEOUT_MS,
  })
  return {
    address: `s3://${withoutSlash(join(url.hostname, url.pathname))}`,
    put: (name, bytes) => bucket.put(name, bytes, 'application/octet-stream'),
    async read(name) {
      const found = await bucket.open(name)
      return found && Buffer.from(await arrayBuffer(found.body))
    },
    remove: (name) => bucket.remove(name),
    names: () => collect(bucket.list('')),
    removeFolder: async () => undefined,
    below(name) {
      const further = new URL(address)
      further.pathname = join(url.pathname, name)
      return bucketPlace(further.href)
    },
  }
}

/** Removes the slashes at the end of a path, except from `/`. */
function withoutSlash(path: string): string {
  return path.replace(/(?<=.)\/+$/, '')
}

async function collect(names: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = []
  for await (const name of names) all.push(name)
  return all
}

/** Milliseconds to wait for an answer of S3: a part of a backup has some megabytes. */
const ANSWER_TIMEOUT_MS = 60_000
