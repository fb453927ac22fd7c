/** Which players get messages, and why others do not. */
import { sql } from 'kysely'
import { playerEntity, sourceSql } from '#src/db/entities.ts'
import { OUTCOMES, SKIPPED } from './outcomes.ts'

/** A FROM item: players, with what REASON_SQL asks for. */
export const PLAYERS_WITH_MESSAGES = sql.raw(`${sourceSql(playerEntity)} left join player_messages using (user_id)`)

/** SQL for why a player gets no message: the number of an outcome, or that of `pending`. */
export const REASON_SQL = sql.raw<number>(`case
  when user_id < 0 then ${SKIPPED.erased}
  when blocked_at is not null then ${SKIPPED.blocked}
  when opted_out_at is not null then ${SKIPPED.optedOut}
  when unreachable_at is not null then ${SKIPPED.unreachable}
  else ${OUTCOMES.pending} end`)
