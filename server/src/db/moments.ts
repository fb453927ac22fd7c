/**
 * Moments in SQL: as they travel, and as cursors hold them, whole microseconds since 1970 as text, which is all that PostgreSQL keeps and
 * more than a Date does. The database's clock tells what time it is, because the clocks of servers may differ and jump; a server measures
 * how long something takes with `performance.now`, which does not.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'

/** The present moment; in a transaction, that of its begin. */
export async function databaseNow<Tables>(db: Kysely<Tables>): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(db)
  return rows[0]!.now
}

/**
 * For what has to know the time without asking each time: the database's moment at this call, and what has passed since. Neither a clock of
 * this process that is wrong nor one that is set meanwhile changes it.
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

/** The way back. @param microseconds an expression of SQL, such as a parameter */
export function momentSql(microseconds: string): string {
  return `(timestamptz 'epoch' + ${microseconds}::bigint * interval '1 microsecond')`
}

/** A moment as `Date.toISOString` writes it, which is how moments travel. @param moment an expression of SQL, such as a column */
export function isoSql(moment: string): string {
  return `to_char(${moment} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** A moment as PostgreSQL writes it in UTC, for `isoOfUtc`: that takes half the time of `isoSql`. @param moment an expression of SQL, such as a column */
export function utcSql(moment: string): string {
  return `${moment} at time zone 'UTC'`
}

/** `Date.toISOString` of a moment. @param text what `utcSql` gave: `2026-01-02 03:04:05.678901`, with ` BC` behind it before the year 1 */
export function isoOfUtc(text: string): string {
  if (text[10] !== ' ' || text.endsWith('C')) return isoOfDistant(text)
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, 23).padEnd(3, '0')}Z`
}

function isoOfDistant(text: string): string {
  const [, year = '', day = '', time = '', milliseconds = '', era] =
    /^(\d+)-(\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,3})\d*)?( BC)?$/.exec(text) ?? []
  const sign = era === undefined ? '+' : '-'
  const fullYear = String(era === undefined ? Number(year) : Number(year) - 1).padStart(6, '0')
  return `${sign}${fullYear}-${day}T${time}.${milliseconds.padEnd(3, '0')}Z`
}

/** Milliseconds since 1970: a million moments are read faster as numbers. @param moment an expression of SQL, such as a column */
export function millisecondsSql(moment: string): string {
  return `(extract(epoch from ${moment}) * 1000)::float8`
}

/** A moment as cursors hold it, which `momentSql` reads. */
export function momentText(moment: Date): string {
  return String(BigInt(moment.getTime()) * 1000n)
}

/** A moment as a parameter: a Date, also of a year that PostgreSQL cannot read in words, or what a cursor holds. */
export function momentParameter(moment: Date | string): RawBuilder<Date> {
  const microseconds = typeof moment === 'string' ? moment : momentText(moment)
  return sql<Date>`(timestamptz 'epoch' + ${microseconds}::bigint * interval '1 microsecond')`
}
