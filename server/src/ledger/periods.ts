/**
 * The period of a participation, which is unique for player, item and period (design §7): daily tasks can be done once in a UTC day, all
 * other items once. Claims, imports and synthetic rows must use the same periods, or a player would be paid twice for a day.
 */
import type { HistoryKind } from '@arcade/contract/history/fields'

const DAY_LENGTH = '2026-11-21'.length

/** SQL for the current UTC day, as the period of a daily task or of a cap. */
export const TODAY = `to_char(now() at time zone 'UTC', 'YYYY-MM-DD')`

/** @param at an ISO 8601 timestamp in UTC */
export function periodOf(kind: HistoryKind, at: string): string {
  return kind === 'daily' ? at.slice(0, DAY_LENGTH) : ''
}

/** Returns SQL for the period, without CASE, which Citus does not accept around the current time in an UPDATE. @param at a timestamp without time zone, in UTC */
export function periodSql(kind: string, at: string): string {
  return `left(to_char(${at}, 'YYYY-MM-DD'), (${kind} = 'daily')::int * ${DAY_LENGTH})`
}
