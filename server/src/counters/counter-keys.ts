/**
 * The counters that exist, and the only place that knows under which name each is stored. Everyone else speaks of keys; `npm run check`
 * refuses a name that is written out elsewhere. Names are compared byte by byte and end with what varies most, so that all buckets of
 * a time span, or all items, are one range of the index.
 */
import type { UserType } from '@arcade/contract/users/fields'
import type { HistoryKind } from '@arcade/contract/history/fields'

export const buckets = ['hour', 'day', 'month'] as const
/** Activity is counted by the hour, day and month in UTC. */
export type Bucket = (typeof buckets)[number]

/** What the charts of the dashboard draw: players who joined, participations in each kind of item, and what claims were paid. */
export type ActivitySeries = 'players' | HistoryKind | 'paid'

export interface Item {
  kind: HistoryKind
  itemId: string
}

export type CounterKey =
  | { of: 'players' }
  | { of: 'users'; userType: UserType }
  | ({ of: 'participants' } & Item)
  | { of: 'activity'; bucket: Bucket; at: Date; series: ActivitySeries }
  /** Months are left out: years of them for every item would outgrow the items. */
  | ({ of: 'itemActivity'; bucket: Exclude<Bucket, 'month'>; at: Date } & Item)
  /** What claims of an item were paid, over all time and in an hour or a day. */
  | ({ of: 'paid' } & Item)
  | ({ of: 'itemPaid'; bucket: Exclude<Bucket, 'month'>; at: Date } & Item)
  /** Players whose balances begin alike: the histogram from which ranks are told (ranks.ts). */
  | { of: 'balances'; bucket: BalanceBucket }

/** What `balanceBucketSql` gives: 12345 is in `0512`, with all of five digits that begin with 12; what is below 0 is in `-`. */
export type BalanceBucket = string

/** The name under which a counter is stored. Only `counterName` makes one. */
export type CounterName = string & { readonly isCounterName: true }

/** The names from the first up to, but not including, the second. */
export type NameRange = readonly [from: string, to: string]

export function counterName(key: CounterKey): CounterName {
  return writeName(key) as CounterName
}

/** A key whose parts may be columns or parameters of a statement, written in SQL. */
export type CounterSqlKey =
  | { of: 'players' }
  | { of: 'users'; userType: UserType }
  | { of: 'participants'; kind: string; itemId: string }
  | { of: 'activity'; bucket: Bucket; at: string; series: string }
  | { of: 'itemActivity'; bucket: Exclude<Bucket, 'month'>; at: string; kind: string; itemId: string }
  | { of: 'paid'; kind: string; itemId: string }
  | { of: 'itemPaid'; bucket: Exclude<Bucket, 'month'>; at: string; kind: string; itemId: string }
  | { of: 'balances'; balance: string }

/** The name as an expression of SQL. All but a bucket and a user's type is SQL too, such as `tasks.id` or `'social'`; `at` is without a time zone, in UTC. */
export function counterNameSql(key: CounterSqlKey): string {
  switch (key.of) {
    case 'participants':
      return `'participants:' || ${key.kind} || ':' || ${key.itemId}`
    case 'activity':
      return `'activity@${bucketFormats[key.bucket].letter}:' || ${bucketTextSql(key.bucket, key.at)} || ':' || ${key.series}`
    case 'itemActivity':
      return `'taken@${bucketFormats[key.bucket].letter}:' || ${bucketTextSql(key.bucket, key.at)} || ':' || ${key.kind} || ':' || ${key.itemId}`
    case 'paid':
      return `'paid:' || ${key.kind} || ':' || ${key.itemId}`
    case 'itemPaid':
      return `'paid@${bucketFormats[key.bucket].letter}:' || ${bucketTextSql(key.bucket, key.at)} || ':' || ${key.kind} || ':' || ${key.itemId}`
    case 'balances':
      return `'${BALANCES}' || ${balanceBucketSql(key.balance)}`
    default:
      return `'${writeName(key)}'`
  }
}

/** What a counter counts, for a person. */
export function counterText(name: string): string {
  if (name === writeName({ of: 'players' })) return 'players'
  const [, before = '', bucket = '', rest = ''] =
    /^(users|participants|activity@|taken@|paid@?|balances)([hdm]?):(.*)$/s.exec(name) ?? []
  const [first = '', ...others] = rest.split(':')
  const when = { h: `in the hour ${first} (UTC)`, d: `on ${first} (UTC)`, m: `in ${first} (UTC)` }[bucket]
  if (before === 'users') return `users who are ${first}`
  if (before === 'participants') return `participations in ${first}/${others.join(':')}`
  if (before === 'paid') return `what claims of ${first}/${others.join(':')} were paid`
  if (before === 'balances') return rest === '-' ? 'players who owe' : `players with a balance like ${likeBucket(rest)}`
  if (before === 'activity@' && others[0] === 'players') return `players who joined ${when}`
  if (before === 'activity@' && others[0] === 'paid') return `what claims were paid ${when}`
  if (before === 'activity@') return `participations of kind ${others[0]} ${when}`
  if (before === 'taken@') return `participations in ${others[0]}/${others.slice(1).join(':')} ${when}`
  if (before === 'paid@') return `what claims of ${others[0]}/${others.slice(1).join(':')} were paid ${when}`
  return `${name}, which nothing counts,`
}

/** Balances are in as many buckets as two digits tell apart, so that a bucket is at most a tenth as wide as what is in it. */
const BUCKET_DIGITS = 2
const BALANCES = 'balances:'

