/**
 * Timestamps in SQL: as ISO texts for the API, and as microseconds since 1970 for cursors, which is PostgreSQL's precision and more than a
 * Date has. The current time comes from the database, because the clocks of servers may differ and jump. Servers measure durations with
 * `performance.now`, which does not jump.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'

/** Returns the current time of the database; in a transaction, the time at which it began. */
export async function databaseNow<Tables>(db: Kysely<Tables>): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(db)
  return rows[0]!.now
}

/**
 * Returns a clock that needs no query: the database's time at this call plus the time since then. A wrong or adjusted clock of this machine
 * does not affect it.
 */
export async function databaseClock<Tables>(db: Kysely<Tables>): Promise<() => Date> {
  const asked = performance.now()
  const moment = (await databaseNow(db)).getTime()
  return () => new Date(moment + performance.now() - asked)
}

/** @param moment an expression of SQL, such as a column */
export function microsecondsSql(moment: string): string {
  return `(extract(epoch from ${moment}) * 1000000)::bigint::text`
}

/** Returns SQL for the timestamp of microseconds since 1970. @param microseconds an SQL expression, such as a parameter */
export function momentSql(microseconds: string): string {
  return `(timestamptz 'epoch' + ${microseconds}::bigint * interval '1 microsecond')`
}

/** Returns SQL for a timestamp in the format of `Date.toISOString`, as in the API. @param moment an SQL expression, such as a column */
export function isoSql(moment: string): string {
  return `to_char(${moment} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** Returns SQL for a timestamp as PostgreSQL's text in UTC, for `isoOfUtc`, in half the time of `isoSql`. @param moment an SQL expression, such as a column */
export function utcSql(moment: string): string {
  return `${moment} at time zone 'UTC'`
}

/** Converts a timestamp to the format of `Date.toISOString`. @param text from `utcSql`: `2026-01-02 03:04:05.678901`, with ` BC` at the end before the year 1 */
export function isoOfUtc(text: string): string {
  if (text[10] !== ' ' || text.endsWith('C')) return isoOfDistant(text)
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, 23).padEnd(3, '0')}Z`
}

/** Converts a timestamp to microseconds since 1970 in less time than `microsecondsSql` takes. @param text from `utcSql` */
export function microsecondsOfUtc(text: string): string {
  const milliseconds = Date.parse(isoOfUtc(text))
  const [, fraction = ''] = /\.(\d+)/.exec(text) ?? []
  return String(BigInt(milliseconds) * 1000n + BigInt(fraction.padEnd(6, '0').slice(3)))
}

function isoOfDistant(text: string): string {
  const [, year = '', day = '', time = '', milliseconds = '', era] =
    /^(\d+)-(\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,3})\d*)?( BC)?$/.exec(text) ?? []
  const sign = era === undefined ? '+' : '-'
  const fullYear = String(era === undefined ? Number(year) : Number(year) - 1).padStart(6, '0')
  return `${sign}${fullYear}-${day}T${time}.${milliseconds.padEnd(3, '0')}Z`
}

/** Returns SQL for milliseconds since 1970: millions of timestamps are read faster as numbers. @param moment an SQL expression, such as a column */
export function millisecondsSql(moment: string): string {
  return `(extract(epoch from ${moment}) * 1000)::float8`
}

/** Returns a timestamp as cursors contain it, for `momentSql`. */
export function microsecondsText(moment: Date): string {
  return String(BigInt(moment.getTime()) * 1000n)
}

/** Returns SQL for a timestamp parameter: a Date, even of a year whose text PostgreSQL cannot read, or the text in a cursor. */
export function momentParameter(moment: Date | string): RawBuilder<Date> {
  const microseconds = typeof moment === 'string' ? moment : microsecondsText(moment)
  return sql<Date>`(timestamptz 'epoch' + ${microseconds}::bigint * interval '1 microsecond')`
}
