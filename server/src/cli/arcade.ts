/** `npm run arcade -- …`: the operator's commands, run beside a running server or without one. */
import { constants } from 'node:os'
import { basename, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { emailField, passwordField } from '@arcade/contract/field-schemas'
import { actOfProcess, audit } from '#src/audit/audit.ts'
import { Failure } from '#src/calls.ts'
import { callerDirectory, type Config, ConfigError, npmTookDryRun, readConfig } from '#src/config.ts'
import { type Database, openDatabase } from '#src/db/database.ts'
import { makeDataDir } from '#src/postgres/data-dir.ts'
import { isDiskFull, StartError } from '#src/postgres/errors.ts'
import { ensureAdmin } from '#src/identity/accounts.ts'
import { createSessions } from '#src/identity/sessions.ts'
import { createSetupLink } from '#src/identity/setup-links.ts'
import { dropBefore, eraseUser, isDay, readHead, verifyTrail } from './audit-commands.ts'
import { isBucketAddress, openPlace, type Place } from '#src/backup/place.ts'
import { backupInto, type CommandOptions, restore, resume, verify } from './backup.ts'
import { check } from './check.ts'
import { distribute, MAX_SHARDS, SHARDS } from './distribute.ts'
import { importDirectory } from '#src/import/import.ts'
import { reconcileLedger } from './reconcile.ts'
import { seed } from '#src/import/seed.ts'
import { tokenCommand } from './tokens.ts'
import { readOptions, UsageError } from './usage-error.ts'

const usage = `Usage:
  npm run arcade -- admin create EMAIL      make EMAIL an admin; the password is read from standard input
  npm run arcade -- setup-link              print a new link under which the first admin registers
  npm run arcade -- token create NAME [--scope read|play|admin]
                                            make a bot token (play) and print it, once
  npm run arcade -- token list              show all bot tokens, their scopes and when they were last used
  npm run arcade -- token rotate NAME       print a new secret of a token; the one before works until the next rotation
  npm run arcade -- token retire NAME       end the secret before the last rotation now
  npm run arcade -- token revoke NAME       end a token with all its secrets
  npm run arcade -- audit verify [--head NUMBER:HASH]
                                            read the whole audit trail; exit 3 if entries were changed, removed or inserted
  npm run arcade -- audit drop DAY          drop what is older than DAY (2026-01-31) from the audit trail, which stays whole
  npm run arcade -- audit erase ID          take a removed user out of the audit trail, which stays whole
  npm run arcade -- check [--repair]        compare counters, balances, history and files with the records; exit 1 if they differ
  npm run arcade -- reconcile               compare all balances with their ledgers; exit 3 if some differ
  npm run arcade -- backup PLACE            save database and files of this moment in an empty folder or s3://bucket/prefix
  npm run arcade -- backup verify PLACE     restore a backup on trial and compare it with what was saved
  npm run arcade -- restore PLACE           restore a backup into an empty DATA_DIR, or an empty database of DATABASE_URL
  npm run arcade -- resume                  let scheduled work run again after a restore
  npm run arcade -- distribute [--shards N] divide the tables of players among the servers of a Citus cluster, into 32 pieces each or N
  npm run import -- DIRECTORY [--dry-run]   load NDJSON files, one a collection, or tell what that would change; exit 2 if rows were refused
  npm run seed -- --telegram-users N --participants N`

// A command runs to its end even if nobody reads its output any more, as with `| head`.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })

/** Resolves when a signal has interrupted the command. */
let brokenOff: Promise<never> | undefined

process.exitCode = await run(process.argv.slice(2))

async function run(args: string[]): Promise<number> {
  if (args.length === 1 && ['help', '--help', '-h'].includes(args[0]!)) {
    process.stdout.write(`${usage}\n`)
    return 0
  }
  try {
    const command = parse(args)
    const config = readConfig()
    const log = pino({ level: 'warn' }, pino.destination({ dest: 2, sync: true }))
    return await command({ config, log })
  } catch (error) {
    await brokenOff // the interruption has closed the database of this command
    const isExpected = [UsageError, ConfigError, StartError, Failure].some((kind) => error instanceof kind)
    if (isDiskFull(error)) {
      process.stderr.write('The disk is full: free some space and run the same command again.\n')
      return 1
    }
    process.stderr.write(
      `${error instanceof Error ? (isExpected ? error.message : (error.stack ?? error.message)) : String(error)}\n`,
    )
    return 1
  }
}

type Command = (database: Database, config: Config) => Promise<number>

/** Runs a command on the database. */
function onDatabase(command: Command, { needsRoom = true } = {}): (options: CommandOptions) => Promise<number> {
  return async ({ config, log }) => {
    await makeDataDir(config.dataDir)
    const { dataDir, databaseUrl: url } = config
    const database = await openDatabase({ dataDir, url, log, use: 'command', givesWay: true })
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => {
        brokenOff ??= breakOff(database, signal)
      })
    try {
      if (needsRoom && database.freeSpaceLow())
        throw new StartError('The disk is nearly full, so nothing was done: free some space first.')
      return await command(database, config)
    } finally {
      await database.close()
    }
  }
}

