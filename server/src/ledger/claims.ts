/**
 * Claims (design §7) pay a player the reward of a task or announcement. One statement writes the participation, the balance, the
 * ledger entry, the counters and the caller's key, or nothing. The participation is unique for player, item and period. If the item has
 * limits, a transaction also takes from what is left of them (quotas.ts).
 */
import type { ErrorCode } from '@arcade/contract/errors'
import type { ItemState } from '@arcade/contract/items/fields'
import type { ClaimResult } from '@arcade/contract/ledger/calls'
import type { HistoryKind } from '@arcade/contract/history/fields'
import { type CallContext, Failure } from '#src/calls.ts'
import { IS_OPEN } from './blocks.ts'
import { type CapSql, capSql, type EntryCaps } from './caps.ts'
import type { Database } from '#src/db/database.ts'
import type { NamedStatement } from '#src/db/ledger-transaction.ts'
import { countEntrySql } from '#src/counters/entry-counts.ts'
import { announcementStateSql, taskStateSql } from '#src/items/state.ts'
import { placeholders } from './parameters.ts'
import { periodSql } from './periods.ts'
import { batchedReads } from '#src/db/shared-reads.ts'
import { createEntryOnce, type EarlierResult, ENTRY, type EntryRow, keepKeySql, writtenBy } from './entry-once.ts'
import { boundsSql, type Limits, limitsSql, refuseBeyondLimits } from './limits.ts'
import { createMembership } from '#src/players/segments.ts'
import { createQuotas } from './quotas.ts'

export interface ClaimInput {
  userId: number
  kind: HistoryKind
  id: string
  userInput?: string | undefined
}

interface Item {
  reward: string
  state: ItemState
  hasParticipantLimit: boolean
  hasBudget: boolean
  needsInput: boolean
  isVerifiedByBot: boolean
  /** The segment of players for whom the item is; null if it is for everyone. */
  segmentId: string | null
}

interface NoItem {
  reward: null
}

/** The state of a claim in the database; one row if the player exists. */
interface KnownRow extends EarlierResult, Limits {
  /** Whether the participation exists. */
  isDone: boolean
}

export function createClaims(
  database: Database,
  caps: EntryCaps,
): (input: ClaimInput, context: CallContext) => Promise<ClaimResult> {
  const writeOnce = createEntryOnce(database)
  const findItem = createItemFinder(database)
  const cap = caps.get('claim')
  const claim = cap === undefined ? CLAIM : CAPPED_CLAIM
  const insertClaim = database.statement<EntryRow>(claim.name, claim.text)
  const findClaim = database.statement<KnownRow>('claim-known', FIND_CLAIM)
  const quotas = createQuotas(database)

  return async (input, context) => {
    const { userId, kind, id, userInput } = input
    let { item, refusal } = await findItem(input, context)

    const { isFirst, balance, entry } = await writeOnce(userId, context, {
      async write(key) {
        for (;;) {
          if (!item || refusal) return []
          const { reward, hasParticipantLimit, hasBudget, needsInput } = item
          const values = [
            userId,
            kind,
            id,
            needsInput ? userInput : null,
            reward,
            ...writtenBy(context),
            ...key,
            ...(cap === undefined ? [] : [cap]),
          ]
          if (!hasParticipantLimit && !hasBudget) return insertClaim(values)
          const taken = await quotas.take({ kind, id, reward, hasParticipantLimit, hasBudget }, (run) =>
            run<EntryRow>(claim, values),
          )
          if (taken === 'changed') ({ item, refusal } = await findItem(input, context))
          else if (taken === 'full') refusal = new Failure('FULL')
          else return taken
        }
      },
      duplicateConstraint: 'participations_pkey',
      async findEarlier() {
        const [known] = await findClaim([userId, kind, id, item?.reward ?? null, cap ?? null])
        if (!known) throw new Failure('NO_SUCH_PLAYER')
        if (known.isDone) return known
        if (refusal) throw refusal
        refuseBeyondLimits(known, { cause: 'claim', amount: Number(item?.reward ?? 0), most: cap })
        return undefined
      },
    })
    return { success: true, isFirst, reward: entry?.amount ?? 0, balance, entry }
  }
}

/** The item that a player wants to claim, if it exists, and why it cannot be claimed, if it cannot. */
interface FoundItem {
  item: Item | undefined
  refusal: Failure | undefined
}

/** Makes the function that finds claimed items. Simultaneous calls share one statement. */
function createItemFinder(database: Database): (input: ClaimInput, context: CallContext) => Promise<FoundItem> {
  const readItems = database.statement<Item | NoItem>('claimed-items', ITEMS)
  const readItem = batchedReads((asked: Pick<ClaimInput, 'kind' | 'id'>[]) =>
    readItems([asked.map(({ kind }) => kind), asked.map(({ id }) => id)]),
  )
  const isMember = createMembership(database)

  return async (input, context) => {
    const found = await readItem({ kind: input.kind, id: input.id })
    const item = found.reward === null ? undefined : found
    const refusal = item && (await isForOthers(item, input.userId)) ? notFound(input.kind) : refusalOf(item, input, context)
    return { item, refusal }
  }

  async function isForOthers({ segmentId }: Item, userId: number): Promise<boolean> {
    return segmentId !== null && !(await isMember(userId, [segmentId])).has(segmentId)
  }
}

