/**
 * Limits of roles (`RoleSettings`): the most that one adjustment, one person's adjustments of a UTC day and one bulk act may move. An act
 * reads the limits of its person's present role in its own transaction. Bots have no role; what they give is limited by caps.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { formattedAmount } from '@arcade/contract/bot-message'
import type { OwnLimits } from '@arcade/contract/team/calls'
import { type Role, roleLabels } from '@arcade/contract/team/fields'
import { type CallContext, Failure } from '#src/calls.ts'
import type { Tables } from '#src/db/tables.ts'

const ROLE = `coalesce(u.role, 'owner')`
/** The caller's row as `u`, with the settings of the role, if an owner has changed them, as `s`. */
const CALLER_WITH_SETTINGS = `users u left join role_settings s on s.role = ${ROLE}`
const TODAY = `(now() at time zone 'UTC')::date`

export async function readOwnLimits(db: Kysely<Tables>, userId: string): Promise<OwnLimits> {
  const { rows } = await sql<OwnLimits>`
    select max_adjustment as "maxAdjustment", max_adjusted_daily as "maxAdjustedDaily", max_bulk as "maxBulk",
           case when max_adjusted_daily is not null then greatest(0, max_adjusted_daily - coalesce(a.points, 0)) end as "leftToday"
      from ${sql.raw(CALLER_WITH_SETTINGS)} left join adjusted_points a on a.user_id = u.id and a.day >= ${sql.raw(TODAY)}
     where u.id = ${userId}`.execute(db)
  return rows[0] ?? { maxAdjustment: null, maxAdjustedDaily: null, maxBulk: null, leftToday: null }
}

interface CountedAdjustment {
  role: Role
  maxAdjustment: number | null
  maxAdjustedDaily: number | null
  isTooMuch: boolean | null
  isTooMuchToday: boolean | null
  /** What was left today before this adjustment. */
  left: number | null
}

/**
 * Counts the points that a person gives or takes. The row of the person is locked until the transaction ends, so the sum of a day is exact.
 * It is counted without a limit, too, because an owner may set one later in the day.
 * @throws Failure LIMIT_REACHED, also at the field `amount`
 */
export async function countAdjusted(tx: Kysely<Tables>, { caller }: CallContext, amount: number): Promise<void> {
  if (caller.kind !== 'user') return
  const { rows } = await sql<CountedAdjustment>`
    with added as (
      insert into adjusted_points as kept (user_id, day, points) values (${caller.user.id}, ${sql.raw(TODAY)}, abs(${amount}::numeric))
      on conflict (user_id) do update
        set day = greatest(kept.day, excluded.day),
            points = case when kept.day >= excluded.day then kept.points else 0 end + excluded.points
      returning points)
    select ${sql.raw<Role>(ROLE)} as role, max_adjustment as "maxAdjustment", max_adjusted_daily as "maxAdjustedDaily",
           abs(${amount}::numeric) > max_adjustment as "isTooMuch", points > max_adjusted_daily as "isTooMuchToday",
           greatest(0, max_adjusted_daily - points + abs(${amount}::numeric)) as left
      from added, ${sql.raw(CALLER_WITH_SETTINGS)} where u.id = ${caller.user.id}`.execute(tx)
  const [counted] = rows
  if (!counted) throw new Failure('SIGNED_OUT')
  const { role, maxAdjustment, maxAdjustedDaily, left } = counted
  if (counted.isTooMuch) {
    const message = `The role ${roleLabels[role]} may give or take at most ${formattedAmount(maxAdjustment!)} at once.`
    throw beyondAmount(message, maxAdjustedDaily === null ? maxAdjustment! : Math.min(maxAdjustment!, left!))
  }
  if (counted.isTooMuchToday) {
    const most = formattedAmount(maxAdjustedDaily!)
    const message = `The role ${roleLabels[role]} may give and take at most ${most} in a day (UTC), added up. You have ${formattedAmount(left!)} left today.`
    throw beyondAmount(message, left!)
  }
}

function beyondAmount(message: string, left: number): Failure {
  return new Failure('LIMIT_REACHED', { message, fields: { amount: message }, left })
}

/** @throws Failure LIMIT_REACHED if the caller's role may not change this number of records in one act */
export async function refuseBeyondBulk(tx: Transaction<Tables>, { caller }: CallContext, affected: number): Promise<void> {
  if (caller.kind !== 'user') return
  const { rows } = await sql<{ role: Role; maxBulk: number }>`
    select ${sql.raw<Role>(ROLE)} as role, max_bulk as "maxBulk" from ${sql.raw(CALLER_WITH_SETTINGS)}
     where u.id = ${caller.user.id} and ${affected}::bigint > max_bulk`.execute(tx)
  const [limit] = rows
  if (!limit) return
  const [most, wanted] = [formattedAmount(limit.maxBulk), formattedAmount(affected)]
  throw new Failure('LIMIT_REACHED', {
    message: `The role ${roleLabels[limit.role]} may change at most ${most} records at once. This would change ${wanted}.`,
    left: limit.maxBulk,
  })
}