/** Ends a command on a signal, and the PostgreSQL it may have started. Each step of a command is either complete or rolled back. */
async function breakOff(database: Database, signal: 'SIGINT' | 'SIGTERM'): Promise<never> {
  process.stderr.write('Broken off. What was done up to here is whole; the same command goes on from there, or begins anew.\n')
  await database.close().catch(() => {}) // the command ends in any case
  process.exit(128 + constants.signals[signal])
}

function parse(args: string[]): (options: CommandOptions) => Promise<number> {
  const [name, ...rest] = args
  switch (name) {
    case 'backup':
      if (rest.length === 1 && rest[0] !== 'verify') return onDatabase(backupInto(placeOf(rest[0])), { needsRoom: false })
      if (rest[0] === 'verify' && rest.length === 2) return verify(placeOf(rest[1]))
      break
    case 'check':
      if (rest.length === 0) return onDatabase(check({ isRepair: false }), { needsRoom: false })
      if (rest[0] === '--repair' && rest.length === 1) return onDatabase(check({ isRepair: true }))
      break
    case 'reconcile':
      if (rest.length === 0) return onDatabase(reconcileLedger, { needsRoom: false })
      break
    case 'restore':
      if (rest.length === 1) return restore(placeOf(rest[0]))
      break
    case 'resume':
      if (rest.length === 0) return onDatabase(resume)
      break
    case 'distribute':
      return onDatabase(distributeWith(rest))
    case 'admin':
      if (rest[0] === 'create' && rest.length === 2) return onDatabase(createAdmin(rest[1] ?? ''))
      break
    case 'setup-link':
      if (rest.length === 0) return onDatabase(printSetupLink)
      break
    case 'token': {
      const command = tokenCommand(rest, usage)
      if (command) return onDatabase(command)
      break
    }
    case 'audit':
      if (rest[0] === 'verify') return onDatabase(verifyFrom(rest.slice(1)))
      if (rest[0] === 'erase' && rest.length === 2) return onDatabase(eraseUser(rest[1] ?? ''))
      if (rest[0] === 'drop' && rest.length === 2) return onDatabase(dropFrom(rest[1] ?? ''))
      break
    case 'import':
      return onDatabase(importWith(rest))
    case 'seed':
      return onDatabase(seedWith(rest))
    case undefined:
      throw new UsageError(usage)
    default:
  }
  throw new UsageError(`There is no command '${args.join(' ')}'.\n${usage}`)
}

/** Opens a place of backups. A relative path is relative to the folder from which the command was called. */
function placeOf(given = ''): Place {
  if (given === '' || given.startsWith('-')) throw new UsageError(usage)
  return openPlace(isBucketAddress(given) ? given : resolve(callerDirectory(), given))
}

