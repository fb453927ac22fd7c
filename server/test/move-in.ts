/** Moves games in from exports that a test describes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { actOfProcess } from '#src/audit/audit.ts'
import { createImages } from '#src/files/images.ts'
import { moveIn } from '#src/move-in/move-in.ts'
import type { MoveInReport } from '#src/move-in/report.ts'
import { secretKey } from '#src/webhooks/secret-key.ts'
import * as firestore from './firestore-export.ts'
import type { TestApp } from './test-app.ts'

export const created = firestore.time(1_700_000_000_000_000n)

/** The hash parameters of a project, and the password, salt and hash of an account in it: the example of github.com/firebase/scrypt. */
export const hashing = {
  base64_signer_key: 'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==',
  base64_salt_separator: 'Bw==',
  rounds: 8,
  mem_cost: 14,
}
export const MOVED_PASSWORD = 'user1password'
export const moved = {
  passwordHash: 'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
  salt: '42xEC+ixf3L2lw==',
}

/** An account as `firebase auth:export` writes it. */
export const account = (localId: string, more = {}) => ({
  localId,
  email: `${localId}@gmail.com`,
  createdAt: '1508893925000',
  ...more,
})

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
  options: { isDryRun?: boolean; mapFile?: string } = {},
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
