/**
 * Imported participations in daily tasks get their day as their period, so that a player who did a task before the switch is not paid again
 * for that day. If the player was also paid here for that day, both rows stay, and the imported one keeps no period. A server of the
 * previous version keeps working meanwhile. Only immutable functions are applied to columns, because Citus accepts no others in an UPDATE.
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

/** Sets the periods of some players. @returns false if one of them was paid for such a day meanwhile, so that it must be tried again */
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
