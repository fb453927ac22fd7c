/**
 * What a participation is unique for, beside its player and item (design §7): a daily task is done once a day in UTC, all others
 * once. Claims, imports and synthetic rows must agree, else somebody is paid twice for one day.
 */
import type { HistoryKind } from '@arcade/contract/history/fields'

const DAY_LENGTH = '2026-11-21'.length

/** @param at in ISO 8601, in UTC */
export function periodOf(kind: HistoryKind, at: string): string {
  return kind === 'daily' ? at.slice(0, DAY_LENGTH) : ''
}

/** The same in SQL, without CASE, which Citus takes around the time of day in no UPDATE. @param at without a time zone, in UTC */
export function periodSql(kind: string, at: string): string {
  return `left(to_char(${at}, 'YYYY-MM-DD'), (${kind} = 'daily')::int * ${DAY_LENGTH})`
}
