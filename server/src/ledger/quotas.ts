/**
 * The limits of an item (design §7): how many can take part, and how many points it pays in a UTC day. What is left of a limit is divided
 * among several rows, the buckets, and a claim takes from one that no other claim has locked. So claims do not wait for each other, and
 * the sum is exact. This module hides the buckets: how they are made, taken from, and found to be empty.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { actOfProcess, audit } from '#src/audit/audit.ts'
import { readCounters } from '#src/counters/counters.ts'
import type { Database } from '#src/db/database.ts'
import type { NamedStatement, RunStatement } from '#src/db/ledger-transaction.ts'
import { databaseNow } from '#src/db/moments.ts'
import { sharedReads } from '#src/db/shared-reads.ts'
import type { Tables } from '#src/db/tables.ts'
import { takeLock } from '#src/db/transaction-locks.ts'
import { isItem, type ItemKey, itemRecord, itemTable } from '#src/items/item-rows.ts'
import { TODAY } from './periods.ts'

/** Rows of a limit: more than the claims that the servers write at the same time, as a rule. */
const BUCKETS = 16

export interface LimitedItem extends ItemKey {
  /** The points that a claim takes, as text so that no digit is lost. */
  reward: string
  /** Whether the number of participations is limited. */
  hasParticipantLimit: boolean
  /** Whether the points of a day are limited. */
  hasBudget: boolean
}

/** What is limited, as it is stored: `places` are participants, `points` are what a UTC day may pay. */
type Quota = 'places' | 'points'

/** What a claim takes from one limit. */
interface Share extends ItemKey {
  quota: Quota
  amount: string
}

/**
 * The methods of taking a share, from the fastest to the slowest. Each runs in a transaction of its own: a failed one may have locked buckets
 * that it did not need, and two claims could then wait for each other.
 */
const methods = ['free', 'waiting', 'checking', 'gathering'] as const
type Method = (typeof methods)[number]

/** How often a claim waits for a bucket that another claim has locked. A wait is in vain if the other claim empties the bucket. */
const MAX_WAITS = 3

export interface Quotas {
  /**
   * Runs `write` in a transaction that takes a place and the points of the item. If `write` returns no row, nothing is taken.
   * @returns the rows of `write`; 'full' if nothing is left; 'changed' if the item has other limits by now
   */
  take<Row>(item: LimitedItem, write: (run: RunStatement) => Promise<Row[]>): Promise<Row[] | 'full' | 'changed'>
}

export function createQuotas(database: Database): Quotas {
  // Simultaneous claims that find an item full share one check.
  const mark = sharedReads(([share]) => markFull(database, share as Share))
  /** A failure changes nothing for the caller: the next claim that finds the item full marks it. */
  const markQuietly = (share: Share): Promise<void> => mark([share]).catch(() => undefined)

  return {
    async take<Row>(item: LimitedItem, write: (run: RunStatement) => Promise<Row[]>) {
      const attempts = sharesOf(item).map((share): ShareAttempt => ({ share, method: 'free', waits: 0 }))
      for (;;) {
        const outcome = await takeOnce(database, attempts, write)
        if ('rows' in outcome) {
          for (const share of outcome.emptied) await markQuietly(share)
          return outcome.rows
        }
        const { untaken, why } = outcome
        if (why === 'full') {
          await markQuietly(untaken.share)
          return 'full'
        }
        if (why === 'noBuckets' && !(await makeBuckets(database, untaken.share))) return 'changed'
        untaken.method = nextMethod(untaken, why)
      }
    },
  }
}

/** How a share is being taken, and how often its claim has waited for a bucket in vain. */
interface ShareAttempt {
  share: Share
  method: Method
  waits: number
}

/**
 * What one transaction did. Either it wrote `rows` and took the last of the `emptied` shares, or it could not take the share `untaken` and
 * was rolled back.
 */
type Outcome<Row> = { rows: Row[]; emptied: Share[] } | { untaken: ShareAttempt; why: Untaken }

async function takeOnce<Row>(
  database: Database,
  attempts: readonly ShareAttempt[],
  write: (run: RunStatement) => Promise<Row[]>,
): Promise<Outcome<Row>> {
  let outcome: Outcome<Row> = { rows: [], emptied: [] }
  await database.ledgerTransaction(async (run) => {
    const emptied: Share[] = []
    for (const attempt of attempts) {
      const taken = await takeShare(run, attempt.share, attempt.method)
      if (typeof taken === 'string') {
        outcome = { untaken: attempt, why: taken }
        return undefined
      }
      if (taken.isEmptied) emptied.push(attempt.share)
    }
    const rows = await write(run)
    outcome = { rows, emptied: rows.length > 0 ? emptied : [] }
    return rows.length > 0 ? rows : undefined
  })
  return outcome
}

