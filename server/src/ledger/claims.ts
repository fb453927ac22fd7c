/**
 * Claims (design §7): a player has done a task or announcement and is paid its reward. One statement on the one player does all of it, or
 * nothing: the participation, unique for player, item and period, lets the balance, the entry, the counters and the caller's key be written.
 */
import type { Claimed } from '@arcade/contract/ledger/calls'
import type { HistoryKind } from '@arcade/contract/history/fields'
import { type CallContext, Failure } from '#src/calls.ts'
import { IS_OPEN } from './blocks.ts'
import { type CapSql, capSql, type EntryCaps } from './caps.ts'
import type { Database } from '#src/db/database.ts'
import { countEntrySql } from '#src/counters/entry-counts.ts'
import { periodSql } from './periods.ts'
import { gatheredReads } from '#src/db/shared-reads.ts'
import { createEntryOnce, type Earlier, ENTRY, type EntryRow, keepKeySql, writtenBy } from './entry-once.ts'
import { boundsSql, type Limits, limitsSql, refuseBeyondLimits } from './limits.ts'

export interface ClaimInput {
  userId: number
  kind: HistoryKind
  id: string
  userInput?: string | undefined
}

interface Item {
  reward: string
  isActive: boolean
  needsInput: boolean
  isVerifiedByBot: boolean
}

interface NoItem {
  reward: null
}

/** A repeat, as far as the database knows: a row wherever the player is known. */
interface KnownRow extends Earlier, Limits {
  /** Whether there is the participation. */
  isDone: boolean
}

export function createClaims(database: Database, caps: EntryCaps): (input: ClaimInput, context: CallContext) => Promise<Claimed> {
  const once = createEntryOnce(database)
  const readItems = database.statement<Item | NoItem>('claimed-items', ITEMS)
  const readItem = gatheredReads((asked: Pick<ClaimInput, 'kind' | 'id'>[]) =>
    readItems([asked.map(({ kind }) => kind), asked.map(({ id }) => id)]),
  )
  const cap = caps.get('claim')
  const insertClaim =
    cap === undefined
      ? database.statement<EntryRow>('claim', claimSql())
      : database.statement<EntryRow>('claim-capped', claimSql(CAPPED))
  const findClaim = database.statement<KnownRow>('claim-known', FIND_CLAIM)

  return async (input, context) => {
    const { userId, kind, id, userInput } = input
    const found = await readItem({ kind, id })
    const item = found.reward === null ? undefined : found
    const refusal = refusalOf(item, input, context)
    const { isFirst, balance, entry } = await once(userId, context, {
      async write(key) {
        if (!item || refusal) return []
        return insertClaim([
          userId,
          kind,
          id,
          item.needsInput ? userInput : null,
          item.reward,
          ...writtenBy(context),
          ...key,
          ...(cap === undefined ? [] : [cap]),
        ])
      },
      unlessKnown: 'participations_pkey',
      async findEarlier() {
        const [claim] = await findClaim([userId, kind, id, item?.reward ?? null, cap ?? null])
        if (!claim) throw new Failure('NO_SUCH_PLAYER')
        if (claim.isDone) return claim
        if (refusal) throw refusal
        refuseBeyondLimits(claim, { cause: 'claim', amount: Number(item?.reward ?? 0), most: cap })
        return undefined
      },
    })
    return { success: true, isFirst, reward: entry?.amount ?? 0, balance, entry }
  }
}

/** Why nothing can be claimed of the item now, whoever asks; what was claimed before is answered all the same. */
function refusalOf(item: Item | undefined, { kind, userInput = '' }: ClaimInput, { caller }: CallContext): Failure | undefined {
  if (!item) return new Failure(kind === 'announcement' ? 'ANNOUNCEMENT_NOT_FOUND' : 'NO_SUCH_TASK')
  if (item.isVerifiedByBot && caller.kind === 'player') return new Failure('BOT_VERIFIES')
  if (!item.isActive) return new Failure('ANNOUNCEMENT_INACTIVE')
  if (item.needsInput && userInput === '') return new Failure('INPUT_MISSING')
  return undefined
}

const NOW = `(now() at time zone 'UTC')`
const PERIOD = periodSql('$2::text', NOW)

/** Of the items by their kinds ($1) and ids ($2), in their order: nulls for one that is not there. */
const ITEMS = `
  select item.* from unnest($1::text[], $2::text[]) with ordinality as asked (kind, id, place) left join lateral (
      select reward::text as reward, true as "isActive", false as "needsInput", verified_by_bot as "isVerifiedByBot"
        from tasks where collection = asked.kind and tasks.id = asked.id
      union all
      select reward::text, status, coalesce(link_type = 'input', false), verified_by_bot
        from announcements where asked.kind = 'announcement' and announcements.id = asked.id) item on true
   order by place`

const CAPPED = capSql({ cause: `'claim'`, amount: '$5::numeric', cap: '$11::numeric' })

/**
 * $1 the player, $2 and $3 the item, $4 the input, $5 the reward, $6 to $8 who says so, $9 and $10 the key or nulls, $11 the cap if there is
 * one. Who comes second waits for the first at the balance, looks at what it is then, and fails at the participation if it was the same. A
 * player who was blocked or erased meanwhile has no balance to be raised.
 */
const claimSql = ({ isWithin, add }: Partial<CapSql> = {}): string => `
  with paid as (
    update balances set balance = balance + $5::numeric, entries = entries + 1 ${add ? `, ${add}` : ''}
     where user_id = $1::bigint and ${IS_OPEN} and not ${boundsSql('$5::numeric').isTooHigh} ${isWithin ? `and ${isWithin}` : ''} and not exists (
       select 1 from participations where user_id = $1::bigint and kind = $2::text and item_id = $3::text and period = ${PERIOD})
    returning user_id, balance, entries),
  taken as (
    insert into participations (user_id, kind, item_id, period, username, first_name, last_name, user_input, at)
    select user_id, $2::text, $3::text, ${PERIOD}, username, first_name, last_name, $4::text, now()
      from telegram_users join paid using (user_id) where user_id = $1::bigint),
  counted as (
    ${countEntrySql({ amount: '$5::numeric', item: { kind: '$2::text', itemId: '$3::text' } })}),
  kept as (
    ${keepKeySql('$9', '$10')})
  insert into ledger_entries (user_id, seq, amount, cause, kind, item_id, period, by_kind, by_id, by_name, balance)
  select paid.user_id, paid.entries, $5::numeric, 'claim', $2::text, $3::text, ${PERIOD}, $6::text, $7::text, $8::text, paid.balance from paid
  returning ${ENTRY}`

const FIND_CLAIM = `
  select b.*, p.user_id is not null as "isDone", e.seq
    from (select user_id, balance, ${limitsSql({ cause: `'claim'`, amount: '$4::numeric', cap: '$5::numeric' })}
            from balances where user_id = $1::bigint) b
    left join participations p on p.user_id = b.user_id and p.kind = $2::text and p.item_id = $3::text and p.period = ${PERIOD}
    left join ledger_entries e on e.user_id = p.user_id and e.cause = 'claim' and e.kind = p.kind and e.item_id = p.item_id and e.period = p.period
   limit 1`
