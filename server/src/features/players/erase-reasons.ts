/**
 * Erases the reasons of blocks that an erased player shared with others. Such a reason may tell about the player, but it is also stored with
 * the other players and in their audit entries.
 */
import { sql, type Transaction } from 'kysely'
import type { Act } from '#src/audit/audit.ts'
import { eraseEntries, lockErasable, textsOf } from '#src/audit/erase.ts'
import type { Tables } from '#src/db/tables.ts'
import { updateInListOrder } from '#src/db/transaction-locks.ts'
import { type ErasedPerson, personMatcher } from '#src/erasure/person.ts'

/** A reason for more players at once is about none of them in particular, and stays unless it contains an identifier. */
const MAX_PERSONAL_REASON_PLAYERS = 100

/** What operators read instead of the reason. */
const ERASED_REASON = 'Erased together with another player'

const IS_BLOCKING = sql<boolean>`record_kind = 'player' and action in ('player.block', 'player.unblock')`

export async function eraseSharedReasons(tx: Transaction<Tables>, act: Act, person: ErasedPerson): Promise<void> {
  const matcher = personMatcher(person)
  const own = await lockErasable(tx, sql`record_id = ${person.id} and ${IS_BLOCKING}`)
  for (const { actId, changes } of own) {
    const reasons = textsOf(changes, 'blocked')
    const together = await lockErasable(tx, sql`act_id = ${actId}::uuid and record_id <> ${person.id} and ${IS_BLOCKING}`)
    const isPersonal = together.length < MAX_PERSONAL_REASON_PLAYERS || reasons.some((reason) => matcher.occursIn(reason))
    if (together.length === 0 || reasons.length === 0 || !isPersonal) continue
    await eraseReasons(tx, act, { reasons, players: together.map(({ recordId }) => recordId) })
  }
}

/** Later acts on the same players, such as undoing the block, repeat the reason. */
async function eraseReasons(
  tx: Transaction<Tables>,
  act: Act,
  { reasons, players }: { reasons: string[]; players: string[] },
): Promise<void> {
  const repeats = await lockErasable(
    tx,
    sql`record_id = any(${players}) and ${IS_BLOCKING} and (changes #>> '{blocked,0}' = any(${reasons}) or changes #>> '{blocked,1}' = any(${reasons}))`,
  )
  await eraseEntries(tx, act, repeats)
  await updateInListOrder(tx)
  await sql`
    with named as materialized (select * from unnest(${players}::bigint[]) as named (id) order by id)
    update balances set block_reason = ${ERASED_REASON} from named
     where balances.user_id = named.id and blocked_at is not null and block_reason = any(${reasons})`.execute(tx)
}
