/** Blocking players, one or many: from then on they can claim and be given nothing (ADR 22). */
import { sql, type Transaction } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { BULK_MAX_IDS } from '@arcade/contract/entities/entity'
import type { PlayersFilter } from '@arcade/contract/entities/player'
import { actOf, audit } from '#src/audit/audit.ts'
import { type CallContext, Failure, type Handlers } from '#src/calls.ts'
import { changeBlocks } from '#src/db/blocks.ts'
import type { Database } from '#src/db/database.ts'
import { playerEntity, sourceSql } from '#src/db/entities.ts'
import type { Tables } from '#src/db/tables.ts'
import { actOnMany, type BulkAct } from '#src/lists/bulk.ts'
import { type Target, whereTarget } from '#src/lists/list.ts'
import { servedPlayers } from './players-list.ts'

interface Blocking extends BulkAct {
  target: Target<PlayersFilter>
  /** Why from now on; null to unblock. */
  reason: string | null
}

interface Found {
  id: number
  title: string
  before: string | null
}

export function playerBlocks(database: Database): Pick<Handlers<typeof contract.players>, 'block' | 'unblock'> {
  return {
    block: ({ target, reason, dryRun, expected }, context) => change(database, context, { target, reason, dryRun, expected }),
    unblock: ({ target, dryRun, expected }, context) => change(database, context, { target, reason: null, dryRun, expected }),
  }
}

/** Those that are so already, and erased ones, are left alone. */
function change(database: Database, context: CallContext, { target, reason, ...how }: Blocking) {
  return actOnMany(database, how, async (tx) => {
    const found = await find(tx, context, { target, isBlocked: reason === null })
    const act = actOf(context)
    const changed = await changeBlocks(
      tx,
      found.map(({ id, before }) => ({ userId: id, before, after: reason })),
      act.actorId,
    )
    const rows = found.filter(({ id }) => changed.has(id))
    const entries = rows.map(({ id, title, before }) => ({
      record: { kind: 'player', id: String(id), name: title } as const,
      changes: { blocked: [before, reason] as const },
    }))
    await audit(tx, act, reason === null ? 'player.unblock' : 'player.block', entries)
    return { rows: rows.map(({ id, title }) => ({ id: String(id), title })) }
  })
}

async function find(
  tx: Transaction<Tables>,
  context: CallContext,
  { target, isBlocked }: { target: Target<PlayersFilter>; isBlocked: boolean },
): Promise<Found[]> {
  const { rows } = await sql<Found>`
    select user_id as id, coalesce(nullif(concat_ws(' ', first_name, last_name), ''), username, user_id::text) as title, block_reason as before
      from ${sql.raw(sourceSql(playerEntity))}
     where ${whereTarget(servedPlayers, target, context)} and user_id > 0 and blocked_at ${sql.raw(isBlocked ? 'is not null' : 'is null')}
     order by user_id limit ${BULK_MAX_IDS + 1}`.execute(tx)
  if (rows.length > BULK_MAX_IDS)
    throw new Failure('INVALID_INPUT', {
      message: `At most ${BULK_MAX_IDS} players can be ${isBlocked ? 'unblocked' : 'blocked'} at once. Please narrow the list down.`,
    })
  return rows
}
