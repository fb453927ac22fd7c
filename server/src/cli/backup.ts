/** `npm run arcade -- backup | backup verify | restore | resume`: runs them and prints the results. */
import { join } from 'node:path'
import { actOfProcess, audit } from '#src/audit/audit.ts'
import { makeBackup } from '#src/backup/backup.ts'
import { scratchDirOf } from '#src/backup/backups.ts'
import { type Manifest, rowsOf, sizeOf } from '#src/backup/manifest.ts'
import type { Place } from '#src/backup/place.ts'
import { type BotToken, restoreBackup, verifyBackup } from '#src/backup/restore.ts'
import { beginRun, recordMaking } from '#src/backup/runs.ts'
import { takeTurn } from '#src/backup/turn.ts'
import { resumeScheduledWork } from '#src/db/scheduled-work.ts'
import { openFileStore } from '#src/files/files.ts'
import { notifySchedule } from '#src/items/schedule-notice.ts'
import type { RunCommand } from './command-line.ts'
import type { RunOnDatabase } from './on-database.ts'

export function backupInto(place: Place): RunOnDatabase {
  return async ({ database, config, print, note }) => {
    const fileStore = openFileStore(config)
    const act = actOfProcess('command', 'arcade backup')
    const turn = await takeTurn(database)
    try {
      const id = await beginRun(database.db, { place, by: 'command' })
      const run = { id, act, place, database, isVerifiedNext: false, signal: turn.signal }
      const manifest = await recordMaking(run, (watch) => makeBackup({ database, fileStore, place, watch }))
      for (const key of manifest.missingFiles) note(`The file ${key} is not in the file store, so it is not in the backup.`)
      print(`Saved ${contents(manifest)} in ${place.address}.`)
    } finally {
      await turn.end()
    }
  }
}

export function verify(place: Place): RunCommand {
  return async ({ config, log, print }) => {
    const manifest = await verifyBackup(place, { scratchDir: scratchDirOf(config.dataDir, 'command'), log })
    print(`The backup in ${place.address} is whole: ${contents(manifest)} were restored on trial and are what was saved.`)
  }
}

export function restore(place: Place): RunCommand {
  return async ({ config, log, print }) => {
    const { dataDir, databaseUrl: url, filesUrl } = config
    const address = filesUrl === undefined ? join(dataDir, 'files') : withoutQuery(filesUrl)
    const files = { store: openFileStore(config), address }
    const { manifest, tokens } = await restoreBackup(place, { dataDir, url, files, log })
    const { version, moment } = manifest
    print(`Restored ${contents(manifest)} of ${moment}, saved by version ${version}; all of it is what was saved.`)
    print('Everyone has to sign in again, and links to set up or to set a password are void.')
    print(tokens.length === 0 ? 'There are no bot tokens.' : 'These bot tokens work:')
    for (const token of tokens) print(`  ${tokenLine(token)}`)
    print('Scheduled work is paused. Once no other console does it: npm run arcade -- resume')
  }
}

export const resume: RunOnDatabase = async ({ database: { db }, print }) => {
  const pause = await resumeScheduledWork(db)
  if (pause !== undefined) {
    await audit(db, actOfProcess('command', 'arcade resume'), 'backup.resume', { detail: { paused: pause.reason } })
    await notifySchedule(db)
  }
  print(pause === undefined ? 'Scheduled work was not paused.' : 'Scheduled work runs again.')
}

function contents(manifest: Manifest): string {
  const count = (number: number, one: string, many: string): string =>
    `${number.toLocaleString('en')} ${number === 1 ? one : many}`
  const megabytes = (sizeOf(manifest) / 1e6).toFixed(1)
  return `${count(rowsOf(manifest), 'row', 'rows')} and ${count(manifest.files.length, 'file', 'files')} (${megabytes} MB)`
}

function tokenLine({ name, ...facts }: BotToken): string {
  const known = Object.entries(facts).filter(([, value]) => value !== null)
  return [name, ...known.map(([fact, value]) => `${fact.replaceAll('_', ' ')} ${String(value)}`)].join(', ')
}

function withoutQuery(address: string): string {
  return address.replace(/\?.*$/, '')
}
