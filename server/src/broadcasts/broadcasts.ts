/**
 * Sends broadcasts from any number of servers. Hides planning, chunks and their leases, the common pace, and what is done when Telegram asks
 * to wait, cannot be reached or refuses every message. `run` is called once a second and does what is due.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import { audit } from '#src/audit/audit.ts'
import type { Database } from '#src/db/database.ts'
import { databaseNow } from '#src/db/moments.ts'
import { findPause } from '#src/db/scheduled-work.ts'
import { bytesOf } from '#src/files/disk.ts'
import { type Files, findMediaType } from '#src/files/files.ts'
import {
  countFreeChunks,
  LEASE_SECONDS,
  type LeasedChunk,
  leaseChunk,
  prepareChunk,
  releaseChunk,
  renewLeases,
} from './chunks.ts'
import { createDelivery, type Deliver, type Delivery } from './delivery.ts'
import { areAllFinished, finishEnded } from './ending.ts'
import { type Announced, type Content, contentOf, type Photo, toCall } from './message.ts'
import { createPace, endWait, findWaiting, makeAllWait, type Pace } from './pace.ts'
import { beginDue, planBatch } from './planning.ts'
import { type QuietHours, quietUntil } from './quiet-hours.ts'
import { actOfServer, broadcastRecord } from './record.ts'
import { createTelegram, type Telegram, type TelegramAnswer } from './telegram.ts'

/** Seconds of sending that are under way at once: Telegram answers within a third of a second, so the pace is kept. */
const SECONDS_UNDER_WAY = 0.3
const MAX_WORKERS = 32
const MIN_WORKERS = 2
/** A worker waits this long until it may send; for a longer wait it gives its chunk back. */
const SHORT_WAIT_MS = 2000
/** Seconds until Telegram is tried again after there was no connection. */
const UNREACHABLE_SECONDS = 10
/** Seconds until sending is tried again after the disk was nearly full. Once there is room, it goes on at once. */
const DISK_FULL_SECONDS = 10
/** Failed messages in a row after which a broadcast is paused: the fault is then hardly the recipients'. */
const FAILURES_IN_A_ROW = 20
/** Failures of Telegram's own in a row after which everybody waits. */
const BUSY_IN_A_ROW = 3
/** Lost answers in a row after which everybody waits. */
const LOST_IN_A_ROW = 3
/** After this many such waits the broadcast is paused: each one costs recipients an outcome or a turn. */
const MAX_WAITING_ROUNDS = 5
const RENEW_EVERY_MS = (LEASE_SECONDS * 1000) / 3

export interface TelegramSettings {
  botToken: string | undefined
  apiRoot: string
  ratePerSecond: number
  messagesAWeek: number | undefined
  quietHours: QuietHours | undefined
  miniAppUrl: string | undefined
  /** How long a call may take; tests set a shorter time. */
  timeoutMs?: number
  /** The pauses before a message is sent again that Telegram could not send; tests set shorter ones. */
  busyPausesMs?: readonly number[]
}

export interface BroadcastsOptions {
  database: Database
  files: Pick<Files, 'open'>
  settings: TelegramSettings
  log: Logger
}

export interface Broadcasts {
  /** Whether there is a bot to send with. */
  readonly isOn: boolean
  /** Begins, plans and finishes what is due, and starts workers. Resolves before they end. */
  run(): Promise<void>
  /** Sends the message of an announcement to one chat, at once. */
  sendTest(announcement: Announced, chatId: number): Promise<TelegramAnswer>
  /** Resolves when no message is under way on this server; no other one begins. */
  stop(): Promise<void>
}

export function createBroadcasts(options: BroadcastsOptions): Broadcasts {
  return new BroadcastSender(options)
}