function createAdmin(given: string): Command {
  const email = emailField.safeParse(given)
  if (!email.success) throw new UsageError(`${given}: ${email.error.issues[0]?.message}`)
  return async (database, { passwordPolicy: policy }) => {
    if (process.stdin.isTTY) process.stderr.write('Password (then Enter and Ctrl-D): ')
    const password = passwordField.safeParse((await text(process.stdin)).replace(/\r?\n$/, ''))
    if (!password.success) throw new UsageError(password.error.issues[0]?.message)
    const sessions = await createSessions(database)
    const outcome = await ensureAdmin(database, sessions, {
      act: actOfProcess('command', 'arcade admin create'),
      email: email.data,
      password: password.data,
      policy,
      unlessAdminExists: false,
    })
    process.stdout.write(
      outcome === 'created' ? `${email.data} is now an admin.\n` : `${email.data} is an admin, with the new password.\n`,
    )
    return 0
  }
}

async function printSetupLink(database: Database, config: Config): Promise<number> {
  const path = await createSetupLink(database, actOfProcess('command', 'arcade setup-link'))
  if (path === undefined)
    throw new UsageError('There is an admin already. To make another one: npm run arcade -- admin create EMAIL')
  process.stderr.write('Good for 30 minutes and once; earlier links are not any more.\n')
  process.stdout.write(`${config.publicOrigin ?? localOrigin(config)}${path}\n`)
  return 0
}

/** Returns the URL of the server for a browser on this machine. A server on all addresses is reachable at the loopback address. */
function localOrigin({ host, port }: Config): string {
  const name = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

function verifyFrom(args: string[]): Command {
  const { head } = readOptions({ args, options: { head: { type: 'string' } } }, usage).values
  const kept = head === undefined ? undefined : readHead(head)
  if (head !== undefined && !kept)
    throw new UsageError(`${head} is no head, which \`audit verify\` prints as NUMBER:HASH at its end.\n${usage}`)
  return verifyTrail(kept)
}

function dropFrom(day: string): Command {
  if (!isDay(day)) throw new UsageError(`${day} is no day such as 2026-01-31.\n${usage}`)
  return dropBefore(day)
}

function importWith(args: string[]): Command {
  const options = { 'dry-run': { type: 'boolean' } } as const
  const { values, positionals } = readOptions({ args, options, allowPositionals: true }, usage)
  const [given = '', ...more] = positionals
  if (given === '' || more.length > 0) throw new UsageError(`An import needs one directory.\n${usage}`)
  const directory = resolve(callerDirectory(), given)
  const isDryRun = values['dry-run'] ?? npmTookDryRun()
  return async (database) => {
    const act = actOfProcess('command', 'arcade import')
    const record = { kind: 'installation', id: 'import', name: basename(directory) } as const
    // A dry run changes nothing, so it writes no audit entry either.
    const note = async (detail: Record<string, unknown>): Promise<void> => {
      if (!isDryRun) await audit(database.db, act, 'data.import', { record, detail })
    }
    await note({ state: 'begun' })
    const report = await importDirectory({ database, directory, isDryRun, log: (line) => process.stdout.write(`${line}\n`) })
    const files = report.files.map(({ file, read, loaded, rejected }) => ({ file, read, loaded, rejected }))
    await note({ state: 'done', files })
    return report.files.some((file) => file.rejected > 0) ? 2 : 0
  }
}

function distributeWith([option, given = option === undefined ? String(SHARDS) : '', ...more]: string[]): Command {
  const shards = /^\d{1,4}$/.test(given) ? Number(given) : 0
  if ((option !== undefined && option !== '--shards') || more.length > 0 || shards < 1 || shards > MAX_SHARDS)
    throw new UsageError(usage)
  return (database) => distribute(database, shards)
}

function seedWith(args: string[]): Command {
  const options = { 'telegram-users': { type: 'string' }, participants: { type: 'string' } } as const
  const { values } = readOptions({ args, options }, usage)
  if (Object.keys(values).length === 0) throw new UsageError(`How many rows are to be made?\n${usage}`)
  const telegramUsers = amount(values['telegram-users'])
  const participations = amount(values.participants)
  return async (database) => {
    await audit(database.db, actOfProcess('command', 'arcade seed'), 'data.seed', { detail: { telegramUsers, participations } })
    await seed({ database, telegramUsers, participations, log: (line) => process.stdout.write(`${line}\n`) })
    return 0
  }
}

function amount(given = '0'): number {
  if (!/^\d{1,9}$/.test(given)) throw new UsageError(`${given} is not a number of rows.\n${usage}`)
  return Number(given)
}
