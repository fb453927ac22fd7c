/**
 * Participations in daily tasks that an import brought get their day as their period, so that who did a task on a day before the switch is not
 * paid again for that day. Where the player was paid here for the same day, both stay, the imported one without a period. A server of the
 * version before goes on beside it. No function but immutable ones sees a column, because Citus takes no other in an UPDATE.
 */
import { type Kysely, sql } from 'kysely'
import { violatedConstraint } from '#src/postgres/errors.ts'

export const isResumable = true

const BATCH_ROWS = 5_000

export async function up(db: Kysely<unknown>): Promise<void> {
  let after = '-9223372036854775808'
  for (;;) {
    const { rows } = await sql<{ last: string | null }>`
      select max(user_id)::text as last from (
        select user_id from participations where user_id > ${after}::bigint and kind = 'daily' and period = ''
         order by user_id limit ${BATCH_ROWS}) as batch`.execute(db)
    const last = rows[0]?.last
    if (last == null) return
    if (await giveDays(db, { after, last })) after = last
  }
}

/** @returns false if somebody was paid for one of the days at the same moment, so that it has to be looked at again */
async function giveDays(db: Kysely<unknown>, { after, last }: { after: string; last: string }): Promise<boolean> {
  try {
    await sql`
      update participations set period = ${day}
       where user_id > ${after}::bigint and user_id <= ${last}::bigint and kind = 'daily' and period = '' and not exists (
         select 1 from participations as paid where paid.user_id = participations.user_id and paid.kind = 'daily'
            and paid.item_id = participations.item_id and paid.period = ${day})`.execute(db)
    return true
  } catch (error) {
    if (violatedConstraint(error) === undefined) throw error
    return false
  }
}

const part = (name: string, digits: number): string =>
  `lpad(extract(${name} from participations.at at time zone 'UTC')::int::text, ${digits}, '0')`
const day = sql.raw(`(${part('year', 4)} || '-' || ${part('month', 2)} || '-' || ${part('day', 2)})`)
