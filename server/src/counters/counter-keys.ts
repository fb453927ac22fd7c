/**
 * Defines the counters and the names under which they are stored. Other modules use keys; `npm run check` refuses names that are written out
 * elsewhere. Names are compared byte by byte and end with the part that varies most, so that all buckets of a time span, or all items, are
 * one range of the index.
 */
import type { UserType } from '@arcade/contract/users/fields'
import type { HistoryKind } from '@arcade/contract/history/fields'

export const timeUnits = ['hour', 'day', 'month'] as const
/** The length of the buckets by which activity is counted, in UTC. */
export type TimeUnit = (typeof timeUnits)[number]

/** Series of the dashboard: players who joined, participations in each kind of item, claims (not by month), and the points that they paid. */
export type ActivitySeries = 'players' | HistoryKind | 'claims' | 'paid'

export interface CountedItem {
  kind: HistoryKind
  itemId: string
}

export type CounterKey =
  | { of: 'players' }
  | { of: 'users'; userType: UserType }
  | ({ of: 'participants' } & CountedItem)
  | { of: 'activity'; bucket: TimeUnit; at: Date; series: ActivitySeries }
  /** The participations in an item, without months: years of them for every item would take more room than the items. */
  | ({ of: 'itemActivity'; bucket: Exclude<TimeUnit, 'month'>; at: Date } & CountedItem)
  /** The points that claims of an item paid, in total and in an hour or a day. */
  | ({ of: 'paid' } & CountedItem)
  | ({ of: 'itemPaid'; bucket: Exclude<TimeUnit, 'month'>; at: Date } & CountedItem)
  /** The players in a bucket of balances who are not blocked: the histogram from which ranks are computed (ranks.ts). */
  | { of: 'balances'; bucket: BalanceBucket }

/** A bucket of balances: 12345 is in `0512`, like all numbers of five digits that begin with 12. Negative balances are in `-`. */
export type BalanceBucket = string

/** The stored name of a counter. Only `counterName` makes one. */
export type CounterName = string & { readonly isCounterName: true }

/** A range of names, without its end. */
export type NameRange = readonly [from: string, to: string]

export function counterName(key: CounterKey): CounterName {
  return writeName(key) as CounterName
}

/** A key whose parts are SQL, such as columns or parameters. */
export type CounterSqlKey =
  | { of: 'players' }
  | { of: 'users'; userType: UserType }
  | { of: 'participants'; kind: string; itemId: string }
  | { of: 'activity'; bucket: TimeUnit; at: string; series: string }
  | { of: 'itemActivity'; bucket: Exclude<TimeUnit, 'month'>; at: string; kind: string; itemId: string }
  | { of: 'paid'; kind: string; itemId: string }
  | { of: 'itemPaid'; bucket: Exclude<TimeUnit, 'month'>; at: string; kind: string; itemId: string }
  | { of: 'balances'; balance: string }

/** Returns SQL for a counter's name. The parts are SQL, too, such as `tasks.id` or `'social'`, except buckets and user types. `at` is a timestamp without time zone, in UTC. */
export function counterNameSql(key: CounterSqlKey): string {
  const literals = { ...('bucket' in key && { letter: bucketFormats[key.bucket].letter }), ...('userType' in key && key) }
  const parts: Record<string, string> = {
    ...key,
    ...('at' in key && { at: bucketTextSql(key.bucket, key.at) }),
    ...('balance' in key && { bucket: balanceBucketSql(key.balance) }),
  }
  const pieces = fill(formats[key.of], literals).split(/\{(\w+)\}/) // literals at even indexes, names of parts at odd ones
  return pieces
    .map((piece, index) => (index % 2 === 1 ? parts[piece] : piece && `'${piece}'`))
    .filter((piece) => piece !== '')
    .join(' || ')
}

