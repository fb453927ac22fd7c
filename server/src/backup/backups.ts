/**
 * The backups that servers make: on the schedule and when an admin asks. One of the servers of a database makes or verifies one backup at a
 * time. Hides which server does so, the remains of servers that ended meanwhile, and which backups are removed for newer ones.
 */
import { join } from 'node:path'
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Logger } from 'pino'
import type { BackupState } from '@arcade/contract/backups/calls'
import { type Act, actOfProcess, audit } from '#src/audit/audit.ts'
import { Failure } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { databaseNow } from '#src/db/moments.ts'
import type { Tables } from '#src/db/tables.ts'
import type { FileStore } from '#src/files/disk.ts'
import { StartError } from '#src/postgres/errors.ts'
import { makeBackup, removeBackup, removeRemains } from './backup.ts'
import { openBelow, openPlace, type Place } from './place.ts'
import { verifyBackup } from './restore.ts'
import {
  backupRecord,
  beginRun,
  beginVerifying,
  CUT_OFF,
  isUnderWay,
  markCutOff,
  recordMaking,
  recordVerifying,
  runsToRemove,
} from './runs.ts'
import { isDue } from './schedule.ts'
import { type BackupSettings, backupState, placeOf, scheduleOf } from './state.ts'
import { isRestoring, removeScratch } from './target.ts'
import { takeTurn, tryTakeTurn, type Turn, TurnTakenError } from './turn.ts'

export interface BackupsOptions {
  database: Database
  fileStore: FileStore
  settings: BackupSettings
  dataDir: string
  log: Logger
}

export interface Backups {
  state(): Promise<BackupState>
  /** Begins a backup and returns its id. @throws Failure BACKUP_UNDER_WAY */
  start(act: Act, userId: string): Promise<string>
  /** Begins to verify a backup. @throws Failure BACKUP_UNDER_WAY, NO_SUCH_BACKUP, NOT_VERIFIABLE */
  verify(act: Act, id: string): Promise<void>
  /**
   * Stops making or verifying a backup, on the server that does it, as soon as the part that is being written is done.
   * @throws Failure NO_SUCH_BACKUP, NOT_UNDER_WAY
   */
  cancel(act: Act, id: string): Promise<void>
  /** Makes a backup if one is due and clears up after servers that have ended. A background task calls this. */
  runDue(): Promise<void>
  /** Ends what this server is making or verifying, and clears up. */
  stop(): Promise<void>
}

/** Milliseconds that a server waits for the turn: an admin waits for the answer, and the schedule tries again. */
const WAIT_MS = 200
/** Milliseconds to wait for the turn of a backup that is recorded as done, while it removes older backups. */
const ENDING_WAIT_MS = 20_000

/**
 * Returns the folder of the temporary database with which a backup is verified. Servers and commands have one each, because a command may
 * verify a backup while a server does.
 */
export function scratchDirOf(dataDir: string, by: 'server' | 'command'): string {
  return join(dataDir, by === 'server' ? 'backup-trial' : 'backup-trial-of-command')
}

export function createBackups(options: BackupsOptions): Backups {
  return new ServerBackups(options)
}

class ServerBackups implements Backups {
  readonly #options: BackupsOptions
  readonly #database: Database
  readonly #settings: BackupSettings
  readonly #log: Logger
  readonly #stopping = new AbortController()
  /** What this server is making or verifying. */
  #work: Promise<void> | undefined
  #isRunningDue = false
  #trialsCleared: Promise<void> | undefined

  constructor(options: BackupsOptions) {
    this.#options = options
    this.#database = options.database
    this.#settings = options.settings
    this.#log = options.log
  }