/** Returns the method to try next, and counts a wait that was in vain. */
function nextMethod(attempt: ShareAttempt, why: Exclude<Untaken, 'full'>): Method {
  if (why === 'noBuckets') return 'free'
  if (why === 'lost' && ++attempt.waits < MAX_WAITS) return 'waiting'
  return methods[methods.indexOf(attempt.method) + 1] ?? 'gathering'
}

/** The shares of a claim, in the order in which every claim takes them, so that claims do not deadlock. */
function sharesOf({ kind, id, reward, hasParticipantLimit, hasBudget }: LimitedItem): Share[] {
  return [
    ...(hasParticipantLimit ? [{ kind, id, quota: 'places', amount: '1' } as const] : []),
    ...(hasBudget && Number(reward) > 0 ? [{ kind, id, quota: 'points', amount: reward } as const] : []),
  ]
}

/** Why a transaction took no share: try the next method, the bucket was emptied meanwhile, nothing is left, or there are no buckets yet. */
type Untaken = 'next' | 'lost' | 'full' | 'noBuckets'

async function takeShare(
  run: RunStatement,
  { kind, id, quota, amount }: Share,
  method: Method,
): Promise<{ isEmptied: boolean } | Untaken> {
  const own = [kind, id, quota]
  const take = async (statement: NamedStatement, ...more: unknown[]) =>
    (await run<{ isEmptied: boolean }>(statement, [...own, amount, ...more]))[0]
  if (method === 'free') return (await take(TAKE_UNLOCKED)) ?? 'next'
  if (method === 'waiting') {
    const [bucket] = await run<{ bucket: number }>(FIND, [...own, amount])
    return bucket ? ((await take(TAKE_FROM, bucket.bucket)) ?? 'lost') : 'next'
  }
  if (method === 'checking') {
    // Several claims can check at the same time, and wait only for those that take something.
    if ((await run(LOCK_SHARED, own)).length === 0) return 'noBuckets'
    const [left] = await run<{ isEnough: boolean }>(SUM, [...own, amount])
    return left?.isEnough ? 'next' : 'full'
  }
  if ((await run(LOCK_ALL, own)).length === 0) return 'noBuckets'
  return (await take(GATHER)) ?? 'full'
}

/** The buckets of the limit $3 of the item $1, $2. Those of the points are new on each day. */
const LIMIT_ROWS = `kind = $1::text and item_id = $2::text and quota = $3::text
  and period = left(${TODAY}, ($3::text = 'points')::int * ${'2026-11-21'.length})`

/** Chooses a bucket by chance, so that all of them are used up at about the same time. */
const CHOSEN = `select bucket from item_quotas where ${LIMIT_ROWS} and remaining >= $4::numeric order by random() limit 1`
const takeSql = (bucket: string): string => `
  update item_quotas set remaining = remaining - $4::numeric where ${LIMIT_ROWS} and remaining >= $4::numeric and bucket = ${bucket}
  returning remaining < $4::numeric as "isEmptied"`
const lockSql = (strength: string): string => `select bucket from item_quotas where ${LIMIT_ROWS} order by bucket for ${strength}`

const TAKE_UNLOCKED: NamedStatement = { name: 'quota-take-unlocked', text: takeSql(`(${CHOSEN} for update skip locked)`) }
const FIND: NamedStatement = { name: 'quota-find', text: CHOSEN }
const TAKE_FROM: NamedStatement = { name: 'quota-take-from', text: takeSql('$5::int') }
const LOCK_SHARED: NamedStatement = { name: 'quota-lock-shared', text: lockSql('share') }
const LOCK_ALL: NamedStatement = { name: 'quota-lock', text: lockSql('update') }
const SUM: NamedStatement = {
  name: 'quota-sum',
  text: `select sum(remaining) >= $4::numeric as "isEnough" from item_quotas where ${LIMIT_ROWS}`,
}
/** Takes from the fullest of the locked buckets. If that one has too little, first moves what is left in all buckets into it. */
const GATHER: NamedStatement = {
  name: 'quota-gather',
  text: `
    with whole as (
      select sum(remaining) as total, max(remaining) as most, (array_agg(bucket order by remaining desc))[1] as fullest
        from item_quotas where ${LIMIT_ROWS}),
    gathered as (
      update item_quotas set remaining = case when bucket <> fullest then 0 when most >= $4::numeric then most - $4::numeric
             else total - $4::numeric end
        from whole where ${LIMIT_ROWS} and total >= $4::numeric and (bucket = fullest or most < $4::numeric))
    select total - $4::numeric < $4::numeric as "isEmptied" from whole where total >= $4::numeric`,
}

interface StoredLimits {
  places: number | null
  points: string | null
  reward: string
}

/**
 * Makes the buckets of a limit from what is left of it, unless another claim has made them. The item's row is locked, so that the limit
 * does not change meanwhile.
 * @returns whether the item has this limit
 */
