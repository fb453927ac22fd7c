/** All commands of `npm run arcade -- …` (design §8). */
import { resolve } from 'node:path'
import { isBucketAddress, openPlace, type Place } from '#src/backup/place.ts'
import { callerDirectory, npmTookDryRun } from '#src/config.ts'
import { createAdmin, printSetupLink, resetSecondFactor } from './admins.ts'
import { dropBefore, eraseFormerUser, verifyTrail } from './audit-commands.ts'
import { backupInto, restore, resume, verify } from './backup.ts'
import { check } from './check.ts'
import { command, UsageError } from './command-line.ts'
import { distribute, MAX_SHARDS, SHARDS } from './distribute.ts'
import { exportInto } from './export.ts'
import { importFrom, seedRows } from './import.ts'
import { moveInFrom } from './move-in.ts'
import { onDatabase } from './on-database.ts'
import { reconcileLedger } from './reconcile.ts'
import { createToken, listTokens, retireSecret, revokeToken, rotateToken } from './tokens.ts'

export const commands = [
  command({
    name: 'admin create',
    positionals: ['EMAIL'],
    summary: 'make EMAIL an admin; the password is read from standard input',
    prepare: ([email = '']) => onDatabase(createAdmin(email)),
  }),
  command({
    name: 'admin reset-second-factor',
    positionals: ['EMAIL'],
    summary: 'remove the second factor of somebody who has lost it, and end that person’s sessions',
    prepare: ([email = '']) => onDatabase(resetSecondFactor(email)),
  }),
  command({
    name: 'setup-link',
    summary: 'print a new link under which the first admin registers',
    prepare: () => onDatabase(printSetupLink),
  }),
  command({
    name: 'token create',
    positionals: ['NAME'],
    options: { scope: { type: 'string', shows: 'read|play|admin', default: 'play' } },
    summary: 'make a bot token (play) and print it, once',
    prepare: ([name = ''], { scope }) => onDatabase(createToken(name, scope)),
  }),
  command({
    name: 'token list',
    summary: 'show all bot tokens, their scopes and when they were last used',
    prepare: () => onDatabase(listTokens),
  }),
  command({
    name: 'token rotate',
    positionals: ['NAME'],
    summary: 'print a new secret of a token; the one before works until the next rotation',
    prepare: ([name = '']) => onDatabase(rotateToken(name)),
  }),
  command({
    name: 'token retire',
    positionals: ['NAME'],
    summary: 'end the previous secret of a rotated token now',
    prepare: ([name = '']) => onDatabase(retireSecret(name)),
  }),
  command({
    name: 'token revoke',
    positionals: ['NAME'],
    summary: 'end a token with all its secrets',
    prepare: ([name = '']) => onDatabase(revokeToken(name)),
  }),
  command({
    name: 'audit verify',
    options: { head: { type: 'string', shows: 'NUMBER:HASH' } },
    summary: 'read the whole audit trail; exit 3 if entries were changed, removed or inserted',
    prepare: (_, { head }) => onDatabase(verifyTrail(head)),
  }),
  command({
    name: 'audit drop',
    positionals: ['DAY'],
    summary: 'drop what is older than DAY (2026-01-31) from the audit trail, which stays whole',
    prepare: ([day = '']) => onDatabase(dropBefore(day)),
  }),
  command({
    name: 'audit erase',
    positionals: ['ID'],
    summary: 'erase the identity of a removed user, also from the audit, which can still be verified',
    prepare: ([id = '']) => onDatabase(eraseFormerUser(id)),
  }),
  command({
    name: 'check',
    options: { repair: { type: 'boolean' } },
    summary: 'compare counters, balances, history and files with the records; exit 1 if they differ',
    prepare: (_, { repair: isRepair = false }) => onDatabase(check({ isRepair }), { needsFreeSpace: isRepair }),
  }),
  command({
    name: 'reconcile',
    summary: 'compare all balances with their ledgers; exit 3 if some differ',
    prepare: () => onDatabase(reconcileLedger, { needsFreeSpace: false }),
  }),
  command({
    name: 'backup',
    positionals: ['PLACE'],
    summary: 'save database and files of this moment in an empty folder or s3://bucket/prefix',
    prepare: ([place = '']) => onDatabase(backupInto(placeOf(place)), { needsFreeSpace: false }),
  }),
  command({
    name: 'backup verify',
    positionals: ['PLACE'],
    summary: 'restore a backup on trial and compare it with what was saved',
    prepare: ([place = '']) => verify(placeOf(place)),
  }),
  command({
    name: 'restore',
    positionals: ['PLACE'],
    summary: 'restore a backup into an empty DATA_DIR, or an empty database of DATABASE_URL',
    prepare: ([place = '']) => restore(placeOf(place)),
  }),
  command({
    name: 'resume',
    summary: 'let scheduled work run again after a restore',
    prepare: () => onDatabase(resume),
  }),
  command({
    name: 'distribute',
    options: { shards: { type: 'string', shows: 'N', default: String(SHARDS) } },
    summary: `divide the tables of players among the servers of a Citus cluster, into ${SHARDS} pieces each or N`,
    prepare: (_, { shards }) => onDatabase(distribute(readNumber(shards, { min: 1, max: MAX_SHARDS, unit: 'shards' }))),
  }),
  command({
    name: 'import',
    calledAs: 'npm run import --',
    positionals: ['DIRECTORY'],
    options: { 'dry-run': { type: 'boolean' } },
    summary: 'load NDJSON files, one a collection, or tell what that would change; exit 2 if rows were refused',
    prepare: ([directory = ''], { 'dry-run': isDryRun = npmTookDryRun() }) =>
      onDatabase(importFrom(resolve(callerDirectory(), directory), { isDryRun })),
  }),
  command({
    name: 'export',
    positionals: ['DIR'],
    summary: 'write all collections as NDJSON that an import reads, and files beside, into an empty folder',
    prepare: ([directory = '']) => {
      if (directory === '') throw new UsageError('DIR is empty.')
      return onDatabase(exportInto(directory), { needsFreeSpace: false })
    },
  }),
  command({
    name: 'move-in',
    positionals: ['DIR'],
    options: {
      'dry-run': { type: 'boolean' },
      map: { type: 'string', shows: 'FILE' },
      'keep-unknown': { type: 'boolean' },
      try: { type: 'string', shows: 'EMAIL' },
      json: { type: 'boolean' },
    },
    summary: 'move a game in from exports of Firebase, or tell what that would change; exit 2 if something was refused',
    prepare: (
      [directory = ''],
      {
        'dry-run': isDryRun = npmTookDryRun(),
        map: mapFile,
        'keep-unknown': keepsUnknown = false,
        try: triedEmail,
        json: isJson = false,
      },
    ) => onDatabase(moveInFrom(directory, { isDryRun, isJson, keepsUnknown, mapFile, triedEmail })),
  }),
  command({
    name: 'seed',
    calledAs: 'npm run seed --',
    options: { 'telegram-users': { type: 'string', shows: 'N' }, participants: { type: 'string', shows: 'N' } },
    summary: 'make synthetic players, and participations of them',
    prepare(_, { 'telegram-users': players, participants }) {
      if (players === undefined && participants === undefined) throw new UsageError('Give --telegram-users or --participants.')
      const rows = (number = '0'): number => readNumber(number, { min: 0, max: 999_999_999, unit: 'rows' })
      return onDatabase(seedRows({ telegramUsers: rows(players), participations: rows(participants) }))
    },
  }),
]

function readNumber(text: string, { min, max, unit }: { min: number; max: number; unit: string }): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN
  if (!(number >= min && number <= max)) throw new UsageError(`${text} is not a number of ${unit} (${min} to ${max}).`)
  return number
}

/** Opens a place of backups. A relative path is relative to the folder from which the command was called. */
function placeOf(given: string): Place {
  if (given === '') throw new UsageError('PLACE is empty.')
  return openPlace(isBucketAddress(given) ? given : resolve(callerDirectory(), given))
}