class BroadcastSender implements Broadcasts {
  readonly #database: Database
  readonly #files: Pick<Files, 'open'>
  readonly #settings: TelegramSettings
  readonly #log: Logger
  readonly #telegram: Telegram | undefined
  readonly #pace: Pace
  readonly #deliver: Deliver | undefined
  readonly #mostWorkers: number
  /** The workers of this server, by the name under which they lease chunks. */
  readonly #workers = new Map<string, Promise<void>>()
  /** Failed messages since the last one that did not fail, by the number of the broadcast. */
  readonly #failures = new Map<number, number>()
  /** The last image, which workers share. */
  #photo: { key: string; file: Promise<Photo['file']> } | undefined
  #isRunning = false
  #planning: Promise<void> | undefined
  #renewal: NodeJS.Timeout | undefined
  #isStopping = false

  constructor({ database, files, settings, log }: BroadcastsOptions) {
    const { apiRoot, botToken, ratePerSecond, timeoutMs } = settings
    this.#database = database
    this.#files = files
    this.#settings = settings
    this.#log = log
    this.#telegram = botToken === undefined ? undefined : createTelegram({ apiRoot, botToken, timeoutMs })
    this.#pace = createPace(database, ratePerSecond)
    this.#deliver = this.#telegram && createDelivery(database, this.#telegram, { ...settings, log })
    this.#mostWorkers = Math.min(MAX_WORKERS, Math.max(MIN_WORKERS, Math.ceil(ratePerSecond * SECONDS_UNDER_WAY)))
  }

  get isOn(): boolean {
    return this.#telegram !== undefined
  }