/** Describes a counter for operators. */
export function counterText(name: string): string {
  if (name === writeName({ of: 'players' })) return 'players'
  const [, before = '', bucket = '', rest = ''] =
    /^(users|participants|activity@|taken@|paid@?|balances)([hdm]?):(.*)$/s.exec(name) ?? []
  const [first = '', ...others] = rest.split(':')
  const when = { h: `in the hour ${first} (UTC)`, d: `on ${first} (UTC)`, m: `in ${first} (UTC)` }[bucket]
  if (before === 'users') return `users who are ${first}`
  if (before === 'participants') return `participations in ${first}/${others.join(':')}`
  if (before === 'paid') return `points paid for claims of ${first}/${others.join(':')}`
  if (before === 'balances')
    return rest === '-' ? 'unblocked players who owe' : `unblocked players with a balance like ${likeBucket(rest)}`
  if (before === 'activity@' && others[0] === 'players') return `players who joined ${when}`
  if (before === 'activity@' && others[0] === 'claims') return `claims ${when}`
  if (before === 'activity@' && others[0] === 'paid') return `points paid for claims ${when}`
  if (before === 'activity@') return `participations of kind ${others[0]} ${when}`
  if (before === 'taken@') return `participations in ${others[0]}/${others.slice(1).join(':')} ${when}`
  if (before === 'paid@') return `points paid for claims of ${others[0]}/${others.slice(1).join(':')} ${when}`
  return `${name}, which nothing counts,`
}

/** Digits that buckets of balances distinguish: with two, a bucket is at most a tenth as wide as the balances in it. */
const BUCKET_DIGITS = 2
const BALANCES = 'balances:'

/** Returns SQL for the bucket of a balance. The names of buckets sort like the balances. */
export function balanceBucketSql(balance: string): string {
  const whole = `trunc(${balance})::text`
  return `case when ${balance} < 0 then '-' else lpad(length(${whole})::text, 2, '0') || left(${whole}, ${BUCKET_DIGITS}) end`
}

/** Returns the histogram's counters from this bucket to the last one. */
export function balanceNamesFrom(bucket: BalanceBucket): NameRange {
  return [BALANCES + bucket, allBalanceNames[1]]
}

export const allBalanceNames: NameRange = [BALANCES, 'balances;'] // ; is the character after :

/** Returns the bounds of a bucket: from `low` up to, but not including, `low + width`; null for the bucket of negative balances. */
export function balancesIn(bucket: BalanceBucket): { low: number; width: number } | null {
  if (bucket === '-') return null
  const digits = bucket.slice(BUCKET_DIGITS)
  const width = 10 ** (Number(bucket.slice(0, BUCKET_DIGITS)) - digits.length)
  return { low: Number(digits) * width, width }
}

function likeBucket(bucket: BalanceBucket): number {
  return balancesIn(bucket)!.low
}

/** Returns the counters of activity of all series, from the bucket of `from` up to, but not including, the bucket of `to`. */
export function activityNames(bucket: TimeUnit, from: Date, to: Date): NameRange {
  return [prefix('activity', bucket, from), prefix('activity', bucket, to)]
}

/** Returns SQL for the bucket, in the format of `bucketText`, and the series of a counter of `activityNames`. */
export const activityOfNameSql = { at: `split_part(name, ':', 2)`, series: `split_part(name, ':', 3)` }

/** Returns the counters of activity of all items, from the bucket of `from` up to, but not including, the bucket of `to`. */
export function itemActivityNames(bucket: Exclude<TimeUnit, 'month'>, from: Date, to: Date): NameRange {
  return [prefix('itemActivity', bucket, from), prefix('itemActivity', bucket, to)]
}

/** Returns the counters of points paid for all items, from the bucket of `from` up to, but not including, the bucket of `to`. */
export function itemPaidNames(bucket: Exclude<TimeUnit, 'month'>, from: Date, to: Date): NameRange {
  return [prefix('itemPaid', bucket, from), prefix('itemPaid', bucket, to)]
}