/** The bucket of a balance as an expression of SQL. Their names are in the order of the balances. */
export function balanceBucketSql(balance: string): string {
  const whole = `trunc(${balance})::text`
  return `case when ${balance} < 0 then '-' else lpad(length(${whole})::text, 2, '0') || left(${whole}, ${BUCKET_DIGITS}) end`
}

/** The histogram's counters from this bucket up to the last one. */
export function balanceNamesFrom(bucket: BalanceBucket): NameRange {
  return [BALANCES + bucket, allBalanceNames[1]]
}

export const allBalanceNames: NameRange = [BALANCES, 'balances;'] // ; is the character after :

/** What is in a bucket: from `low` up to, but not including, `low + width`; null below 0, where there is no end. */
export function balancesIn(bucket: BalanceBucket): { low: number; width: number } | null {
  if (bucket === '-') return null
  const digits = bucket.slice(BUCKET_DIGITS)
  const width = 10 ** (Number(bucket.slice(0, BUCKET_DIGITS)) - digits.length)
  return { low: Number(digits) * width, width }
}

function likeBucket(bucket: BalanceBucket): number {
  return balancesIn(bucket)!.low
}

/** The counters of activity of every series, from the bucket that `from` is in up to the one that `to` is in, which is left out. */
export function activityNames(bucket: Bucket, from: Date, to: Date): NameRange {
  return [activityPrefix(bucket, from), activityPrefix(bucket, to)]
}

/** When and what a counter of `activityNames` counts: `at` is what `bucketText` gives for the bucket. */
export const activityOfNameSql = { at: `split_part(name, ':', 2)`, series: `split_part(name, ':', 3)` }

/** The counters of activity of every item, from the bucket that `from` is in up to the one that `to` is in, which is left out. */
export function itemActivityNames(bucket: Exclude<Bucket, 'month'>, from: Date, to: Date): NameRange {
  return [itemActivityPrefix(bucket, from), itemActivityPrefix(bucket, to)]
}

/** What claims of every item were paid, from the bucket that `from` is in up to the one that `to` is in, which is left out. */
export function itemPaidNames(bucket: Exclude<Bucket, 'month'>, from: Date, to: Date): NameRange {
  return [itemPaidPrefix(bucket, from), itemPaidPrefix(bucket, to)]
}

/** The participants of every item, counted over all time. */
export const allParticipantsNames: NameRange = ['participants:', 'participants;']

/** The participants of every item of a kind, counted over all time. */
export function participantsNames(kind: HistoryKind): NameRange {
  return [`participants:${kind}:`, `participants:${kind};`]
}

/** What claims of every item were paid over all time. */
export const allPaidNames: NameRange = ['paid:', 'paid;']

/** The kind and id in a name of `itemActivityNames`, `allParticipantsNames` or those of what was paid, `from` being the beginning of that range in SQL. */
export function itemOfNameSql(from: string): { kind: string; itemId: string } {
  const item = `substr(name, length(${from}) + 1)`
  return { kind: `split_part(${item}, ':', 1)`, itemId: `substr(${item}, strpos(${item}, ':') + 1)` }
}

/** The hours before the one that `before` is in, of all series and items. */
export function hourNamesBefore(before: Date): NameRange[] {
  return [
    ['activity@h:', activityPrefix('hour', before)],
    ['taken@h:', itemActivityPrefix('hour', before)],
    ['paid@h:', itemPaidPrefix('hour', before)],
  ]
}

/** How far an ISO text tells a bucket from the next one, and how the bucket is called in names. */
const bucketFormats: Record<Bucket, { letter: string; length: number }> = {
  hour: { letter: 'h', length: '2026-11-21T08'.length },
  day: { letter: 'd', length: '2026-11-21'.length },
  month: { letter: 'm', length: '2026-11'.length },
}

/** The bucket that a moment is in, as the beginning of its ISO text. */
export function bucketText(bucket: Bucket, at: Date): string {
  return at.toISOString().slice(0, bucketFormats[bucket].length)
}

/** `bucketText` as an expression of SQL. @param at without a time zone, in UTC */
function bucketTextSql(bucket: Bucket, at: string): string {
  const year = `(extract(year from ${at})::int + (${at} < timestamp '0001-01-01')::int)` // 1 BC is the year 0 of ISO 8601
  const yearText = `case when ${year} between 0 and 9999 then lpad(${year}::text, 4, '0')
    else (case when ${year} < 0 then '-' else '+' end) || lpad(abs(${year})::text, 6, '0') end`
  return `left((${yearText}) || to_char(${at}, '-MM-DD"T"HH24'), ${bucketFormats[bucket].length})`
}

function writeName(key: CounterKey): string {
  switch (key.of) {
    case 'players':
      return 'telegramUsers'
    case 'users':
      return `users:${key.userType}`
    case 'participants':
      return `participants:${key.kind}:${key.itemId}`
    case 'activity':
      return activityPrefix(key.bucket, key.at) + key.series
    case 'itemActivity':
      return `${itemActivityPrefix(key.bucket, key.at)}${key.kind}:${key.itemId}`
    case 'paid':
      return `paid:${key.kind}:${key.itemId}`
    case 'itemPaid':
      return `${itemPaidPrefix(key.bucket, key.at)}${key.kind}:${key.itemId}`
    default:
      return BALANCES + key.bucket
  }
}

function activityPrefix(bucket: Bucket, at: Date): string {
  return `activity@${bucketFormats[bucket].letter}:${bucketText(bucket, at)}:`
}

function itemActivityPrefix(bucket: Bucket, at: Date): string {
  return `taken@${bucketFormats[bucket].letter}:${bucketText(bucket, at)}:`
}

function itemPaidPrefix(bucket: Bucket, at: Date): string {
  return `paid@${bucketFormats[bucket].letter}:${bucketText(bucket, at)}:`
}