  async run(): Promise<void> {
    if (this.#isRunning || this.#isStopping || !this.isOn) return
    this.#isRunning = true
    try {
      if ((await areAllFinished(this.#database)) || (await findPause(this.#database.db))) return
      while (!this.#database.isSpaceLow() && (await beginDue(this.#database, this.#settings.miniAppUrl)));
      this.#planning ??= this.#plan().finally(() => (this.#planning = undefined))
      await finishEnded(this.#database)
      if (!(await this.#isWaiting())) await this.#startWorkers()
    } finally {
      this.#isRunning = false
    }
  }

  async sendTest(announcement: Announced, chatId: number): Promise<TelegramAnswer> {
    if (!this.#telegram) return { kind: 'failed', text: 'There is no bot' }
    const content = contentOf(announcement, this.#settings.miniAppUrl)
    const file = content.photo === null ? undefined : await this.#openPhoto(content.photo)
    if (content.photo !== null && !file) return { kind: 'failed', text: NO_IMAGE }
    return this.#telegram.send(toCall(content, { chatId, photo: file && { file }, isPaid: false }))
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#planning
    await Promise.all(this.#workers.values())
  }

  /** Plans all broadcasts. One whose recipients cannot be chosen now does not hold up the others. */
  async #plan(): Promise<void> {
    const failed = new Set<number>()
    while (!this.#isStopping && !this.#database.isSpaceLow()) {
      const { outcome, broadcast, error } = await planBatch(this.#database, failed)
      if (outcome === 'none') return
      if (outcome === 'planned') continue
      this.#log.warn({ err: error, broadcast }, 'Recipients of a broadcast could not be chosen; this will be tried again')
      if (broadcast === undefined) return
      failed.add(broadcast)
    }
  }

  /** Whether all servers wait. Makes them wait during quiet hours, and while the disk is nearly full: each message writes. */
  async #isWaiting(): Promise<boolean> {
    const { db } = this.#database
    const { quietHours } = this.#settings
    const waiting = await findWaiting(db)
    const now = await databaseNow(db)
    if (this.#database.isSpaceLow()) {
      const isEnding = !waiting || waiting.until.getTime() < now.getTime() + (DISK_FULL_SECONDS * 1000) / 2
      if (isEnding && !this.#database.isSpaceNearlyGone()) await makeAllWait(db, DISK_FULL_SECONDS, 'diskFull')
      return true
    }
    const until = quietHours && quietUntil(now, quietHours)
    if (until) {
      if (!waiting || waiting.until.getTime() < until.getTime() - 1000)
        await makeAllWait(db, (until.getTime() - now.getTime()) / 1000, 'quietHours')
      return true
    }
    if (waiting?.reason === 'quietHours' || waiting?.reason === 'diskFull') {
      await endWait(db, waiting.reason)
      return false
    }
    return waiting !== undefined
  }

  async #startWorkers(): Promise<void> {
    const free = this.#mostWorkers - this.#workers.size
    if (free <= 0) return
    const count = await countFreeChunks(this.#database, free)
    for (let worker = 0; worker < count; worker += 1) this.#startWorker(randomUUID())
  }

  #startWorker(name: string): void {
    const work = this.#work(name)
      .catch((error: unknown) => this.#log.warn({ err: error }, 'Sending a broadcast was interrupted and will be continued'))
      .finally(() => {
        this.#workers.delete(name)
        if (this.#workers.size > 0) return
        clearInterval(this.#renewal)
        this.#renewal = undefined
      })
    this.#workers.set(name, work)
    this.#renewal ??= setInterval(() => {
      renewLeases(this.#database, [...this.#workers.keys()]).catch((error: unknown) =>
        this.#log.warn({ err: error }, 'Leases of a broadcast could not be renewed'),
      )
    }, RENEW_EVERY_MS).unref()
  }

  /** Sends chunk after chunk until there is no other, or until sending has to stop. */
  async #work(name: string): Promise<void> {
    for (;;) {
      const chunk = this.#isStopping ? undefined : await leaseChunk(this.#database, name)
      if (!chunk) return
      let goesOn = false
      try {
        goesOn = await this.#sendChunk(chunk)
      } finally {
        await releaseChunk(this.#database, chunk)
      }
      if (!goesOn) return
    }
  }

  /** @returns whether the worker may take another chunk */
  async #sendChunk(chunk: LeasedChunk): Promise<boolean> {
    const content = JSON.parse(chunk.content) as Content
    const players = await prepareChunk(this.#database, chunk, this.#settings.messagesAWeek)
    for (const userId of players) {
      const photo = content.photo === null ? undefined : await this.#photoOf(chunk, content.photo)
      if (content.photo !== null && !photo) {
        await this.#pauseBroadcast(chunk, NO_IMAGE)
        return false
      }
      if (!(await this.#awaitSlot(chunk))) return false
      const { broadcast, isPaid } = chunk
      const delivery = await this.#deliver!({ userId, broadcast }, toCall(content, { chatId: userId, photo, isPaid }))
      if (!(await this.#handleDelivery(chunk, delivery))) return false
    }
    return true
  }

  /** Waits until the worker may send. Returns false if it has to stop instead. */
  async #awaitSlot(chunk: LeasedChunk): Promise<boolean> {
    for (;;) {
      if (this.#isStopping) return false
      const slot = await this.#pace.take(chunk)
      if (slot.kind === 'stop') return false
      if (slot.kind === 'go') {
        if (slot.afterMs > 0) await pause(slot.afterMs)
        return true
      }
      if (slot.ms > SHORT_WAIT_MS) return false
      await pause(slot.ms)
    }
  }

  /** Pauses or delays sending if the answer requires it. Returns whether sending continues. */
  async #handleDelivery(chunk: LeasedChunk, delivery: Delivery): Promise<boolean> {
    const { db } = this.#database
    switch (delivery.kind) {
      case 'wait':
        await makeAllWait(db, delivery.seconds, 'telegram')
        return false
      case 'unreachable':
        this.#log.warn({ reason: delivery.text }, 'Telegram cannot be reached: broadcasts wait')
        await makeAllWait(db, UNREACHABLE_SECONDS, 'unreachable')
        return false
      case 'denied':
        await this.#pauseBroadcast(chunk, `Telegram does not accept the bot’s token: ${delivery.text}`)
        return false
      case 'failed':
        if (this.#countFailure(chunk) < FAILURES_IN_A_ROW) return true
        await this.#pauseBroadcast(chunk, `${FAILURES_IN_A_ROW} messages in a row failed. Telegram answered: ${delivery.text}`)
        return false
      case 'busy':
        return this.#waitLonger(
          chunk,
          BUSY_IN_A_ROW,
          (count) => `Telegram could not send ${count} messages in a row: ${delivery.text}`,
        )
      case 'unknown':
        return this.#waitLonger(
          chunk,
          LOST_IN_A_ROW,
          (count) =>
            `${count} answers in a row were lost: ${delivery.text}. Nobody knows whether these players have the message.`,
        )
      case 'sent':
        if (delivery.photoId !== undefined && chunk.photoId === null) await this.#keepPhoto(chunk, delivery.photoId)
        this.#failures.delete(chunk.broadcast)
        return true
      case 'refused':
        this.#failures.delete(chunk.broadcast)
        return true
      default:
        return true
    }
  }

  /**
   * Makes pauses that grow longer the more messages in a row have failed, because each costs a recipient an outcome or a turn. At last the
   * broadcast is paused. Returns whether sending continues.
   */
  async #waitLonger(chunk: LeasedChunk, after: number, problem: (failures: number) => string): Promise<boolean> {
    const failures = this.#countFailure(chunk)
    if (failures < after) return true
    // Messages of all workers may fail at once, when a connection breaks.
    const rounds = Math.ceil(failures / this.#mostWorkers)
    if (rounds > MAX_WAITING_ROUNDS) await this.#pauseBroadcast(chunk, problem(failures))
    else await makeAllWait(this.#database.db, UNREACHABLE_SECONDS * rounds, 'unreachable')
    return false
  }

  /** Returns how many messages in a row have failed. */
  #countFailure({ broadcast }: LeasedChunk): number {
    const failures = (this.#failures.get(broadcast) ?? 0) + 1
    this.#failures.set(broadcast, failures)
    return failures
  }

  async #pauseBroadcast({ id, broadcast }: LeasedChunk, problem: string): Promise<void> {
    this.#failures.delete(broadcast)
    await this.#database.transaction(async (tx) => {
      const { rows } = await sql<{ title: string }>`
        update broadcasts set is_paused = true, problem = ${problem} where id = ${id} and not is_paused and state = 'sending'
        returning title`.execute(tx)
      if (!rows[0]) return
      const record = broadcastRecord({ id, title: rows[0].title })
      await audit(tx, actOfServer(), 'broadcast.pause', { record, detail: { problem } })
    })
  }

  /** After the first message Telegram has the image: the others name it. */
  async #keepPhoto(chunk: LeasedChunk, photoId: string): Promise<void> {
    chunk.photoId = photoId
    await sql`update broadcasts set photo_id = ${photoId} where number = ${chunk.broadcast} and photo_id is null`.execute(
      this.#database.db,
    )
  }

  /** Returns undefined if the image is gone. @throws Error if it cannot be read; the broadcast is paused if that happens again and again */
  async #photoOf(chunk: LeasedChunk, key: string): Promise<Photo | undefined> {
    if (chunk.photoId !== null) return { id: chunk.photoId }
    if (this.#photo?.key !== key) this.#photo = { key, file: this.#openPhoto(key) }
    const asked = this.#photo
    const file = await asked.file.catch(async (error: unknown) => {
      this.#forgetPhoto(asked)
      if (this.#countFailure(chunk) >= FAILURES_IN_A_ROW) {
        const reason = error instanceof Error ? error.message : String(error)
        await this.#pauseBroadcast(chunk, `The image of the announcement cannot be read: ${reason}`)
      }
      throw error
    })
    if (!file) this.#forgetPhoto(asked)
    return file && { file }
  }

  /** Makes the next message look for the image again: the store may have answered with an error, or the image may have been put back. */
  #forgetPhoto(asked: object): void {
    if (this.#photo === asked) this.#photo = undefined
  }

  async #openPhoto(key: string): Promise<Photo['file']> {
    const opened = await this.#files.open(key)
    if (!opened) return undefined
    return { bytes: await bytesOf(opened), mediaType: findMediaType(key), name: key.slice(key.lastIndexOf('/') + 1) }
  }
}

const NO_IMAGE = 'The image of the announcement is not there any more.'
