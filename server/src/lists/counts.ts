/**
 * Counts the rows of a long list that a filter matches. What is counted quickly is exact; what is not is estimated from a sample of the
 * table's pages, unless the caller waits for the exact number (ADR 29).
 */
import { type RawBuilder, sql } from 'kysely'
import type { List } from '@arcade/contract/entity'
import type { Count } from '@arcade/contract/field-schemas'
import { Failure, untilClientLeaves } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { columnName, sampleSql, sourceSql } from '#src/db/entities.ts'
import type { Snapshot } from '#src/db/snapshot.ts'
import { isTimeout } from '#src/postgres/errors.ts'
import { poissonUpperLimit, provesMore } from './counted-sample.ts'
import { MAX_HITS, type ServedList } from './list.ts'
import { BITMAP_SETTINGS } from './page-queries.ts'
import type { Where } from './where.ts'

/** The statement timeout of a count, and of each of its steps. */
const COUNT_TIMEOUT_MS = 30_000
/** Rows of the first, smaller sample, which suffices for most filters to tell whether they match too many rows to be counted. */
const FIRST_SAMPLE_ROWS = 2_000
const SAMPLE_ROWS = 20_000
/** Pages of a sample with a match from which the number of matches is estimated, with an error of about a third. */
const ESTIMATED_FROM_PAGES = 10

export interface CountLimits {
  /** How long matches are counted. After that, their number is estimated. 0 skips the counting. */
  countMs: number
  /** How long the larger sample is searched. After that, the smaller sample is used. 0 skips the larger one. */
  sampleMs: number
}

/** Together with the smaller sample, less than the 300 ms within which an operator who edits a filter sees a number (design §9). */
const LIMITS: CountLimits = { countMs: 100, sampleMs: 110 }

interface Counting {
  /** The number of all rows of the list. */
  all: number
  /** Whether to count for as long as it takes. */
  isExact: boolean
  /** Aborted when no client waits for the answer any more. */
  signal: AbortSignal
}

export class MatchCounts<L extends List> {
  readonly #database: Database
  readonly #served: ServedList<L>
  readonly #limits: CountLimits

  constructor(database: Database, served: ServedList<L>, limits = LIMITS) {
    this.#database = database
    this.#served = served
    this.#limits = limits
  }

