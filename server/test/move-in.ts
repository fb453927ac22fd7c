/** Moves games in from exports that a test describes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { actOfProcess } from '#src/audit/audit.ts'
import { createImages } from '#src/files/images.ts'
import { moveIn, type MoveInOptions } from '#src/move-in/move-in.ts'
import type { MoveInReport } from '#src/move-in/report.ts'
import { secretKey } from '#src/webhooks/secret-key.ts'
import * as firestore from './firestore-export.ts'
import type { TestApp } from './test-app.ts'

export const created = firestore.time(1_700_000_000_000_000n)

const act = actOfProcess('command', 'test')
/** Its process ends by itself when it is idle. */
const images = createImages()

/** Returns a folder with an export of these documents, and files beside it: texts, or values written as JSON. */
export async function folderOf(documents: firestore.Documents, files: Record<string, unknown> = {}): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-move-in-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await firestore.writeExport(path.join(folder, 'firestore_export'), { files: [documents] })
  for (const [name, content] of Object.entries(files))
    await writeFile(path.join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
  return folder
}

export function run(
  { database, files }: TestApp,
  directory: string,
  options: Partial<Pick<MoveInOptions, 'isDryRun' | 'mapFile' | 'keepsUnknown' | 'tried' | 'onBegin'>> = {},
): Promise<MoveInReport> {
  const rejectedPath = path.join(directory, 'rejected.ndjson')
  return moveIn({
    database,
    act,
    secretKey: secretKey('of the tests'),
    files,
    images,
    directory,
    dataDir: directory,
    rejectedPath,
    ...options,
  })
}

/** Returns what was read, new, changed, unchanged and refused, by collection. */
export const counts = ({ collections }: MoveInReport) =>
  Object.fromEntries(
    Object.entries(collections).map(([name, part]) => [name, [part.read, part.new, part.changed, part.unchanged, part.refused]]),
  )