/** The counters of all participants of every item. */
export const allParticipantsNames: NameRange = ['participants:', 'participants;']

/** Returns the counters of all participants of every item of a kind. */
export function participantsNames(kind: HistoryKind): NameRange {
  return [`participants:${kind}:`, `participants:${kind};`]
}

/** The counters of all points that claims of every item paid. */
export const allPaidNames: NameRange = ['paid:', 'paid;']

/** Returns SQL for the item's kind and id in a name of `itemActivityNames`, `allParticipantsNames` or the names of paid points. `from` is the beginning of the range, in SQL. */
export function itemOfNameSql(from: string): { kind: string; itemId: string } {
  const item = `substr(name, length(${from}) + 1)`
  return { kind: `split_part(${item}, ':', 1)`, itemId: `substr(${item}, strpos(${item}, ':') + 1)` }
}

/** Returns the counters of all series and items for the hours before that of `before`. */
export function hourNamesBefore(before: Date): NameRange[] {
  return [
    ['activity@h:', prefix('activity', 'hour', before)],
    ['taken@h:', prefix('itemActivity', 'hour', before)],
    ['paid@h:', prefix('itemPaid', 'hour', before)],
  ]
}

/** The length of the ISO text that identifies a bucket, and the bucket's letter in names. */
const bucketFormats: Record<TimeUnit, { letter: string; length: number }> = {
  hour: { letter: 'h', length: '2026-11-21T08'.length },
  day: { letter: 'd', length: '2026-11-21'.length },
  month: { letter: 'm', length: '2026-11'.length },
}

/** Returns the bucket of a timestamp, as the beginning of its ISO text. */
export function bucketText(bucket: TimeUnit, at: Date): string {
  return at.toISOString().slice(0, bucketFormats[bucket].length)
}

/** Returns SQL for `bucketText`. @param at a timestamp without time zone, in UTC */
function bucketTextSql(bucket: TimeUnit, at: string): string {
  const year = `(extract(year from ${at})::int + (${at} < timestamp '0001-01-01')::int)` // 1 BC is the year 0 of ISO 8601
  const yearText = `case when ${year} between 0 and 9999 then lpad(${year}::text, 4, '0')
    else (case when ${year} < 0 then '-' else '+' end) || lpad(abs(${year})::text, 6, '0') end`
  return `left((${yearText}) || to_char(${at}, '-MM-DD"T"HH24'), ${bucketFormats[bucket].length})`
}

/** The name of each counter. Parts in braces are values of its key; `letter` stands for the bucket. */
const formats: Record<CounterKey['of'], string> = {
  players: 'telegramUsers',
  users: 'users:{userType}',
  participants: 'participants:{kind}:{itemId}',
  activity: 'activity@{letter}:{at}:{series}',
  itemActivity: 'taken@{letter}:{at}:{kind}:{itemId}',
  paid: 'paid:{kind}:{itemId}',
  itemPaid: 'paid@{letter}:{at}:{kind}:{itemId}',
  balances: 'balances:{bucket}',
}

function writeName(key: CounterKey): string {
  return fill(formats[key.of], 'at' in key ? { ...key, ...bucketParts(key.bucket, key.at) } : { ...key })
}

/** Returns what the names of a bucket begin with. */
function prefix(of: 'activity' | 'itemActivity' | 'itemPaid', bucket: TimeUnit, at: Date): string {
  const [beginning = ''] = /^.*\{at\}:/.exec(formats[of]) ?? []
  return fill(beginning, bucketParts(bucket, at))
}

function bucketParts(bucket: TimeUnit, at: Date): { letter: string; at: string } {
  return { letter: bucketFormats[bucket].letter, at: bucketText(bucket, at) }
}

/** Puts values in the place of parts. Parts without a value stay. */
function fill(format: string, values: Readonly<Record<string, string>>): string {
  return format.replaceAll(/\{(\w+)\}/g, (part, name: string) => values[name] ?? part)
}