  async state(): Promise<BackupState> {
    const state = await backupState(this.#database, this.#settings)
    if (!state.backups.some(({ underWay }) => underWay !== null)) return state
    // A server that was killed could not record that its backup has ended.
    const unfinished = await this.#markIfIdle().catch(() => undefined) // a full disk
    if (unfinished === undefined) return state
    void this.#removeAllRemains(unfinished)
    return backupState(this.#database, this.#settings)
  }

  async start(act: Act, userId: string): Promise<string> {
    const turn = await this.#takeTurn()
    return this.#beginWork(turn, async (tx) => {
      const place = await this.#newPlace(tx)
      const id = await beginRun(tx, { place, by: { userId } })
      await audit(tx, act, 'backup.start', { record: backupRecord(place.address) })
      return { answer: id, work: () => this.#make({ id, act, place, isScheduled: false, signal: this.#signalOf(turn) }) }
    })
  }

  async verify(act: Act, id: string): Promise<void> {
    const turn = await this.#takeTurn()
    await this.#beginWork(turn, async (tx) => {
      const row = await tx
        .selectFrom('backups')
        .select(['place', 'finished_at', 'removed_at'])
        .where('id', '=', id)
        .forUpdate()
        .executeTakeFirst()
      if (!row) throw new Failure('NO_SUCH_BACKUP')
      const place = row.finished_at === null || row.removed_at !== null ? undefined : placeOf(row.place, this.#settings)
      if (place === undefined) throw new Failure('NOT_VERIFIABLE')
      await beginVerifying(tx, id)
      await audit(tx, act, 'backup.verify', { record: backupRecord(row.place) })
      return { answer: undefined, work: () => this.#verify({ id, place, isPartOfRun: false, signal: this.#signalOf(turn) }) }
    })
  }

  async cancel(act: Act, id: string): Promise<void> {
    await this.#database.transaction(async (tx) => {
      const row = await tx
        .selectFrom('backups')
        .select(['place', 'step', 'cancelled_at'])
        .where('id', '=', id)
        .forUpdate()
        .executeTakeFirst()
      if (!row) throw new Failure('NO_SUCH_BACKUP')
      if (row.step === null) throw new Failure('NOT_UNDER_WAY')
      if (row.cancelled_at !== null) return // it is ending already
      await tx
        .updateTable('backups')
        .set({ cancelled_at: sql<Date>`now()` })
        .where('id', '=', id)
        .execute()
      await audit(tx, act, 'backup.cancel', { record: backupRecord(row.place) })
    })
  }

  async runDue(): Promise<void> {
    if (this.#isRunningDue || this.#work || this.#stopping.signal.aborted) return
    this.#isRunningDue = true
    try {
      await this.#clearTrialsOnce()
      const schedule = scheduleOf(this.#settings)
      if (schedule && !this.#database.isSpaceLow() && (await isDue(this.#database, schedule))) await this.#backUpInTurn()
      else await this.#clearUpIfIdle()
    } finally {
      this.#isRunningDue = false
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new StartError(CUT_OFF))
    await this.#work?.catch(() => undefined)
  }

  #signalOf(turn: Turn): AbortSignal {
    return AbortSignal.any([turn.signal, this.#stopping.signal])
  }

  /** @throws Failure BACKUP_UNDER_WAY */
  async #takeTurn(): Promise<Turn> {
    const waitMs = (await isUnderWay(this.#database)) ? WAIT_MS : ENDING_WAIT_MS
    try {
      return await takeTurn(this.#database, { waitMs })
    } catch (error) {
      throw error instanceof TurnTakenError ? new Failure('BACKUP_UNDER_WAY', { cause: error }) : error
    }
  }

  /** Runs `begin` in a transaction, and the work that it returns afterwards, in the background. Then ends the turn. */
  async #beginWork<Answer>(
    turn: Turn,
    begin: (tx: Transaction<Tables>) => Promise<{ answer: Answer; work: () => Promise<void> }>,
  ): Promise<Answer> {
    try {
      await this.#clearUp()
      const { answer, work } = await this.#database.transaction(begin)
      this.#follow(turn, work).catch((error: unknown) => this.#log.warn({ err: error }, 'A backup failed, or was not verified'))
      return answer
    } catch (error) {
      await turn.end()
      throw error
    }
  }

  async #follow(turn: Turn, work: () => Promise<void>): Promise<void> {
    const run = async (): Promise<void> => {
      try {
        await work()
      } finally {
        await turn.end()
      }
    }
    const following = run()
    this.#work = following
    try {
      await following
    } finally {
      if (this.#work === following) this.#work = undefined // the next work may have begun
    }
  }

  async #make({ id, act, place, isScheduled, signal }: Making): Promise<void> {
    const { fileStore } = this.#options
    try {
      const run = { id, act, place, database: this.#database, isVerifiedNext: isScheduled, signal }
      await recordMaking(run, (watch) => makeBackup({ database: this.#database, fileStore, place, watch }))
    } catch (error) {
      await this.#removeRemains(place)
      throw error
    }
    if (isScheduled) await this.#verify({ id, place, isPartOfRun: true, signal })
    await this.#removeOld(isScheduled)
  }

  async #verify({ id, place, isPartOfRun, signal }: Verifying): Promise<void> {
    const { dataDir, log } = this.#options
    await this.#clearTrialsOnce()
    const run = { id, database: this.#database, isPartOfRun, signal }
    await recordVerifying(run, (watch) => verifyBackup(place, { scratchDir: scratchDirOf(dataDir, 'server'), log, watch }))
  }

  /** Makes the scheduled backup, unless another server has made it between the check and the turn. */
  async #backUpInTurn(): Promise<void> {
    const turn = await takeTurn(this.#database, { waitMs: WAIT_MS }).catch((error: unknown) => {
      if (!(error instanceof TurnTakenError)) throw error
    })
    if (!turn) return
    await this.#follow(turn, async () => {
      const schedule = scheduleOf(this.#settings)
      if (!schedule || !(await isDue(this.#database, schedule))) return
      await this.#clearUp()
      const place = await this.#newPlace(this.#database.db)
      const id = await beginRun(this.#database.db, { place, by: 'schedule' })
      const act = actOfProcess('system', 'BACKUP_SCHEDULE')
      await this.#make({ id, act, place, isScheduled: true, signal: this.#signalOf(turn) })
    })
  }

  /** Returns the place of a new backup, named by the time, such as 2026-11-22T03-00-00Z. */
  async #newPlace(db: Kysely<Tables>): Promise<Place> {
    const now = (await databaseNow(db)).toISOString()
    const name = now.replace(/\.\d+Z$/, 'Z').replaceAll(':', '-')
    const place = openPlace(this.#settings.address).below(name)
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from backups where starts_with(place, ${place.address})`.execute(db)
    return rows[0]!.count === 0 ? place : openPlace(this.#settings.address).below(`${name}-${rows[0]!.count + 1}`)
  }

  async #removeOld(isScheduled: boolean): Promise<void> {
    const { address, keep } = this.#settings
    for (const { id, place } of await runsToRemove(this.#database, { isScheduled, keep, within: openPlace(address) })) {
      await removeBackup(place)
      await this.#database.db
        .updateTable('backups')
        .set({ removed_at: sql<Date>`now()` })
        .where('id', '=', id)
        .execute()
    }
  }

  /** Stops and removes temporary databases that a server or command left running when it ended; otherwise they would go on running. */
  #clearTrialsOnce(): Promise<void> {
    const clear = async (): Promise<void> => {
      for (const by of ['server', 'command'] as const) {
        const scratchDir = scratchDirOf(this.#options.dataDir, by)
        if (!(await isRestoring(scratchDir))) await removeScratch(scratchDir, this.#log)
      }
    }
    this.#trialsCleared ??= clear().catch((error: unknown) =>
      this.#log.warn({ err: error }, 'The database of an earlier verification could not be removed'),
    )
    return this.#trialsCleared
  }

  async #clearUpIfIdle(): Promise<void> {
    if (await isUnderWay(this.#database)) await this.#removeAllRemains((await this.#markIfIdle()) ?? [])
  }

  /** Marks what servers left behind when they ended, unless somebody has the turn; then it returns undefined. */
  #markIfIdle(): Promise<{ place: string }[] | undefined> {
    return this.#database.transaction(async (tx) => ((await tryTakeTurn(tx)) ? markCutOff(tx) : undefined))
  }

  /** Marks and removes what servers left behind when they ended. This server has the turn. */
  async #clearUp(): Promise<void> {
    await this.#removeAllRemains(await markCutOff(this.#database.db))
  }

  async #removeAllRemains(unfinished: { place: string }[]): Promise<void> {
    const within = openPlace(this.#settings.address)
    for (const { place } of unfinished) {
      const remains = openBelow(within, place)
      if (remains) await this.#removeRemains(remains)
    }
  }

  /** If this fails, `#removeOld` tries again once newer backups replace this one. */
  async #removeRemains(place: Place): Promise<void> {
    await removeRemains(place).catch((error: unknown) =>
      this.#log.warn({ err: error, place: place.address }, 'The remains of a backup could not be removed'),
    )
  }
}

interface Making {
  id: string
  act: Act
  place: Place
  isScheduled: boolean
  signal: AbortSignal
}

interface Verifying {
  id: string
  place: Place
  /** Whether it belongs to a scheduled backup. */
  isPartOfRun: boolean
  signal: AbortSignal
}
