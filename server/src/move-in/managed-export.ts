/**
 * Reads a managed export of Firestore (`gcloud firestore export`, and `firestore_export/` of the emulator): finds its files, checks them
 * against its metadata, and yields its documents. Memory does not grow with the export.
 */
import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { StartError } from '#src/postgres/errors.ts'
import { type FirestoreDocument, readEntity } from './entity.ts'
import { readRecords } from './log-records.ts'
import { type Fingerprint, fingerprintOf } from './moved-documents.ts'
import { BadMessage, WIRE, WireReader } from './wire.ts'

export interface ManagedExport {
  directory: string
  /** The paths of the files `output-N`, in the order of their names and numbers. */
  files: string[]
  /** The number of documents that the metadata names, if it does. */
  stated: number | undefined
}

const OVERALL = '.overall_export_metadata'
const OF_FILES = '.export_metadata'
/** The files of App Engine's Datastore Admin, which made backups until managed exports came in 2017. These do not list their files. */
const OLD_BACKUP = '.backup_info'
const OUTPUT = /^output-\d+$/

/** The fields of the metadata that are read: `overall: [{metadataFile: 2, documents: 3}]`, `files: [{name: 2}]`. */
const OVERALL_ENTRY = 1
const METADATA_FILE = 2
const DOCUMENTS = 3
const FILE_ENTRY = 2
const FILE_NAME = 2

/**
 * Finds the export in a folder, or in one of the folders directly in it. Returns undefined for a folder without an export.
 * @throws StartError if there are several, if a file of the export is missing or belongs to another one, and for a backup of another kind
 */
export async function findManagedExport(directory: string): Promise<ManagedExport | undefined> {
  const folders = await readdir(directory, { withFileTypes: true })
  const candidates = [directory, ...folders.filter((entry) => entry.isDirectory()).map(({ name }) => join(directory, name))]
  const found: string[] = []
  let old: string | undefined
  for (const candidate of candidates.toSorted())
    for (const name of await readdir(candidate)) {
      if (name.endsWith(OVERALL)) found.push(join(candidate, name))
      else if (name.endsWith(OLD_BACKUP)) old ??= join(candidate, name)
    }
  if (found.length > 1)
    throw new StartError(`There are several exports of Firestore in ${directory}: ${found.join(', ')}. Leave the one to move in.`)
  const [overall] = found
  if (overall === undefined && old !== undefined)
    throw new StartError(
      `${old} is of a backup of App Engine's Datastore Admin, as made until managed exports replaced it: ` +
        'import it into Datastore, and run gcloud firestore export, or gcloud datastore export.',
    )
  return overall === undefined ? undefined : openExport(overall)
}

async function openExport(overall: string): Promise<ManagedExport> {
  const directory = dirname(overall)
  const all = await readdir(directory, { recursive: true })
  const outputs = new Set(all.filter((path) => OUTPUT.test(basename(path))))
  const { metadataPaths, documents } = await readOverall(overall)
  const named = new Set<string>()
  for (const given of metadataPaths) {
    // An export that was copied to another folder may name its metadata files by their former paths.
    const metadataPath = all.find((path) => path === given || given.endsWith(`/${path}`))
    if (metadataPath === undefined) throw new StartError(`${join(directory, given)} is missing, which ${overall} names.`)
    for (const name of await readFileNames(join(directory, metadataPath))) named.add(join(dirname(metadataPath), name))
  }
  const missing = [...named].find((path) => !outputs.has(path))
  if (missing !== undefined)
    throw new StartError(`${join(directory, missing)} is missing, which the export names. Copy the export again.`)
  const foreign = named.size > 0 ? [...outputs].find((path) => !named.has(path)) : undefined
  if (foreign !== undefined)
    throw new StartError(`${join(directory, foreign)} belongs to no part of the export: two exports seem to be mixed.`)
  if (outputs.size === 0) throw new StartError(`There are no files output-0, … in ${directory}.`)
  const files = [...outputs].toSorted(byNumber).map((path) => join(directory, path))
  return { directory, files, stated: documents }
}

function byNumber(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true })
}

async function readOverall(path: string): Promise<{ metadataPaths: string[]; documents: number | undefined }> {
  const metadataPaths: string[] = []
  let documents: number | undefined
  for await (const records of readRecords(path))
    for (const { bytes } of records)
      readMetadata(path, bytes, OVERALL_ENTRY, (entry) => {
        if (entry.field === METADATA_FILE && entry.wire === WIRE.bytes) metadataPaths.push(entry.text())
        else if (entry.field === DOCUMENTS && entry.wire === WIRE.varint) documents = (documents ?? 0) + Number(entry.number())
        else entry.skip()
      })
  return { metadataPaths: metadataPaths.filter((one) => one.endsWith(OF_FILES)), documents }
}

async function readFileNames(path: string): Promise<string[]> {
  const names: string[] = []
  readMetadata(path, await readFile(path), FILE_ENTRY, (entry) => {
    if (entry.field === FILE_NAME && entry.wire === WIRE.bytes) names.push(entry.text())
    else entry.skip()
  })
  return names.filter((name) => OUTPUT.test(name))
}

/** Calls `read` for each field of the messages in one field of the metadata. */
function readMetadata(path: string, bytes: Buffer, field: number, read: (entry: WireReader) => void): void {
  try {
    const reader = new WireReader(bytes)
    while (reader.next()) {
      if (reader.field !== field || reader.wire !== WIRE.bytes) {
        reader.skip()
        continue
      }
      const entry = reader.message()
      while (entry.next()) read(entry)
    }
  } catch (error) {
    if (error instanceof BadMessage)
      throw new StartError(`${path} is no metadata of an export: ${error.message}.`, { cause: error })
    throw error
  }
}

/** A document with the fingerprint of its bytes. */
export type ExportedDocument = FirestoreDocument & { print: Fingerprint }

/**
 * Yields the documents of all files in batches.
 * @param isKnown whether a document needs not be decoded; such documents are not yielded
 * @throws StartError for damage, and for files of two projects
 */
export async function* readDocuments(
  { directory, files }: ManagedExport,
  isKnown: (print: Fingerprint) => boolean = () => false,
): AsyncGenerator<ExportedDocument[]> {
  let first: { project: string; file: string } | undefined
  for (const file of files) {
    for await (const records of readRecords(file)) {
      const documents: ExportedDocument[] = []
      for (const { bytes, offset } of records) {
        const print = fingerprintOf(bytes)
        if (isKnown(print)) continue
        const document = decode(file, bytes, offset)
        first ??= { project: document.project, file }
        if (document.project !== first.project)
          throw new StartError(
            `Two exports are mixed in ${directory}: ${relative(directory, first.file)} is of ${first.project}, ` +
              `${relative(directory, file)} of ${document.project}.`,
          )
        documents.push(Object.assign(document, { print }))
      }
      yield documents
    }
  }
}

function decode(file: string, bytes: Buffer, offset: number): ReturnType<typeof readEntity> {
  try {
    return readEntity(bytes)
  } catch (error) {
    if (!(error instanceof BadMessage)) throw error
    throw new StartError(`${file} is damaged at byte ${offset}: ${error.message}.`, { cause: error })
  }
}
