/** Blocks and unblocks players, one or many. A blocked player can claim nothing and be given nothing (ADR 22). */
import { sql, type Transaction } from 'kysely'
import type { Target } from '@arcade/contract/bulk'
import type { contract } from '@arcade/contract/contract'
import { MAX_BULK_IDS } from '@arcade/contract/entity'
import { isErased, type Player, playerName, type PlayersFilter } from '@arcade/contract/players/fields'
import { errorCatalogue } from '@arcade/contract/errors'
import { isolated } from '@arcade/contract/text'
import { actOf, audit } from '#src/audit/audit.ts'
import { type CallContext, Failure, type Handlers } from '#src/calls.ts'
import { changeBlocks, IS_BLOCKED, IS_OPEN } from '#src/ledger/blocks.ts'
import type { Database } from '#src/db/database.ts'
import { playerEntity, sourceSql } from '#src/db/entities.ts'
import type { Tables } from '#src/db/tables.ts'
import { namesOfUsers } from '#src/identity/accounts.ts'
import { actOnMany, type BulkAct, type Refusal } from '#src/lists/bulk.ts'
import { targetConditions, whereTarget } from '#src/lists/where.ts'
import { servedPlayers } from '#src/players/players-list.ts'
import { readTexts } from '#src/players/told-texts.ts'

interface Blocking extends BulkAct {
  target: Target<PlayersFilter>
  /** The reason of the new block; null to unblock. */
  reason: string | null
}

interface FoundPlayer extends Pick<Player, 'firstName' | 'lastName' | 'username'> {
  id: number
  /** The reason of the present block; null if the player is not blocked. */
  before: string | null
  /** The id of the user who made the present block. */
  beforeBy: string | null
}

export function playerBlocks(database: Database): Pick<Handlers<typeof contract.players>, 'block' | 'unblock'> {
  return {
    block: ({ target, reason, dryRun, expected }, context) => change(database, context, { target, reason, dryRun, expected }),
    unblock: ({ target, dryRun, expected }, context) => change(database, context, { target, reason: null, dryRun, expected }),
  }
}

/** Skips erased players and those that are in the wanted state already. Refusals say why picked players were skipped. */
function change(database: Database, context: CallContext, { target, reason, ...options }: Blocking) {
  const picked = 'ids' in target ? target.ids : []
  if (picked.length > 0 && picked.every((id) => isErased({ userId: Number(id) }))) throw new Failure('PLAYER_ERASED')
  return actOnMany(database, context, options, async (tx) => {
    const found = await findPlayers(tx, context, { target, isBlocked: reason === null })
    const act = actOf(context)
    const changed = await changeBlocks(
      tx,
      found.map(({ id, before, beforeBy }) => ({ userId: id, before, beforeBy, after: reason })),
      act.actorId,
    )
    const rows = found.filter(({ id }) => changed.has(id))
    const entries = rows.map((player) => ({
      record: { kind: 'player', id: String(player.id), name: titleOf(player) } as const,
      changes: { blocked: [player.before, reason] as const },
    }))
    await audit(tx, act, reason === null ? 'player.unblock' : 'player.block', entries)
    const left = picked.filter((id) => !changed.has(Number(id)))
    const refusals = left.length > 0 ? await explainSkipped(tx, context, { ids: left, isBlocking: reason !== null }) : []
    return { rows: rows.map((player) => ({ id: String(player.id), title: titleOf(player) })), refusals }
  })
}

function titleOf({ id, ...player }: FoundPlayer): string {
  return playerName({ userId: id, ...player })
}

const PLAYERS = sql.raw(sourceSql(playerEntity))
const FOUND_PLAYER = sql.raw(`
  user_id as id, first_name as "firstName", last_name as "lastName", username, block_reason as before, blocked_by as "beforeBy"`)

async function findPlayers(
  tx: Transaction<Tables>,
  context: CallContext,
  { target, isBlocked }: { target: Target<PlayersFilter>; isBlocked: boolean },
): Promise<FoundPlayer[]> {
  // Few players are blocked, and an index lists them. To unblock, the planner may prefer that index to the search's.
  const conditions = targetConditions(servedPlayers, target, { context, isEstimated: isBlocked })
  const state = sql.raw(isBlocked ? IS_BLOCKED : IS_OPEN)
  const rowLimit = sql.lit(MAX_BULK_IDS + 1)
  const innerLimit = conditions.length > 1 ? sql`limit ${rowLimit}` : sql`` // a single condition is read by id, up to the outer limit
  const found = conditions.map(
    (condition) => sql`(select ${FOUND_PLAYER} from ${PLAYERS} where ${condition} and user_id > 0 and ${state} ${innerLimit})`,
  )
  const { rows } = await sql<FoundPlayer>`
    select * from (${sql.join(found, sql` union all `)}) as found order by id limit ${rowLimit}`.execute(tx)
  if (rows.length > MAX_BULK_IDS)
    throw new Failure('INVALID_INPUT', {
      message: `At most ${MAX_BULK_IDS} players can be ${isBlocked ? 'unblocked' : 'blocked'} at once. Please narrow the list down.`,
    })
  return rows
}

/** Returns why picked players were skipped, by their present state: somebody else may have been first. */
async function explainSkipped(
  tx: Transaction<Tables>,
  context: CallContext,
  { ids, isBlocking }: { ids: string[]; isBlocking: boolean },
): Promise<Refusal[]> {
  const { rows } = await sql<FoundPlayer>`
    select ${FOUND_PLAYER} from ${PLAYERS} where ${whereTarget(servedPlayers, { ids }, context)} order by user_id`.execute(tx)
  const names = await namesOfUsers(
    tx,
    rows.map(({ beforeBy }) => beforeBy),
  )
  const readText = await readTexts(
    tx,
    context,
    rows.map(({ id }) => id),
  )
  return rows.map((player) => {
    const { id, before: reason, beforeBy } = player
    const before = readText(id, reason)
    const left = { id: String(id), title: titleOf(player) }
    if (isErased({ userId: id })) return { ...left, reason: errorCatalogue.PLAYER_ERASED.message }
    if ((before === null) === isBlocking) return { ...left, reason: 'Somebody else has changed this meanwhile.' }
    return {
      ...left,
      reason: isBlocking ? `Blocked already by ${isolated(names.get(beforeBy) ?? 'somebody')}: ${before}` : 'Not blocked.',
    }
  })
}
