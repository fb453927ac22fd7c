/** `arcade move-in`: moves a game in from what Firebase's tools write. */
import { basename, resolve } from 'node:path'
import { actOfProcess, audit } from '#src/audit/audit.ts'
import { callerDirectory } from '#src/config.ts'
import { createFiles, openFileStore } from '#src/files/files.ts'
import { createImages } from '#src/files/images.ts'
import { moveIn } from '#src/move-in/move-in.ts'
import { isAnythingRefused, reportInWords } from '#src/move-in/report.ts'
import { openSecretKey } from '#src/webhooks/secret-key.ts'
import { consoleOrigin, readPassword } from './admins.ts'
import type { RunOnDatabase } from './on-database.ts'

/** The exit code of a move-in that refused something. */
const REFUSED = 2

interface MoveInCommand {
  isDryRun: boolean
  isJson: boolean
  keepsUnknown: boolean
  mapFile: string | undefined
  /** The e-mail address of an account whose password is tried. */
  triedEmail: string | undefined
}

export function moveInFrom(given: string, { isDryRun, isJson, keepsUnknown, mapFile, triedEmail }: MoveInCommand): RunOnDatabase {
  const inCaller = (path: string): string => resolve(callerDirectory(), path)
  return async ({ database, config, log, print, note }) => {
    const directory = inCaller(given)
    const act = actOfProcess('command', 'arcade move-in')
    const record = { kind: 'installation', id: 'move-in', name: basename(directory) } as const
    // A dry run changes nothing, so it writes no audit entry either.
    const auditMoveIn = async (detail: Record<string, unknown>): Promise<void> => {
      if (!isDryRun) await audit(database.db, act, 'data.import', { record, detail })
    }
    const tried = triedEmail === undefined ? undefined : { email: triedEmail, password: await readPassword() }
    const images = createImages()
    const files = createFiles({ database, store: openFileStore(config), log, trashDays: config.trashDays })
    const report = await moveIn({
      database,
      act,
      secretKey: await openSecretKey({ given: config.secretKey, dataDir: config.dataDir }),
      files,
      images,
      directory,
      dataDir: config.dataDir,
      mapFile: mapFile === undefined ? undefined : inCaller(mapFile),
      isDryRun,
      keepsUnknown,
      tried,
      onBegin: () => auditMoveIn({ state: 'begun' }),
      note,
    }).finally(() => images.stop())
    for (const user of report.accounts?.withoutPassword.users ?? [])
      if (user.link !== undefined) user.link = consoleOrigin(config) + user.link
    const collections = Object.entries(report.collections).map(([file, { read, new: added, changed, refused }]) => ({
      file,
      read,
      loaded: added + changed,
      rejected: refused,
    }))
    await auditMoveIn({ state: 'done', files: collections })
    if (isJson) print(JSON.stringify(report, null, 2))
    else for (const line of reportInWords(report)) print(line)
    return isAnythingRefused(report) ? REFUSED : 0
  }
}