async function makeBuckets({ transaction }: Pick<Database, 'transaction'>, { kind, id, quota }: Share): Promise<boolean> {
  const key = { kind, id }
  return transaction(async (tx) => {
    const { rows } = await sql<StoredLimits>`
      select max_participants as places, daily_budget::text as points, reward::text as reward
        from ${itemTable(kind)} where ${isItem(key)} for no key update`.execute(tx)
    const limits = rows[0]
    const limit = limits?.[quota] ?? null
    if (!limits || limit === null || (quota === 'points' && Number(limits.reward) <= 0)) return false
    const isMade = await sql`select from item_quotas where ${ownBuckets(key, quota)} limit 1`.execute(tx)
    if (isMade.rows.length > 0) return true
    const used = await (quota === 'places' ? countTaken(tx, key, Number(limit)) : sumPaidToday(tx, key))
    await sql`
      with whole as (select greatest(${limit}::numeric - ${used}::numeric, 0) as rest, ${quota === 'places' ? '1' : limits.reward}::numeric as unit),
      units as (select rest, unit, div(rest, unit) as count from whole)
      insert into item_quotas (kind, item_id, quota, period, bucket, remaining)
      select ${kind}, ${id}, ${quota}, ${periodOfQuota(quota)}, bucket,
             (div(count, ${BUCKETS}::numeric) + (bucket < mod(count, ${BUCKETS}::numeric))::int) * unit
               + (bucket = 0)::int * (rest - count * unit)
        from units, generate_series(0, ${BUCKETS - 1}::int) as bucket`.execute(tx)
    return true
  })
}

/** Counts the participations in an item, up to `most`. */
async function countTaken(tx: Kysely<Tables>, { kind, id }: ItemKey, most: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from (
      select user_id from participations where kind = ${kind} and item_id = ${id} limit ${most}) as taken`.execute(tx)
  return rows[0]!.count
}

/** Returns the points that claims of the item paid on this UTC day. Counters are not folded meanwhile, so that each is read once on a cluster too. */
async function sumPaidToday(tx: Transaction<Tables>, { kind, id }: ItemKey): Promise<number> {
  await takeLock(tx, 'fold')
  const at = await databaseNow(tx)
  const [paid = 0] = await readCounters(tx, [{ of: 'itemPaid', bucket: 'day', at, kind, itemId: id }])
  return paid
}

function periodOfQuota(quota: Quota) {
  return quota === 'places' ? sql<string>`''` : sql<string>`${sql.raw(TODAY)}`
}

function ownBuckets({ kind, id }: ItemKey, quota: Quota) {
  return sql<boolean>`kind = ${kind} and item_id = ${id} and quota = ${quota} and period = ${periodOfQuota(quota)}`
}

/**
 * Notes that nothing is left of a limit, and queues the event, once. Locks the item first and then the buckets; a claim that has locked a
 * bucket never locks the item.
 */
async function markFull(database: Database, { kind, id, quota, amount }: Share): Promise<void> {
  const key = { kind, id }
  const own = ownBuckets(key, quota)
  const left = await sql`
    select from item_quotas where ${own} having sum(remaining) >= ${amount}::numeric`.execute(database.db)
  if (left.rows.length > 0) return
  const isMarked = quota === 'places' ? sql`full_at is not null` : sql`budget_spent_on is not distinct from ${TODAY_DATE}`
  const marked = quota === 'places' ? sql`full_at = now()` : sql`budget_spent_on = ${TODAY_DATE}`
  await database.transaction(async (tx) => {
    const { rows } = await sql<{ title: string }>`
      select title from ${itemTable(kind)} where ${isItem(key)} and not (${isMarked}) for no key update`.execute(tx)
    const [item] = rows
    if (!item) return
    const buckets = await sql`select bucket from item_quotas where ${own} order by bucket for update`.execute(tx)
    const isEmpty = await sql`
      select from item_quotas where ${own} having sum(remaining) < ${amount}::numeric`.execute(tx)
    if (buckets.rows.length === 0 || isEmpty.rows.length === 0) return
    await sql`update ${itemTable(kind)} set ${marked} where ${isItem(key)}`.execute(tx)
    await audit(tx, actOfProcess('system', 'Limits of items'), 'item.full', {
      record: itemRecord(key, item.title),
      detail: { quota },
    })
  })
}

const TODAY_DATE = sql<Date>`(now() at time zone 'UTC')::date`

/** Deletes buckets that no claim can use any more: those of earlier days, and of items that are gone. A restored item gets new ones. */
export async function sweepQuotas({ db }: Pick<Database, 'db'>): Promise<void> {
  await sql`delete from item_quotas q
     where (period <> '' and period < to_char(now() at time zone 'UTC' - interval '2 days', 'YYYY-MM-DD'))
        or (kind = 'announcement' and not exists (select from announcements where id = q.item_id))
        or (kind <> 'announcement' and not exists (select from tasks where collection = q.kind and id = q.item_id))`.execute(db)
}
