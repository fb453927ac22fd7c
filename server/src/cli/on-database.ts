/** Opens the database for a command, and closes it when the command ends or a signal interrupts it. */
import { constants } from 'node:os'
import { type Database, openDatabase } from '#src/db/database.ts'
import { makeDataDir } from '#src/postgres/data-dir.ts'
import { StartError } from '#src/postgres/errors.ts'
import type { CommandContext, RunCommand } from './command-line.ts'

export interface DatabaseContext extends CommandContext {
  database: Database
}

export type RunOnDatabase = (context: DatabaseContext) => Promise<number | void>

/** Set once a signal has interrupted the command. It never resolves: the process exits when its database is closed. */
export let interruption: Promise<never> | undefined

/** @param needsFreeSpace whether the command is refused on a disk that is nearly full */
export function onDatabase(run: RunOnDatabase, { needsFreeSpace = true } = {}): RunCommand {
  return async (context) => {
    const { config, log } = context
    await makeDataDir(config.dataDir)
    const { dataDir, databaseUrl: url } = config
    const database = await openDatabase({ dataDir, url, log, use: 'command', isLowPriority: true })
    const onSignal = (signal: 'SIGINT' | 'SIGTERM'): void => {
      interruption ??= interrupt(database, signal, context)
    }
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
    try {
      if (needsFreeSpace && database.isSpaceLow())
        throw new StartError('The disk is nearly full, so nothing was done: free some space first.')
      return await run({ ...context, database })
    } finally {
      await database.close()
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
    }
  }
}

/** Ends a command on a signal, and the PostgreSQL it may have started. Each step of a command is either complete or rolled back. */
async function interrupt(database: Database, signal: 'SIGINT' | 'SIGTERM', { note }: CommandContext): Promise<never> {
  note('Broken off. What was done up to here is whole; the same command goes on from there, or begins anew.')
  await database.close().catch(() => {}) // the command ends in any case
  process.exit(128 + constants.signals[signal])
}