/** A player who does not belong to the segment of an item gets the answer of an item that does not exist. */
function notFound(kind: HistoryKind): Failure {
  return new Failure(kind === 'announcement' ? 'ANNOUNCEMENT_NOT_FOUND' : 'NO_SUCH_TASK')
}

/** Why an item in this state cannot be claimed. */
const refusals: Record<Exclude<ItemState, 'live'>, ErrorCode> = {
  draft: 'ANNOUNCEMENT_INACTIVE',
  scheduled: 'NOT_STARTED',
  paused: 'PAUSED',
  ended: 'ENDED',
  full: 'FULL',
}

/** Returns why no player can claim the item now. A repeated claim still gets its earlier answer. */
function refusalOf(item: Item | undefined, { kind, userInput = '' }: ClaimInput, { caller }: CallContext): Failure | undefined {
  if (!item) return notFound(kind)
  if (item.isVerifiedByBot && caller.kind === 'player') return new Failure('BOT_VERIFIES')
  if (item.state !== 'live') return new Failure(refusals[item.state])
  if (item.needsInput && userInput === '') return new Failure('INPUT_MISSING')
  return undefined
}

const NOW = `(now() at time zone 'UTC')`
/** The kind is the second parameter of both statements that use it. */
const PERIOD = periodSql('$2::text', NOW)

/** The items with the kinds $1 and ids $2, in that order; nulls for an item that does not exist. */
const ITEMS = `
  select item.* from unnest($1::text[], $2::text[]) with ordinality as asked (kind, id, ordinal) left join lateral (
      select reward::text as reward, ${taskStateSql()} as state, max_participants is not null as "hasParticipantLimit",
             daily_budget is not null as "hasBudget", false as "needsInput", verified_by_bot as "isVerifiedByBot",
             segment_id as "segmentId"
        from tasks where collection = asked.kind and tasks.id = asked.id
      union all
      select reward::text, ${announcementStateSql()}, max_participants is not null, daily_budget is not null,
             coalesce(link_type = 'input', false), verified_by_bot, segment_id
        from announcements where asked.kind = 'announcement' and announcements.id = asked.id) item on true
   order by ordinal`

/** The parameters of `claimSql` in their order. */
const params = placeholders(
  'userId',
  'kind',
  'itemId',
  'userInput',
  'reward',
  'byKind',
  'byId',
  'byName',
  'keyHash',
  'keyFingerprint',
  'cap',
)
const CAPPED = capSql({ cause: `'claim'`, amount: `${params.reward}::numeric`, cap: `${params.cap}::numeric` })

/**
 * The last parameter, the cap, is passed only if claims have one. A second claim waits for the first at the balance, sees the
 * balance that the first left, and fails at the participation if it is the same claim. A player who was blocked or erased in
 * between has no balance to raise.
 */
const claimSql = ({ isWithin, add }: Partial<CapSql> = {}): string => `
  with paid as (
    update balances set balance = balance + ${params.reward}::numeric, entries = entries + 1 ${add ? `, ${add}` : ''}
     where user_id = ${params.userId}::bigint and ${IS_OPEN} and not ${boundsSql(`${params.reward}::numeric`).isTooHigh} ${isWithin ? `and ${isWithin}` : ''} and not exists (
       select 1 from participations where user_id = ${params.userId}::bigint and kind = ${params.kind}::text and item_id = ${params.itemId}::text and period = ${PERIOD})
    returning user_id, balance, entries),
  taken as (
    insert into participations (user_id, kind, item_id, period, username, first_name, last_name, user_input, at)
    select user_id, ${params.kind}::text, ${params.itemId}::text, ${PERIOD}, username, first_name, last_name, ${params.userInput}::text, now()
      from telegram_users join paid using (user_id) where user_id = ${params.userId}::bigint),
  counted as (
    ${countEntrySql({ amount: `${params.reward}::numeric`, item: { kind: `${params.kind}::text`, itemId: `${params.itemId}::text` } })}),
  kept as (
    ${keepKeySql(params.keyHash, params.keyFingerprint)})
  insert into ledger_entries (user_id, seq, amount, cause, kind, item_id, period, by_kind, by_id, by_name, balance)
  select paid.user_id, paid.entries, ${params.reward}::numeric, 'claim', ${params.kind}::text, ${params.itemId}::text, ${PERIOD},
         ${params.byKind}::text, ${params.byId}::text, ${params.byName}::text, paid.balance from paid
  returning ${ENTRY}`

const CLAIM: NamedStatement = { name: 'claim', text: claimSql() }
const CAPPED_CLAIM: NamedStatement = { name: 'claim-capped', text: claimSql(CAPPED) }

const FIND_CLAIM = `
  select b.*, p.user_id is not null as "isDone", e.seq
    from (select user_id, balance, ${limitsSql({ cause: `'claim'`, amount: '$4::numeric', cap: '$5::numeric' })}
            from balances where user_id = $1::bigint) b
    left join participations p on p.user_id = b.user_id and p.kind = $2::text and p.item_id = $3::text and p.period = ${PERIOD}
    left join ledger_entries e on e.user_id = p.user_id and e.cause = 'claim' and e.kind = p.kind and e.item_id = p.item_id and e.period = p.period
   limit 1`