  /** @throws Failure UNAVAILABLE if it takes too long */
  async count(where: Where, counting: Counting): Promise<Count> {
    try {
      const countIn = async (snapshot: Snapshot): Promise<Count> => {
        await snapshot.query(`set work_mem = '${BITMAP_SETTINGS.work_mem}'; set statement_timeout = ${COUNT_TIMEOUT_MS}`)
        const ask = askIn(snapshot, this.#database, counting.signal)
        return this.#countInSnapshot(where, counting, { ask, withTimeLimit: timeLimitOf(snapshot) })
      }
      return await this.#database.reads.snapshot(countIn, async (counted) => counted, { isAwaited: true })
    } catch (error) {
      throw isTimeout(error) ? tooSlow(error) : error
    }
  }

  async #countInSnapshot(where: Where, { all, isExact }: Counting, { ask, withTimeLimit }: Steps): Promise<Count> {
    // Searches are counted by their indexes. A table that is no larger than the sample is counted, because the sample would read all of it.
    const mayEstimate = !isExact && !where.hasSearch && all > SAMPLE_ROWS
    const sampleOf = (size: number): Promise<Sample> => this.#takeSample(where, { size, all }, ask)
    const first = await sampleOf(FIRST_SAMPLE_ROWS)
    const larger = once(async () => {
      const sampled = () => sampleOf(SAMPLE_ROWS)
      return (mayEstimate ? await withTimeLimit(this.#limits.sampleMs, sampled) : await sampled()) ?? first
    })
    const sample = !isSurelyMore(first, all) && mayProveMore(first, all) ? await larger() : first
    if (isSurelyMore(sample, all)) return manyMore(sample, all)
    if (!mayEstimate) return toCount(await this.#countHits(where, ask), sample, all)
    const hits = await withTimeLimit(this.#limits.countMs, () => this.#countHits(where, ask))
    if (hits !== undefined) return toCount(hits, sample, all)
    const largerSample = await larger()
    return isSurelyMore(largerSample, all) ? manyMore(largerSample, all) : estimate(largerSample, all)
  }

  /** Counts by pages first, so that each row is checked once. */
  #takeSample({ sql: { matches } }: Where, { size, all }: { size: number; all: number }, ask: Ask): Promise<Sample> {
    const sample = sql.raw(`(${sampleSql(this.#served.entity, size, all)}) as sample`)
    return ask<Sample>(sql`
      select coalesce(sum(sampled), 0) as rows, count(*) as pages, coalesce(sum(matching), 0) as matches,
             count(*) filter (where matching > 0) as hits
        from (select count(*) as sampled, count(*) filter (where ${matches}) as matching from ${sample} group by sampled_page) as pages`)
  }

  /** Counts the matching rows up to MAX_HITS + 1. */
  async #countHits({ sql: { conditions, estimatedConditions, joinedTable } }: Where, ask: Ask): Promise<number> {
    const { entity } = this.#served
    const most = sql.lit(MAX_HITS + 1)
    // Each row has exactly one row in the joined table: a condition on that table alone is counted there, without the join.
    const from = sql.raw(joinedTable ?? sourceSql(entity))
    const id = sql.ref(columnName(entity, entity.id))
    const found = (conditions ?? estimatedConditions).map(
      (condition) => sql`(select ${id} from ${from} where ${condition} limit ${most})`,
    )
    const { total } = await ask<{ total: number }>(
      sql`select count(*) as total from (select * from (${sql.join(found, sql` union all `)}) as hits limit ${most}) as counted`,
    )
    return total
  }
}

/** Returns a function that asks for a value once. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined
  return () => (asked ??= ask())
}

/** What is found in a sample of the table's pages. */
interface Sample {
  rows: number
  pages: number
  /** The number of sampled rows that match. */
  matches: number
  /** The number of sampled pages with a matching row. */
  hits: number
}

/** Whether a sample proves that far more rows match than are counted. */
function isSurelyMore({ rows, pages, hits }: Sample, all: number): boolean {
  return provesMore({ pages, hits, allPages: (all * pages) / rows, max: MAX_HITS })
}

/** Whether the larger sample may prove it, going by the smaller one. */
function mayProveMore({ rows, pages, hits }: Sample, all: number): boolean {
  const times = SAMPLE_ROWS / FIRST_SAMPLE_ROWS
  const larger = { pages: pages * times, hits: (hits + 2 * Math.sqrt(hits)) * times }
  return provesMore({ ...larger, allPages: (all * pages) / rows, max: MAX_HITS })
}

/** Returns the estimated number of matches, in two digits, because the sample shows no more. */
function aboutOf({ matches, rows }: Pick<Sample, 'matches' | 'rows'>, all: number): number {
  return inTwoDigits((matches / Math.max(1, rows)) * all)
}

function inTwoDigits(value: number): number {
  return Math.round(Number(value.toPrecision(2)))
}

function manyMore(sample: Sample, all: number): Count {
  return { total: MAX_HITS, isMore: true, about: aboutOf(sample, all) }
}

function toCount(found: number, sample: Sample, all: number): Count {
  if (found <= MAX_HITS) return { total: found, isMore: false }
  return { total: MAX_HITS, isMore: true, about: Math.max(MAX_HITS, aboutOf(sample, all)) }
}

/**
 * Estimates the number of matches by a sample. Rows of a page often match together, so the estimate counts pages with a match instead of
 * rows. It assumes that a matching page outside the sample has as many matches as the sampled ones have. If the sample has none, it assumes
 * that all rows of such a page match.
 */
function estimate({ rows, pages, matches, hits }: Sample, all: number): Count {
  const unfinished = { total: Math.min(matches, MAX_HITS), isMore: true, isUnfinished: true } as const
  if (hits >= ESTIMATED_FROM_PAGES) return { ...unfinished, about: aboutOf({ rows, matches }, all) }
  const matchesOfPage = hits > 0 ? matches / hits : rows / Math.max(1, pages)
  const most = poissonUpperLimit(hits) * matchesOfPage * (all / Math.max(1, rows))
  return { ...unfinished, under: Math.min(all, inTwoDigits(Math.max(most, matches + 1))) }
}

interface Steps {
  ask: Ask
  withTimeLimit: WithTimeLimit
}

/** Runs a query that returns one row. */
type Ask = <Row>(question: RawBuilder<unknown>) => Promise<Row>

/** Returns a function that runs queries in a snapshot. @param signal aborted when no client waits for the answer any more */
function askIn(snapshot: Snapshot, { db }: Database, signal: AbortSignal): Ask {
  return async <Row>(question: RawBuilder<unknown>): Promise<Row> => {
    const query = question.compile(db)
    const [row] = await untilClientLeaves(snapshot.query<Row>(query.sql, [...query.parameters]), signal)
    return row!
  }
}

/** Runs a query for a limited time. Returns undefined if that does not suffice, or is 0. */
type WithTimeLimit = <T>(milliseconds: number, query: () => Promise<T>) => Promise<T | undefined>

function timeLimitOf(snapshot: Snapshot): WithTimeLimit {
  return async (milliseconds, query) => {
    if (milliseconds === 0) return undefined
    await snapshot.query(`savepoint limited; set local statement_timeout = ${milliseconds}`)
    const found = await query().catch((error: unknown) => {
      if (!isTimeout(error)) throw error
      return undefined
    })
    await snapshot.query('rollback to savepoint limited') // puts the longer limit back, too
    return found
  }
}

/** Returns the failure of a count that takes too long or would have to wait too long. */
export function tooSlow(cause?: unknown): Failure {
  return new Failure('UNAVAILABLE', {
    message: 'Counting takes too long right now. Please narrow the filter down, or try again later.',
    retryAfterSeconds: 5,
    cause,
  })
}
