/**
 * A backup's table of contents, `manifest.json`: what was saved, at which time and by which version, and the checksums that prove it is
 * complete. It is written last, so an unfinished backup has none.
 */
import { hash } from 'node:crypto'
import { z } from 'zod'
import { isKey } from '#src/files/disk.ts'
import { StartError } from '#src/postgres/errors.ts'
import type { Place } from './place.ts'

/** The number of the backup format. It rises when older versions could not read what a newer one writes. */
export const FORMAT = 1
export const MANIFEST = 'manifest.json'
/** The name of a file that lies in a backup until it is complete; a folder with this file may be cleared. */
export const UNFINISHED = 'unfinished'

const whole = z.number().int().nonnegative()
const partSchema = z.object({
  name: z.string().regex(/^(tables|files)(\/[\w-][\w.-]*)+$/), // no part of it is `..`, so it stays within the backup
  bytes: whole,
  sha256: z.hex().length(64),
})
const tableSchema = z.object({
  name: z.string(),
  /** The stored columns; generated columns are derived from them. */
  columns: z.array(z.string()),
  rows: whole,
  /** The sum of the rows' hashes, which does not depend on their order. */
  checksum: z.string(),
  /** The rows in COPY's text format, in parts that begin and end between rows. */
  parts: z.array(partSchema.extend({ textBytes: whole })),
})
const manifestSchema = z.object({
  format: z.literal(FORMAT),
  /** The product's version. */
  version: z.string(),
  /** The migrations that had run on the database. */
  migrations: z.array(z.string()).min(1),
  /** The time of the snapshot. */
  moment: z.iso.datetime(),
  /** PostgreSQL's version. */
  postgres: z.string(),
  compression: z.enum(['zstd', 'none']),
  tables: z.array(tableSchema),
  /** The uploaded files that rows name, with their keys in the file store. */
  files: z.array(partSchema.extend({ key: z.string().refine(isKey) })),
  /** Files that rows name but that the file store did not have. */
  missingFiles: z.array(z.string()),
})

export type Part = z.output<typeof partSchema>
export type SavedTable = z.output<typeof tableSchema>
export type Manifest = z.output<typeof manifestSchema>

export function sha256(bytes: Uint8Array): string {
  return hash('sha256', bytes)
}

export function partOf(name: string, bytes: Uint8Array): Part {
  return { name, bytes: bytes.byteLength, sha256: sha256(bytes) }
}

/** Returns the size of the backup in bytes. */
export function sizeOf({ tables, files }: Manifest): number {
  return partsOf({ tables, files }).reduce((sum, { bytes }) => sum + bytes, 0)
}

export function rowsOf({ tables }: Manifest): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0)
}

export async function writeManifest(place: Place, manifest: Manifest): Promise<void> {
  const text = JSON.stringify({ ...manifest, checksum: checksumOf(manifest) }, null, 1)
  await place.put(MANIFEST, Buffer.from(`${text}\n`))
}

/**
 * Reads the manifest of a backup.
 * @throws StartError if there is no complete backup, if it was altered, or if a newer version made it
 */
export async function readManifest(place: Place): Promise<Manifest> {
  const bytes = await place.read(MANIFEST)
  if (bytes === undefined) {
    const names = await place.names()
    throw new DamagedError(
      names.length === 0
        ? `There is no backup in ${place.address}.`
        : `There is no whole backup in ${place.address}: it was cut off before it was finished, or something else lies there.`,
    )
  }
  const { checksum, ...content } = parse(place, bytes)
  // A newer format may contain things that this version cannot check.
  if (typeof content['format'] === 'number' && content['format'] > FORMAT)
    throw new StartError(
      `The backup in ${place.address} was made by a newer Arcade Console (${String(content['version'])}): use that version or a later one.`,
    )
  const result = manifestSchema.safeParse(content)
  if (!result.success || checksum !== checksumOf(content)) throw damaged(place, `${MANIFEST} was altered`)
  return result.data
}

/** Reads every part. @throws DamagedError naming the first one that is missing or was altered */
export async function checkParts(place: Place, manifest: Manifest, onRead: (part: Part) => void = () => {}): Promise<void> {
  for (const part of partsOf(manifest)) {
    await readPart(place, part)
    onRead(part)
  }
}

/** Returns the bytes of a part. @throws DamagedError if they are not those that were written */
export async function readPart(place: Place, part: Part): Promise<Buffer> {
  const bytes = await place.read(part.name)
  if (bytes === undefined) throw damaged(place, `${part.name} is missing`)
  if (bytes.byteLength !== part.bytes) throw damaged(place, `${part.name} has ${bytes.byteLength} bytes instead of ${part.bytes}`)
  if (sha256(bytes) !== part.sha256) throw damaged(place, `${part.name} was altered`)
  return bytes
}

/** The error for a backup whose content differs from what was saved. */
export class DamagedError extends StartError {}

export function damaged(place: Place, reason: string): DamagedError {
  return new DamagedError(`The backup in ${place.address} is damaged: ${reason}. Use another one.`)
}

function partsOf({ tables, files }: Pick<Manifest, 'tables' | 'files'>): Part[] {
  return [...tables.flatMap(({ parts }) => parts), ...files]
}

function parse(place: Place, bytes: Buffer): Record<string, unknown> {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(bytes.toString()))
  } catch {
    throw damaged(place, `${MANIFEST} was altered`)
  }
}

function checksumOf(content: object): string {
  return sha256(Buffer.from(JSON.stringify(content)))
}
